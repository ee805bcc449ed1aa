import { describe, expect, it } from "vitest";
import { concurrencyStage, type Permits } from "../../../src/core/guard/concurrency.ts";
import { serverGuards } from "../../../src/core/guard/server-guards.ts";
import type { ServerGuard } from "../../../src/core/types/guard-settings.ts";
import type { Next, Subject } from "../../../src/core/types/guard.ts";
import type { CallOutcome } from "../../../src/core/types/tool.ts";
import { settle } from "../../support/manual-clock.ts";
import { callOf, contentOf, OUTCOME, pass, refusal, subject } from "./subjects.ts";

const READ = subject("docs/read");
const WRITE = subject("docs/write");

/** A server whose calls end when the test says so. `permits` are those of an earlier configuration. */
function limited(concurrency: ServerGuard["concurrency"], permits: Permits = new Map()) {
  const stage = concurrencyStage(
    serverGuards([{ name: "docs", origin: "agent", guard: { concurrency } }]),
    permits,
  );
  const running: string[] = [];
  const ends = new Map<string, () => void>();
  const next: Next = ({ args }) =>
    new Promise((resolve) => {
      const id = String(args["id"]);
      running.push(id);
      ends.set(id, () => {
        running.splice(running.indexOf(id), 1);
        resolve(OUTCOME);
      });
    });
  function start(
    id: string,
    of: Subject,
    signal?: AbortSignal,
    caller?: string,
  ): Promise<CallOutcome> {
    return pass(stage, callOf(of, { args: { id }, signal, caller }), next);
  }
  async function end(id: string): Promise<void> {
    ends.get(id)?.();
    await settle();
  }
  return { stage, running, start, end };
}

