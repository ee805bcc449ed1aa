import { describe, expect, it } from "vitest";
import type { WatchedCallEvent } from "../../../../src/core/types/events.ts";
import type { PlacedCallWatcher } from "../../../../src/serve/gateway/monitoring/monitoring.ts";
import { WatchedCalls } from "../../../../src/serve/gateway/page/watched-calls.ts";
import { collectGarbage } from "../../../support/old-space.ts";
import { ManualClock } from "../../../support/manual-clock.ts";

const PLACE = { agent: "default", command: "call-1" };
const SOURCE = { kind: "mcp", server: "files", tool: "read" } as const;

function ended(callId: string, size = 10): WatchedCallEvent {
  return {
    callId,
    tool: "files__read",
    source: SOURCE,
    durationMs: 5,
    isError: false,
    caller: "ci",
    decision: { verdict: "approved", rule: "approval: once" },
    bytes: size,
    steps: [{ stage: "rules", half: "before", at: 0, ms: 1 }],
    size: (most) => (size > most ? Infinity : size),
    read: () => ({
      args: { path: "/a" },
      outcome: { content: [{ type: "text", text: "said" }] },
      redacted: { args: [], answer: [] },
    }),
  };
}

function open() {
  const clock = new ManualClock();
  const watchers: PlacedCallWatcher[] = [];
  const told = { changes: 0 };
  const calls = new WatchedCalls({
    clock,
    monitoring: {
      watchCalls: (watcher) => {
        watchers.push(watcher);
        return () => void watchers.splice(0);
      },
    },
    onChange: () => {
      told.changes += 1;
    },
  });
  return { calls, clock, watchers, told };
}

describe("calls", () => {
  it("are watched while somebody looks and a minute longer, then forgotten", async () => {
    const { calls, clock, watchers } = open();
    expect(watchers).toHaveLength(0);
    const leave = calls.look(true);
    calls.ended(ended("1"), PLACE);
    leave();
    await clock.advance(30_000);
    calls.look(true)();
    await clock.advance(59_000);
    expect(calls.show("1")?.content?.args).toEqual({ path: "/a" });
    await clock.advance(2000);
    expect([watchers.length, calls.list(), calls.show("1")]).toEqual([0, [], undefined]);
  });

  it("keep what was said while an owner looks, and nothing of it for viewers alone", async () => {
    const { calls, clock } = open();
    calls.look(false);
    calls.ended(ended("1"), PLACE);
    expect(calls.show("1")).toMatchObject({ facts: { who: "ci", command: "call-1" } });
    expect(calls.show("1")?.content).toBeUndefined();
    const leave = calls.look(true);
    calls.ended(ended("2"), PLACE);
    expect(calls.show("2")?.content?.result.content).toEqual([{ type: "text", text: "said" }]);
    leave();
    await clock.advance(61_000);
    expect(calls.show("2")?.facts.outcome).toBe("ok");
    expect(calls.show("2")?.content).toBeUndefined();
  });

  it("take bounded memory: by their number, all together and one by one", () => {
    const { calls } = open();
    calls.look(true);
    for (let at = 0; at < 600; at += 1) calls.ended(ended(`small ${at}`), PLACE);
    expect(calls.list()).toHaveLength(500);
    for (let at = 0; at < 40; at += 1) calls.ended(ended(`large ${at}`, 1024 * 1024), PLACE);
    expect(calls.list()).toHaveLength(16);
    calls.ended(ended("huge", 1024 * 1024 + 1), PLACE);
    expect(calls.show("huge")?.content).toBeUndefined();
    expect(calls.list()).toHaveLength(17);
  });

  it("hold on to nothing that was said in those of which nothing is kept", async () => {
    const { calls, clock } = open();
    const answers: WeakRef<object>[] = [];
    const said = (callId: string, size: number): WatchedCallEvent => {
      const answer = { text: "said" };
      answers.push(new WeakRef(answer));
      const event = ended(callId, size);
      // As those of a board: both know what was said.
      return {
        ...event,
        size: () => (answer.text === "" ? 0 : size),
        read: () => ({ ...event.read(), outcome: { content: [{ type: "text", ...answer }] } }),
      };
    };
    const held = async (): Promise<number> => {
      await collectGarbage();
      return answers.filter((each) => each.deref() !== undefined).length;
    };
    calls.look(false);
    calls.ended(said("for viewers", 10), PLACE);
    const leave = calls.look(true);
    calls.ended(said("kept", 10), PLACE);
    calls.ended(said("huge", Infinity), PLACE);
    expect(await held()).toBe(1);
    expect(calls.show("kept")?.content).toBeDefined();
    leave();
    await clock.advance(61_000);
    expect(await held()).toBe(0);
    expect(calls.list()).toHaveLength(3);
  });

  it("are told once for each change", () => {
    const { calls, told } = open();
    calls.look(true);
    calls.started({ callId: "1", tool: "files__read", source: SOURCE }, PLACE);
    calls.ended(ended("1"), PLACE);
    expect(calls.take()).toMatchObject({ calls: [{ id: "1", ms: 5, bytes: 10 }], left: 0 });
    expect(told.changes).toBe(1);
    expect(calls.take()).toEqual({ calls: [], left: 0 });
  });

  it.each([
    { calls: 1000, everyMs: 20, shown: 1000 },
    { calls: 100, everyMs: 0, shown: 100 },
    { calls: 10_000, everyMs: 0.1, shown: 149 },
  ])(
    "are all shown at a person's pace, and a sample of a flood ($calls, one in $everyMs ms)",
    (flood) => {
      const { calls, told } = open();
      calls.look(true);
      const admitted = Array.from({ length: flood.calls }, (_, at) =>
        calls.admits(1000 + at * flood.everyMs),
      ).filter(Boolean);
      expect(admitted).toHaveLength(flood.shown);
      expect(calls.take()).toEqual({ calls: [], left: flood.calls - flood.shown });
      expect(told.changes).toBe(flood.calls > flood.shown ? 1 : 0);
    },
  );

  it("plan nothing once they are closed, although the pages go after that", async () => {
    const { calls, clock } = open();
    const planned: number[] = [];
    const later = clock.later.bind(clock);
    clock.later = (ms, run) => {
      planned.push(ms);
      return later(ms, run);
    };
    const leave = calls.look(true);
    calls.close();
    leave();
    expect(planned).toEqual([]);
  });
});
