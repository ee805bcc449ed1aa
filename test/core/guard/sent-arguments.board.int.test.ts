// A call that somebody has to approve: it is made exactly as they were shown, whatever becomes of its arguments and of the
// configuration while they think.

import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import type { BoardConfig } from "../../../src/core/types/agent-config.ts";
import type { ApprovalAnswer, ApprovalRequest } from "../../../src/core/types/approval.ts";
import type { Board, SessionBoard } from "../../../src/core/types/board.ts";
import type { JsonObject } from "../../../src/core/types/json.ts";
import type { NativeTool } from "../../../src/core/types/tool.ts";
import { canonicalJson } from "../../../src/util/canonical-json.ts";
import { closeAll, serve } from "../../fixtures/http/client.ts";
import { closeBoards, fixture, openWith, textOf } from "../../support/boards.ts";
import { temporaryDirectory } from "../../support/directory.ts";

closeBoards();
afterEach(closeAll);

/** Says yes, after `think` has been done. */
function person(think: (request: ApprovalRequest) => unknown = () => {}) {
  const shown: string[] = [];
  const onApproval = async (request: ApprovalRequest): Promise<ApprovalAnswer> => {
    shown.push(JSON.stringify(request.args));
    await think(request);
    return "once";
  };
  return { shown, onApproval };
}

const repeat: NativeTool = {
  name: "repeat",
  description: "Answers with its arguments.",
  parameters: { type: "object" },
  execute: (_, args) => ({ content: [{ type: "text", text: JSON.stringify(args) }] }),
};

/** `echo/echo` answers with `text` alone, `tells/ok` with all its arguments as JSON. */
const asking: BoardConfig = {
  approval: "ask",
  servers: {
    echo: fixture("echo"),
    tells: fixture("tells-token"),
    library: { ...fixture("library"), approval: { tools: { "prompt:greet": "ask" } } },
  },
};

/** Only what is called is started. */
const lazily = { native: [repeat], start: "none" } as const;

let reads = 0;
const counting = {
  enumerable: true,
  get: () => {
    reads += 1;
    return reads;
  },
};

/** Arguments, and what their owner does with them after the call was made. */
const CHANGING: Record<string, () => [args: JsonObject, change?: () => void]> = {
  "of an object that changes": () => {
    const args: JsonObject = { path: "a" };
    return [args, () => Object.assign(args, { path: "b", more: 1 })];
  },
  "with a list that is shared": () => {
    const list = [1];
    return [{ list, again: { list } }, () => list.push(2)];
  },
  "too large to be copied for the audit": () => {
    const args = { text: "a".repeat(20_000) };
    return [args, () => (args.text = "b")];
  },
  "with a getter": () => [Object.defineProperty({}, "path", counting)],
  "that are a proxy": () => [
    new Proxy(
      { path: 0 },
      { get: (of, key) => (key === "path" ? counting.get() : Reflect.get(of, key)) },
    ),
  ],
  "with a toJSON": () => [{ toJSON: () => ({ path: counting.get() }) }],
  "with a value with a toJSON": () => [{ path: { toJSON: counting.get } }],
  "with a map that becomes a value": () => {
    const map = new Map<string, number>();
    return [{ map }, () => Object.assign(map, { toJSON: () => "b" })];
  },
  "with a prototype that changes": () => {
    const of = { path: "a" };
    return [Object.create({ toJSON: () => of }) as JsonObject, () => (of.path = "b")];
  },
  "with a key that is no key of an object": () => {
    const args = JSON.parse('{"__proto__":{"path":"a"}}') as JsonObject;
    return [args, () => Object.assign(args["__proto__"] as object, { path: "b" })];
  },
};