describe("a concurrency limit", () => {
  it("lets so many calls run, and the others wait in order", async () => {
    const { running, start, end } = limited({ default: 2 });
    const made = ["a", "b", "c", "d"].map((id) => start(id, id === "b" ? WRITE : READ));
    await settle();
    expect(running).toEqual(["a", "b"]);
    await end("b");
    expect(running).toEqual(["a", "c"]);
    await end("a");
    expect(running).toEqual(["c", "d"]);
    await end("c");
    await end("d");
    expect(await Promise.all(made)).toEqual([OUTCOME, OUTCOME, OUTCOME, OUTCOME]);
  });

  it("lets callers have their turns, however many calls one of them has waiting", async () => {
    const { running, start, end } = limited({ default: 1 });
    const gone = new AbortController();
    const made = [
      ...["a1", "a2", "a3", "a4"].map((id) => start(id, READ, undefined, "a")),
      start("b1", READ, gone.signal, "b"),
      ...["c1", "c2"].map((id) => start(id, READ, undefined, "c")),
    ];
    const ended = Promise.allSettled(made);
    await settle();
    gone.abort();
    const order: (string | undefined)[] = [];
    for (let call = 0; call < 6; call += 1) {
      order.push(running[0]);
      await end(running[0] ?? "");
    }
    expect(order).toEqual(["a1", "a2", "c1", "a3", "c2", "a4"]);
    expect(await ended).toHaveLength(7);
  });

  it("that is raised lets calls go on that wait", async () => {
    const permits: Permits = new Map();
    const { running, start } = limited({ default: 1 }, permits);
    for (const id of ["a", "b", "c", "d"]) void start(id, READ);
    await settle();
    expect(running).toEqual(["a"]);
    limited({ default: 3 }, permits).stage(READ);
    await settle();
    expect(running).toEqual(["a", "b", "c"]);
  });

  it("that is lowered lets calls end that run, and counts for the next", async () => {
    const permits: Permits = new Map();
    const { running, start, end } = limited({ default: 2 }, permits);
    for (const id of ["a", "b", "c"]) void start(id, READ);
    await settle();
    limited({ default: 1 }, permits).stage(READ);
    expect(running).toEqual(["a", "b"]);
    await end("a");
    expect(running).toEqual(["b"]);
    await end("b");
    expect(running).toEqual(["c"]);
  });

  it("of a tool counts beside the server's, and who waits for it holds nobody up", async () => {
    const { running, start, end } = limited({ default: 2, tools: { write: 1 } });
    const made = [start("w1", WRITE), start("w2", WRITE), start("r1", READ), start("r2", READ)];
    await settle();
    expect(running).toEqual(["w1", "r1"]);
    await end("r1");
    expect(running).toEqual(["w1", "r2"]);
    await end("w1");
    expect(running).toEqual(["r2", "w2"]);
    await end("r2");
    await end("w2");
    await Promise.all(made);
  });

  it("tells a call that it waits", async () => {
    const { stage, start, end } = limited({ default: 1 });
    const first = start("a", READ);
    await settle();
    const told: unknown[] = [];
    const onUpdate = (update: unknown): void => void told.push(update);
    const second = pass(stage, callOf(READ, { onUpdate }));
    expect(JSON.stringify(told)).toContain(
      "waits until another call to docs/read or its server has ended",
    );
    await end("a");
    await Promise.all([first, second]);
    await pass(stage, callOf(READ, { onUpdate }));
    expect(told).toHaveLength(1);
  });

  it("of a tool alone leaves the others free", () => {
    const { stage } = limited({ tools: { write: 1 } });
    expect(stage(WRITE)).toBeDefined();
    expect(stage(READ)).toBeUndefined();
  });

  it("stays with a tool that changes", async () => {
    const { running, start, end } = limited({ tools: { write: 1 } });
    const made = [start("old", WRITE), start("new", { ...WRITE, hash: "h2" })];
    await settle();
    expect(running).toEqual(["old"]);
    await end("old");
    expect(running).toEqual(["new"]);
    await end("new");
    await Promise.all(made);
  });

  it("forgets who is cancelled while waiting", async () => {
    const { running, start, end } = limited({ default: 1 });
    const controller = new AbortController();
    const first = start("a", READ);
    const second = start("b", READ, controller.signal);
    const third = start("c", READ);
    await settle();
    controller.abort();
    expect((await refusal(second)).code).toBe("CANCELLED");
    await end("a");
    expect(running).toEqual(["c"]);
    await end("c");
    await Promise.all([first, third]);
  });

  it("gives back the tool's place when the wait for the server's is cancelled", async () => {
    const { running, start, end } = limited({ default: 1, tools: { write: 1 } });
    const controller = new AbortController();
    const first = start("r", READ);
    const second = start("w1", WRITE, controller.signal);
    await settle();
    controller.abort();
    expect((await refusal(second)).code).toBe("CANCELLED");
    await end("r");
    const third = start("w2", WRITE);
    await settle();
    expect(running).toEqual(["w2"]);
    await end("w2");
    await Promise.all([first, third]);
  });

  it("does not let a cancelled call in, or keep a listener of one that ran", async () => {
    const { running, start, end } = limited({ default: 1 });
    expect((await refusal(start("a", READ, AbortSignal.abort()))).code).toBe("CANCELLED");
    const controller = new AbortController();
    const made = [start("b", READ), start("c", READ, controller.signal), start("d", READ)];
    await settle();
    await end("b");
    controller.abort();
    await settle();
    expect(running).toEqual(["c"]);
    await end("c");
    expect(running).toEqual(["d"]);
    await end("d");
    await Promise.all(made);
  });

  it("gives the place back when the call fails", async () => {
    const { stage } = limited({ default: 1 });
    const failing: Next = () => Promise.reject(new Error("gone"));
    await expect(pass(stage, callOf(READ), failing)).rejects.toThrow("gone");
    expect(await pass(stage, callOf(READ))).toBe(OUTCOME);
  });

  it.each([
    ["nothing is configured", READ, undefined],
    ["the tool is the host's own", subject("native/read"), { default: 1 }],
    [
      "the server is a session's of the same name",
      { ...READ, origin: "session" as const },
      { default: 1 },
    ],
  ])("costs nothing where %s", (_, of, concurrency) => {
    expect(limited(concurrency).stage(of)).toBeUndefined();
  });
});

describe("reads of resources", () => {
  const [A, B] = [contentOf("docs/resource:a:1"), contentOf("docs/resource:a:2")];

  it("wait for each other where one pattern names them", async () => {
    const { running, start, end } = limited({ default: 1, tools: { "resource:a:*": 1 } });
    const made = [start("a", A), start("b", B), start("c", READ)];
    await settle();
    expect(running).toEqual(["a", "c"]);
    await end("a");
    expect(running).toEqual(["c", "b"]);
    await end("b");
    await end("c");
    await Promise.all(made);
  });

  it("do not wait where no pattern names them", () => {
    expect(limited({ default: 1, tools: { "*": 1, "prompt:*": 1 } }).stage(A)).toBeUndefined();
  });
});
