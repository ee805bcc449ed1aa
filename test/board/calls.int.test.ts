// What a caller gives with one call, and what a server's words are when they arrive: on a board over real servers.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { ApprovalRequest } from "../../src/model/approval.ts";
import type { BoardCallOptions } from "../../src/model/board.ts";
import type { JsonObject } from "../../src/model/json.ts";
import { cleanUp, directory, openWith } from "../guard/boards.ts";
import { fixture, textOf } from "../support/boards.ts";

cleanUp();

const ERAS = ["legacy", "modern"] as const;
const faithful = (era: string, ...args: string[]) => fixture("faithful", `--era=${era}`, ...args);

function toldBy(outcome: Parameters<typeof textOf>[0]): JsonObject & { _meta?: JsonObject } {
  return JSON.parse(textOf(outcome)) as JsonObject;
}

describe("who calls", () => {
  it("is on record, and in the question whether the call may be made", async () => {
    const stateDir = await directory();
    const asked: ApprovalRequest[] = [];
    const board = await openWith(
      { approval: "ask", servers: { one: faithful("legacy") } },
      { stateDir },
    );
    const own: BoardCallOptions = {
      caller: "laptop",
      onApproval: (request) => {
        asked.push(request);
        return "once";
      },
      // With a listener, the stages pass on a copy of the call.
      onUpdate: () => {},
    };
    expect((await board.call("one/told", {}, own)).failure).toBeUndefined();
    expect((await board.call("one/told", {}, { caller: "phone" })).failure?.code).toBe(
      "NOT_APPROVED",
    );
    await board.close();
    expect(asked.map(({ caller }) => caller)).toEqual(["laptop"]);
    const lines = (await readFile(join(stateDir, "audit.jsonl"), "utf8")).trim().split("\n");
    expect(
      lines
        .map((line) => JSON.parse(line) as JsonObject)
        .map(({ type, caller, outcome }) => ({ type, caller, outcome })),
    ).toEqual([
      { type: "call", caller: "laptop", outcome: "ok" },
      { type: "call", caller: "phone", outcome: "NOT_APPROVED" },
    ]);
  });
});

describe.each(ERAS)("a %s server", (era) => {
  it("gets what the caller adds to _meta, beside what is the host's", async () => {
    const board = await openWith({ servers: { one: faithful(era) } });
    const plain = toldBy(await board.call("one/told"))._meta ?? {};
    const meta = {
      traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
      "example.com/call": { id: 7 },
      progressToken: "mine",
      "io.modelcontextprotocol/protocolVersion": "1999-01-01",
      other: true,
    };
    const { traceparent, "example.com/call": call } = meta;
    const told = toldBy(await board.call("one/told", {}, { meta }))._meta;
    expect(told).toEqual({
      ...plain,
      progressToken: expect.any(Number) as number,
      traceparent,
      "example.com/call": call,
    });
  });

  it("has its titles, icons and _meta on the board", async () => {
    const board = await openWith({ servers: { one: faithful(era) } });
    const about = (name: string): JsonObject => ({
      title: `The ${name}`,
      icons: [
        { src: `https://icons.example/${name}.png`, mimeType: "image/png", sizes: ["48x48"] },
      ],
      _meta: { "example.com/name": name },
    });
    expect(board.tools().find(({ name }) => name === "mcp__one__told")).toMatchObject({
      ...about("told"),
      ownDescription: "Returns the parameters of its request.",
      annotations: { readOnlyHint: true, title: "What was told" },
    });
    expect(await board.resources.list()).toEqual([
      {
        uri: "note:///a",
        name: "a",
        mimeType: "text/plain",
        size: 5,
        annotations: { audience: ["user"], priority: 0.5 },
        ...about("note"),
        server: "one",
        available: true,
      },
    ]);
    expect(await board.resources.templates()).toMatchObject([about("template")]);
    expect(await board.prompts.list()).toMatchObject([about("prompt")]);
    expect(await board.resources.read("note:///a")).toMatchObject({
      contents: [{ _meta: { part: 1 } }],
      _meta: { "example.com/whole": "read" },
    });
    expect(await board.prompts.get("greet")).toMatchObject({
      _meta: { "example.com/whole": "got" },
    });
  });
});

describe("with the tool names {tool}", () => {
  const TOOLS = ["told", "ask", "log", "level"];

  it("the tools of one server keep their names, and rules may use them", async () => {
    const rules = { allow: ["told", "lo*"], deny: ["log"] };
    const board = await openWith({
      toolNames: "{tool}",
      tools: rules,
      servers: { one: faithful("legacy") },
    });
    expect(board.tools().map(({ name }) => name)).toEqual(["told"]);
    expect((await board.call("told")).failure).toBeUndefined();
    expect((await board.call("log")).failure?.code).toBe("REFUSED_BY_POLICY");
  });

  it("the tools of two servers have their server in front", async () => {
    const servers = { one: faithful("legacy"), two: faithful("legacy") };
    const board = await openWith({ toolNames: "{tool}", servers });
    expect(board.tools().map(({ name }) => name)).toEqual(
      ["one", "two"].flatMap((server) => TOOLS.map((tool) => `${server}__${tool}`)),
    );
  });
});

it("names are as long as the configuration allows", async () => {
  const server = "a_server_with_a_long_name";
  const board = await openWith({
    toolNameLength: 32,
    servers: { [server]: faithful("legacy") },
  });
  const names = board.tools().map(({ name }) => name);
  expect(names).toEqual(names.map(() => expect.stringMatching(/^.{1,23}_[0-9a-f]{8}$/) as string));
  expect(new Set(names).size).toBe(names.length);
});
