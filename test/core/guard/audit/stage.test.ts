import { describe, expect, it } from "vitest";
import { AuditedTool, type AuditRecord } from "../../../../src/core/guard/audit/record.ts";
import { auditStages, type AuditStageOptions } from "../../../../src/core/guard/audit/stage.ts";
import { PlugboardError } from "../../../../src/core/types/errors.ts";
import type { GuardedCall, Next, Subject } from "../../../../src/core/types/guard.ts";
import type { JsonObject } from "../../../../src/core/types/json.ts";
import type { CallOutcome } from "../../../../src/core/types/tool.ts";
import { ManualClock } from "../../../support/manual-clock.ts";
import { callOf, pass, subject } from "../subjects.ts";

const redact = { value: <T>(value: T): T => value };

function guarded(about: Partial<Subject> = {}): GuardedCall {
  const { canonical = "docs/read" } = about;
  const now = new ManualClock().monotonic();
  return callOf(subject(canonical, about), { args: { path: "a" }, started: now, now });
}

async function run(
  next: Next,
  options: Partial<AuditStageOptions> = {},
  call = guarded(),
): Promise<{ record: AuditRecord | undefined; ended: unknown }> {
  const records: AuditRecord[] = [];
  const { whole } = auditStages(
    { record: (each) => void records.push(each), start: async () => {} },
    { agent: "default", redact, ...options },
  );
  const ended = await pass(whole, call, next, options.clock).catch((error: unknown) => error);
  expect(records).toHaveLength(1);
  return { record: records[0], ended };
}

describe("the stage at the start of a call", () => {
  it.each<[string, Partial<Subject>, boolean]>([
    ["says nothing about itself", {}, true],
    ["only reads, of a configured server", { annotations: { readOnlyHint: true } }, false],
    ["only reads, as text", { annotations: { readOnlyHint: "true" } }, true],
    [
      "only reads, of a server that came with a session",
      { annotations: { readOnlyHint: true }, origin: "session" },
      true,
    ],
    [
      "only reads, of the host itself",
      { annotations: { readOnlyHint: true }, origin: "native", source: { kind: "native" } },
      false,
    ],
    ["destroys nothing", { annotations: { destructiveHint: false } }, true],
  ])("of a tool that %s", async (_, about, isWritten) => {
    const events: string[] = [];
    const { whole, start } = auditStages(
      {
        record: ({ outcome }) => void events.push(outcome),
        start: async ({ of }) => void events.push(`start ${of.json}`),
      },
      { agent: "default", redact },
    );
    const call = guarded(about);
    const send: Next = async () => {
      events.push("sent");
      return { content: [] };
    };
    await pass((of) => [whole(of), start(of) ?? []].flat(), call, send);
    expect(events).toEqual(
      isWritten ? [expect.stringMatching(/^start /), "sent", "ok"] : ["sent", "ok"],
    );
  });
});

describe("the stage around a call", () => {
  it("records who called what, when, how long it took and what came of it", async () => {
    const clock = new ManualClock();
    const outcome: CallOutcome = { content: [{ type: "text", text: "hello" }] };
    const next: Next = async (call) => {
      await clock.advance(60_250);
      call.waitedMs = 60_000;
      call.decision = { verdict: "approved", rule: "ask" };
      return outcome;
    };
    const { record, ended } = await run(next, { clock, session: "s1" });
    expect(ended).toBe(outcome);
    expect(record).toEqual({
      time: 1_000_000,
      of: new AuditedTool({
        agent: "default",
        session: "s1",
        caller: undefined,
        server: "docs",
        tool: "read",
      }),
      args: { kind: "copy", json: '{"path":"a"}', isCanonical: true },
      startNumber: undefined,
      decision: { verdict: "approved", rule: "ask" },
      durationMs: 250,
      waitedMs: 60_000,
      bytes: 5,
      outcome: "ok",
    });
  });

  it("hands the arguments on where they are to be written", async () => {
    const { record } = await run(async () => ({ content: [] }), { arguments: true });
    expect(record?.of.redact).toBe(redact);
  });

  it.each<[string, JsonObject, string | undefined]>([
    ["its text", { path: "a", depth: 1 }, '{"path":"a","depth":1}'],
    ["nothing of what is large: it may wait for long", { text: "x".repeat(20_000) }, undefined],
  ])("leaves to whoever sends the arguments %s", async (_, args, json) => {
    const call = { ...guarded(), args };
    await run(async () => ({ content: [] }), {}, call);
    expect(call.argsJson).toBe(json);
  });

  it("names a native tool as one", async () => {
    const native = guarded({ canonical: "native/clock", source: { kind: "native" } });
    const { record } = await run(async () => ({ content: [] }), {}, native);
    expect(record?.of.json).toBe('"agent":"default","server":"native","tool":"clock"');
  });

  it.each<[string, CallOutcome, string]>([
    ["ok", { content: [] }, "ok"],
    ["what the tool reported", { content: [], isError: true }, "error"],
    [
      "a failure",
      { content: [], isError: true, failure: { code: "TIMEOUT", message: "late" } },
      "TIMEOUT",
    ],
  ])("tells apart how it ended: %s", async (_, outcome, word) => {
    expect((await run(async () => outcome)).record?.outcome).toBe(word);
  });

  it.each<[unknown, string]>([
    [new PlugboardError("REFUSED_BY_POLICY", "no"), "REFUSED_BY_POLICY"],
    [new Error("odd"), "error"],
  ])("records a rejection and passes it on: %s", async (error, word) => {
    const next: Next = async (call) => {
      call.decision = { verdict: "refused", rule: "deny" };
      throw error;
    };
    const { record, ended } = await run(next);
    expect(ended).toBe(error);
    expect(record).toMatchObject({ outcome: word, bytes: 0, decision: { verdict: "refused" } });
  });

  it("measures every kind of content", async () => {
    const outcome: CallOutcome = {
      content: [
        { type: "text", text: "12" },
        { type: "image", data: "123", mimeType: "image/png" },
        { type: "audio", data: "1234", mimeType: "audio/wav" },
        { type: "resource", resource: { uri: "a:", text: "12345" } },
        { type: "resource", resource: { uri: "a:", blob: "123456" } },
        { type: "resource", resource: { uri: "a:" } },
        { type: "resource_link", uri: "1234567" },
      ],
    };
    expect((await run(async () => outcome)).record?.bytes).toBe(2 + 3 + 4 + 5 + 6 + 7);
  });
});
