import { EventEmitter } from "node:events";
import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { Lifetime } from "../../src/cli/lifetime.ts";
import { ManualClock, settle } from "../support/manual-clock.ts";
import { Sink } from "./harness.ts";

function begin() {
  const events = new EventEmitter();
  const clock = new ManualClock();
  const stdin = new PassThrough();
  const [stdout, stderr] = [new Sink(), new Sink()];
  const exits: number[] = [];
  const faults: unknown[] = [];
  const lost: string[] = [];
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
      onOutputLost: ({ message }) => lost.push(message),
    },
  );
  return { lifetime, events, clock, stdin, stdout, stderr, exits, faults, lost, slow: () => slow };
}

function failedWrite(code: string): Error {
  return Object.assign(new Error(`write ${code}`), { code });
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
    ["SIGQUIT", 131],
  ])("ends by %s with exit code %i", (signal, code) => {
    const { lifetime, events, exits } = begin();
    events.emit(signal);
    expect(lifetime.signal.aborted).toBe(true);
    expect(lifetime.exitCode).toBe(code);
    expect(exits).toEqual([]);
  });

  it.each([
    ["without a terminal", undefined, 1],
    ["but not with a terminal to write to", "stderr", 0],
    ["but not with a terminal to read from", "stdin", 0],
  ] as const)("hands SIGHUP to a command that listens, %s", (_, terminal, heard) => {
    const { lifetime, events, ...streams } = begin();
    if (terminal !== undefined) Object.assign(streams[terminal], { isTTY: true });
    let count = 0;
    lifetime.onHangup(() => (count += 1));
    events.emit("SIGHUP");
    expect([count, lifetime.signal.aborted]).toEqual([heard, heard === 0]);
  });

  it("does not wait after a second Ctrl-C", () => {
    const { events, exits } = begin();
    events.emit("SIGINT");
    events.emit("SIGTERM");
    expect(exits).toEqual([]);
    events.emit("SIGINT");
    expect(exits).toEqual([130]);
  });

  it.each(["SIGINT", "SIGTERM", "SIGHUP"])(
    "of a service ends by %s with the exit code that the command says itself",
    async (signal) => {
      const { lifetime, events, exits, clock } = begin();
      lifetime.runAsService();
      events.emit(signal);
      expect(lifetime.signal.aborted).toBe(true);
      expect(lifetime.exitCode).toBeUndefined();
      // Calls in flight have longer than a command has to end.
      await clock.advance(59_999);
      expect(exits).toEqual([]);
      await clock.advance(1);
      expect(exits).toHaveLength(1);
    },
  );

  it("of a service does not wait after a second signal of any kind", () => {
    const { lifetime, events, exits } = begin();
    lifetime.runAsService();
    events.emit("SIGTERM");
    events.emit("SIGTERM");
    expect(exits).toEqual([143]);
  });

  it("of a service that breaks ends with the code of its report", () => {
    const { lifetime, events } = begin();
    lifetime.runAsService();
    events.emit("uncaughtException", new Error("a bug"));
    expect(lifetime.exitCode).toBe(70);
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

  it.each<[string, number, (running: ReturnType<typeof begin>) => unknown]>([
    ["an internal error", 70, ({ events }) => events.emit("uncaughtException", new Error("a bug"))],
    ["SIGINT", 130, ({ events }) => events.emit("SIGINT")],
    ["SIGTERM", 143, ({ events }) => events.emit("SIGTERM")],
    ["SIGHUP", 129, ({ events }) => events.emit("SIGHUP")],
    ["a closed reader", 0, ({ stdout }) => stdout.emit("error", failedWrite("EPIPE"))],
  ])("ends the process 10 s after %s, if something hangs", async (_, code, end) => {
    const running = begin();
    end(running);
    await running.clock.advance(9_999);
    expect(running.exits).toEqual([]);
    await running.clock.advance(1);
    expect(running.exits).toEqual([code]);
  });

  it("ends with 0 when the reader of its output is gone", () => {
    const { lifetime, stdout } = begin();
    stdout.emit("error", failedWrite("EPIPE"));
    expect(lifetime.signal.aborted).toBe(true);
    expect(lifetime.exitCode).toBe(0);
  });

  it.each([
    ["found a failure", 3, 3],
    ["was cut short", 130, 0],
    ["was done", 0, 0],
  ])("ends with what it says itself when nobody reads that, if it %s", (_, own, code) => {
    const { lifetime, stdout } = begin();
    stdout.emit("error", failedWrite("EPIPE"));
    expect(lifetime.codeAfter(own)).toBe(code);
  });

  it("ends with the code of the signal if nobody reads stdout after one", () => {
    const { lifetime, stdout, events } = begin();
    events.emit("SIGTERM");
    stdout.emit("error", failedWrite("EPIPE"));
    expect(lifetime.codeAfter(0)).toBe(143);
  });

  it.each(["ENOSPC", "EIO", "EFBIG", "EDQUOT"])("ends with 1 when a write fails by %s", (code) => {
    const { lifetime, stdout, lost } = begin();
    stdout.emit("error", failedWrite(code));
    expect(lifetime.signal.aborted).toBe(true);
    expect(lifetime.exitCode).toBe(1);
    expect(lost).toEqual([`write ${code}`]);
  });

  it("knows after a flush that the last write failed", async () => {
    const { lifetime, stdout } = begin();
    stdout._write = (_chunk, _encoding, done) => setImmediate(done, failedWrite("ENOSPC"));
    stdout.write("the result");
    await lifetime.flush();
    expect(lifetime.exitCode).toBe(1);
  });

  it("loses nothing on a full device if there was nothing to write", async () => {
    const { lifetime, stdout } = begin();
    stdout._write = (_chunk, _encoding, done) => done(failedWrite("ENOSPC"));
    await lifetime.flush();
    expect(lifetime.exitCode).toBeUndefined();
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
