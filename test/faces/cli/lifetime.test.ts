import { EventEmitter } from "node:events";
import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { Lifetime } from "../../../src/faces/cli/lifetime.ts";
import { ManualClock, settle } from "../../support/manual-clock.ts";
import { Sink } from "./harness.ts";

function begin() {
  const events = new EventEmitter();
  const clock = new ManualClock();
  const stdin = new PassThrough();
  const [stdout, stderr] = [new Sink(), new Sink()];
  const exits: number[] = [];
  const faults: unknown[] = [];
  let slow = 0;
  const lifetime = new Lifetime(
    {
      stdin,
      stdout,
      stderr,
      env: {},
      cwd: "",
      homedir: "",
      clock,
      events,
      exit: (code) => exits.push(code),
    },
    {
      onFault: (error) => {
        faults.push(error);
        return 70;
      },
      onSlowStop: () => (slow += 1),
    },
  );
  return { lifetime, events, clock, stdin, stdout, stderr, exits, faults, slow: () => slow };
}

describe("a lifetime", () => {
  it("continues while nothing ends it", () => {
    const { lifetime } = begin();
    expect(lifetime.signal.aborted).toBe(false);
    expect(lifetime.exitCode).toBeUndefined();
  });

  it.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ])("ends by %s with exit code %i", (signal, code) => {
    const { lifetime, events, exits } = begin();
    events.emit(signal);
    expect(lifetime.signal.aborted).toBe(true);
    expect(lifetime.exitCode).toBe(code);
    expect(exits).toEqual([]);
  });

  it("does not wait after a second Ctrl-C", () => {
    const { events, exits } = begin();
    events.emit("SIGINT");
    events.emit("SIGTERM");
    expect(exits).toEqual([]);
    events.emit("SIGINT");
    expect(exits).toEqual([130]);
  });

  it("says after a while that it is still stopping", async () => {
    const { events, clock, slow } = begin();
    events.emit("SIGINT");
    await clock.advance(999);
    expect(slow()).toBe(0);
    await clock.advance(1);
    expect(slow()).toBe(1);
  });

  it.each(["uncaughtException", "unhandledRejection"])(
    "ends by %s with the exit code of its report",
    (event) => {
      const { lifetime, events, faults } = begin();
      const error = new Error("a bug");
      events.emit(event, error);
      expect(faults).toEqual([error]);
      expect(lifetime.signal.aborted).toBe(true);
      expect(lifetime.exitCode).toBe(70);
    },
  );

  it("ends the process if stopping cleanly fails after an internal error", async () => {
    const { events, clock, exits } = begin();
    events.emit("uncaughtException", new Error("a bug"));
    await clock.advance(15_000);
    expect(exits).toEqual([70]);
  });

  it("ends with 0 when the reader of its output is gone", () => {
    const { lifetime, stdout } = begin();
    stdout.emit("error", Object.assign(new Error("write EPIPE"), { code: "EPIPE" }));
    expect(lifetime.signal.aborted).toBe(true);
    expect(lifetime.exitCode).toBe(0);
  });

  it("ignores a closed stderr", () => {
    const { lifetime, stderr } = begin();
    stderr.emit("error", new Error("write EIO"));
    expect(lifetime.signal.aborted).toBe(false);
  });

  it("does not read stdin unless it must end with it", async () => {
    const { lifetime, stdin } = begin();
    stdin.write("input for somebody else");
    stdin.end();
    await settle();
    expect(lifetime.signal.aborted).toBe(false);
    expect(String(stdin.read())).toBe("input for somebody else");
  });

  it.each<[string, (stdin: PassThrough) => void]>([
    ["ends", (stdin) => stdin.end("ignored")],
    ["breaks", (stdin) => stdin.destroy(new Error("gone"))],
  ])("ends with stdin, when that %s, as interrupted", async (_, close) => {
    const { lifetime, stdin } = begin();
    lifetime.endWithStdin();
    close(stdin);
    await settle();
    expect(lifetime.signal.aborted).toBe(true);
    expect(lifetime.exitCode).toBe(130);
  });

  it("keeps the first reason", () => {
    const { lifetime, events } = begin();
    events.emit("SIGTERM");
    events.emit("SIGHUP");
    expect(lifetime.exitCode).toBe(143);
  });

  it("removes all listeners at the end", () => {
    const fresh = begin();
    const before = new PassThrough().eventNames().length;
    fresh.lifetime.endWithStdin();
    fresh.events.emit("SIGINT");
    fresh.lifetime.release();
    expect(fresh.events.eventNames()).toEqual([]);
    expect(fresh.stdout.listenerCount("error")).toBe(0);
    expect(fresh.stdin.eventNames().length).toBe(before);
    expect(fresh.stdin.isPaused()).toBe(true);
    expect(fresh.clock.next()).toBeUndefined();
  });
});