describe("arguments", () => {
  it.each(Object.entries(CHANGING))("%s are sent as they were shown", async (_, given) => {
    let change: (() => void) | undefined;
    const { shown, onApproval } = person(() => change?.());
    const stateDir = temporaryDirectory();
    const board = await openWith(asking, { ...lazily, onApproval, stateDir });
    const sent: string[] = [];
    for (const tool of ["tells/ok", "repeat"]) {
      const [args, changed] = given();
      change = changed;
      sent.push(textOf(await board.call(tool, args)));
    }
    expect(sent).toEqual(shown);
    await board.close();
    const lines = (await readFile(join(stateDir, "audit.jsonl"), "utf8")).trim().split("\n");
    const audited = lines.flatMap((line) => {
      const { type, argumentsHash } = JSON.parse(line) as JsonObject;
      return type === "call" ? [argumentsHash] : [];
    });
    expect(audited).toEqual(
      shown.map((text) =>
        createHash("sha256")
          .update(canonicalJson(JSON.parse(text)))
          .digest("hex")
          .slice(0, 16),
      ),
    );
  });

  type Way = (board: Board, session: SessionBoard, args: JsonObject) => Promise<unknown>;
  const WAYS: Record<string, Way> = {
    "board.call": async (board, _, args) => textOf(await board.call("tells/ok", args)),
    "tool.execute": async (board, _, args) => {
      const tool = await board.find("tells/ok");
      return (await tool.execute("call-1", args)).content;
    },
    "a session": async (_, session, args) => textOf(await session.call("tells/ok", args)),
    "a server at a URL": async (board, _, args) => board.call("remote/echo", args),
    "a native tool": async (board, _, args) => textOf(await board.call("repeat", args)),
    "a prompt": async (board, _, args) =>
      board.prompts.get("library/greet", args as Record<string, string>),
  };

  it.each(Object.entries(WAYS))("through %s, with what belongs to them", async (_, call) => {
    const remote = await serve();
    const args = { text: "asked", who: "asked" };
    const meta = { "example.com/key": "asked" };
    const { shown, onApproval } = person((request) => {
      Object.assign(args, { text: "changed", who: "changed" });
      Object.assign(meta, { "example.com/key": "changed" });
      // Throws in strict code, as here; whoever catches that, or has other code, changes nothing.
      for (const each of [request, request.args, request.hints]) {
        expect(Reflect.set(each, "text", "changed"), "a request that can be changed").toBe(false);
      }
    });
    const servers = { ...asking.servers, remote: { url: remote.url } };
    const board = await openWith({ ...asking, servers }, { ...lazily, onApproval });
    const session = await board.openSession({ cwd: temporaryDirectory(), servers: {} });
    const answered = JSON.stringify(await call(board, session, args));
    const messages = JSON.stringify(remote.requests.map(({ body }) => body));
    expect(shown).toHaveLength(1);
    expect(answered + messages).toContain("asked");
    expect(answered + messages).not.toContain("changed");
  });

  it("what goes to the server beside them stays the same too", async () => {
    const remote = await serve();
    const meta = { "example.com/key": "asked" };
    const { onApproval } = person(() => (meta["example.com/key"] = "changed"));
    const board = await openWith(
      { approval: "ask", servers: { remote: { url: remote.url } } },
      { onApproval },
    );
    await board.call("remote/echo", { text: "hi" }, { meta });
    const sent = remote.requests.find(({ body }) => body?.["method"] === "tools/call");
    expect(sent?.body).toMatchObject({ params: { _meta: { "example.com/key": "asked" } } });
  });

  const cycle: JsonObject = {};
  cycle["cycle"] = cycle;
  it.each<[string, JsonObject, string]>([
    ["a BigInt", { a: 1n }, "Do not know how to serialize a BigInt"],
    ["themselves", cycle, "are nested more than 1000 levels deep"],
    ["a toJSON without a text", { toJSON: () => undefined }, "as JSON they are not an object"],
    ["a toJSON with a text", { toJSON: () => "text" }, "as JSON they are not an object"],
  ])("with %s are refused before anybody is asked or anything is sent", async (_, args, why) => {
    const { shown, onApproval } = person();
    const board = await openWith(
      {
        ...asking,
        servers: { ...asking.servers, free: { ...fixture("echo"), approval: "never" } },
      },
      { onApproval },
    );
    for (const tool of ["echo/echo", "free/echo"]) {
      const { failure } = await board.call(tool, args);
      expect(failure).toMatchObject({ code: "INVALID_ARGUMENTS" });
      expect(failure?.message).toContain(why);
    }
    expect(textOf(await board.call("free/echo", { text: "hi" }))).toBe("hi");
    expect(shown).toEqual([]);
  });
});

describe("while a person thinks", () => {
  type Change = (board: Board, session: SessionBoard) => Promise<unknown>;
  const denying: Change = (board) =>
    board.reload({
      ...asking,
      tools: { deny: ["echo/echo", "native/repeat", "library/prompt:greet"] },
    });
  const other: Change = (board) =>
    board.reload({ ...asking, servers: { ...asking.servers, echo: fixture("tells-token") } });
  const hi = { text: "hi" };

  it.each<[string, string, Change, (board: Board, session: SessionBoard) => Promise<unknown>]>([
    [
      "a rule that denies the tool",
      "REFUSED_BY_POLICY",
      denying,
      (board) => board.call("echo/echo", hi),
    ],
    [
      "a rule that denies the session's tool",
      "REFUSED_BY_POLICY",
      denying,
      (_, session) => session.call("echo/echo", hi),
    ],
    [
      "a rule that denies the native tool",
      "REFUSED_BY_POLICY",
      denying,
      (board) => board.call("repeat", hi),
    ],
    [
      "a rule that denies the prompt",
      "REFUSED_BY_POLICY",
      denying,
      (board) => board.prompts.get("library/greet").catch((failure: unknown) => ({ failure })),
    ],
    [
      "another program under the server's name",
      "SERVER_UNAVAILABLE",
      other,
      (board) => board.call("echo/echo", hi),
    ],
    [
      "another name for the tool",
      "CHANGED_TOOL",
      (board) => {
        const echo = { ...fixture("echo"), toolPrefix: "other" };
        return board.reload({ ...asking, servers: { ...asking.servers, echo } });
      },
      (board) => board.call("mcp__echo__echo", hi),
    ],
    [
      "a session's own server in its place",
      "CHANGED_TOOL",
      (_, session) => session.add("echo", fixture("tells-token")),
      (_, session) => session.call("echo/echo", hi),
    ],
    [
      "a session that no longer has the server",
      "CHANGED_TOOL",
      (_, session) => session.setEnabled("echo", false),
      (_, session) => session.call("echo/echo", hi),
    ],
  ])("%s ends the call", async (_, code, change, call) => {
    let thinking: () => Promise<unknown> = async () => {};
    const { shown, onApproval } = person(() => thinking());
    const board = await openWith(asking, { ...lazily, onApproval });
    const session = await board.openSession({ cwd: temporaryDirectory(), servers: {} });
    thinking = () => change(board, session);
    expect(await call(board, session)).toMatchObject({ failure: { code } });
    expect(shown).toHaveLength(1);
  });
});
