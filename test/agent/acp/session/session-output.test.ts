// What a session shows while only a gateway knows the secrets of its servers.

import type { SessionUpdate } from "@agentclientprotocol/sdk";
import { describe, expect, it } from "vitest";
import { callStarted } from "../../../../src/agent/acp/calls/tool-calls.ts";
import { SessionOutput } from "../../../../src/agent/acp/session/session-output.ts";
import { textBlock, textContent } from "../../../../src/agent/acp/wire/content.ts";
import { SessionRedactor } from "../../../../src/core/board/session-redactor.ts";
import { Redactor } from "../../../../src/core/redaction/redactor.ts";
import { type Deferred, deferred } from "../../../../src/util/deferred.ts";
import { ManualClock } from "../../../support/manual-clock.ts";

const SECRET = "open-sesame-open-sesame";

interface Opened {
  output: SessionOutput;
  shown: SessionUpdate[];
  /** The questions to the gateway that wait for an answer. */
  asked: (Deferred<readonly string[]> & { texts: readonly string[] })[];
}

function open({ isAttached = true } = {}): Opened {
  const shown: SessionUpdate[] = [];
  const asked: Opened["asked"] = [];
  const redactor = new SessionRedactor();
  const board = new Redactor();
  if (isAttached) {
    board.elsewhere = {
      texts: (texts) => {
        const answer = { ...deferred<readonly string[]>(), texts };
        asked.push(answer);
        return answer.promise;
      },
      beginning: () => Promise.reject(new Error("not used here")),
    };
  } else board.add(SECRET);
  redactor.join(board);
  const output = new SessionOutput({
    sessionId: "s",
    client: {
      update: async (_, update) => void shown.push(update),
      showsNotices: () => true,
    },
    clock: new ManualClock(),
    record: undefined,
    redactor,
    cwd: "/",
    roots: ["/"],
    hasTitle: false,
  });
  return { output, shown, asked };
}

const call = callStarted({ id: "c", name: `use ${SECRET}`, input: { key: SECRET } }, "/");
const after: SessionUpdate = { sessionUpdate: "agent_message_chunk", content: textBlock("done") };
const answer = ({ texts, resolve }: Opened["asked"][number]): void =>
  resolve(texts.map((text) => text.replaceAll(SECRET, "[REDACTED]")));

describe("a call", () => {
  it("is shown when the gateway has taken its secrets out, and what follows after it", async () => {
    const { output, shown, asked } = open();
    output.emit(call);
    output.emit(after);
    output.think("hm");
    expect(shown).toEqual([]);
    asked.forEach(answer);
    await output.settled();
    expect(shown.map(({ sessionUpdate }) => sessionUpdate)).toEqual([
      "tool_call",
      "agent_message_chunk",
      "agent_thought_chunk",
    ]);
    expect(shown[0]).toMatchObject({ title: "use [REDACTED]", rawInput: { key: "[REDACTED]" } });
    output.emit(after);
    expect(shown).toHaveLength(4);
  });

  it("is shown without what it says if the gateway cannot be asked", async () => {
    const { output, shown, asked } = open();
    const known = callStarted({ id: "c", name: "mcp__s__read", input: { key: SECRET } }, "/");
    output.emit({ ...known, title: `Read ${SECRET}` } as SessionUpdate);
    asked.forEach(({ reject }) => reject(new Error("gone")));
    await output.settled();
    expect(shown).toHaveLength(1);
    expect(shown[0]).toMatchObject({ title: "mcp__s__read", rawInput: undefined });
  });

  it("is shown at once without a gateway", () => {
    const { output, shown } = open({ isAttached: false });
    output.emit(call);
    expect(shown[0]).toMatchObject({ title: "use [REDACTED]", rawInput: { key: "[REDACTED]" } });
  });
});

describe("what is shown with a call", () => {
  const diff = { type: "diff" as const, path: "/a", oldText: SECRET, newText: `key=${SECRET}` };
  const hidden = { ...diff, oldText: "[REDACTED]", newText: "key=[REDACTED]" };
  const terminal = { type: "terminal" as const, terminalId: "t" };
  const over: SessionUpdate = {
    sessionUpdate: "tool_call_update",
    toolCallId: "c",
    status: "completed",
  };

  it("has no secret that the model has put into a file, or that was there", () => {
    const { output, shown } = open({ isAttached: false });
    output.attach("c", { content: [diff] });
    output.emit(over);
    expect(shown).toMatchObject([
      { status: "in_progress", content: [hidden] },
      { status: "completed", content: [hidden] },
    ]);
  });

  it("waits for the gateway that knows the secrets", async () => {
    const { output, shown, asked } = open();
    output.attach("c", { content: [diff] });
    output.emit(over);
    expect(shown).toEqual([]);
    asked.forEach(answer);
    await output.settled();
    expect(shown).toMatchObject([{ content: [hidden] }, { content: [hidden] }]);
  });

  it("is no file's text if the gateway cannot be asked", async () => {
    const { output, shown, asked } = open();
    output.attach("c", { content: [diff, terminal], locations: [{ path: SECRET }] });
    asked.forEach(({ reject }) => reject(new Error("gone")));
    await output.settled();
    expect(shown).toMatchObject([{ content: [terminal], locations: [] }]);
  });

  it("is no secret in the reason why the call failed", async () => {
    const failed: SessionUpdate = {
      ...over,
      status: "failed",
      content: [textContent(`there is no tool named '${SECRET}'`)],
    };
    const told = { content: [textContent("there is no tool named '[REDACTED]'")] };
    const here = open({ isAttached: false });
    here.output.emit(failed);
    expect(here.shown).toMatchObject([told]);
    const { output, shown, asked } = open();
    output.emit(failed);
    asked.forEach(answer);
    await output.settled();
    expect(shown).toMatchObject([told]);
  });
});

describe("the title", () => {
  it("is sent once, without the gateway's secrets", async () => {
    const { output, shown, asked } = open();
    output.sendTitle(`Log in with ${SECRET}`);
    output.sendTitle("Something else");
    asked.forEach(answer);
    await output.settled();
    expect(shown).toEqual([
      { sessionUpdate: "session_info_update", title: "Log in with [REDACTED]" },
    ]);
  });

  it("is not sent if the gateway cannot be asked", async () => {
    const { output, shown, asked } = open();
    output.sendTitle(`Log in with ${SECRET}`);
    asked.forEach(({ reject }) => reject(new Error("gone")));
    await output.settled();
    expect(shown).toEqual([]);
  });
});
