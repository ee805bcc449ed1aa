// What a server says about itself and its tools, from its process to the board and back.

import { describe, expect, it } from "vitest";
import type { Connection } from "../../../../src/core/types/connection.ts";
import { Redactor } from "../../../../src/core/redaction/redactor.ts";
import { createConnector } from "../../../../src/core/upstream/connect.ts";
import { systemClock } from "../../../../src/util/clock.ts";
import { closeBoards, fixture, open, statusOf } from "../../../support/boards.ts";
import { definition } from "../../../support/definition.ts";
import { recordingLogger } from "../../../support/logger.ts";

closeBoards();

const TOKEN = "hunter2-hunter2";
const config = { ...fixture("hostile-words"), env: { API_TOKEN: TOKEN } };

async function connect(): Promise<{ connection: Connection; logged: () => string }> {
  const redactor = new Redactor();
  redactor.add(TOKEN);
  const logger = recordingLogger();
  const { command = "", args = [], env } = config;
  const target = { kind: "stdio" as const, command, args, env };
  const opener = createConnector({
    definition: definition({ name: "docs", target }),
    timeout: () => 30_000,
    resolve: async () => ({ target }),
    cwd: process.cwd(),
    env: process.env,
    networkAllow: [],
    networkEnv: {},
    clock: systemClock,
    logger,
    redact: (text, isCut) => redactor.text(text, isCut),
  });
  const connection = await opener(new AbortController().signal, () => {});
  return { connection, logged: () => JSON.stringify(logger.lines) };
}

describe("a server's words", () => {
  it("are complete and without secrets: its name, instructions, tools and stderr", async () => {
    const { connection, logged } = await connect();
    try {
      expect(connection.identity).toMatchObject({
        name: "hostile",
        version: "1.0",
        instructions: "Be brief.\nThe key is [REDACTED].",
        capabilities: ["tools"],
      });
      const { tools, diagnostics } = await connection.listTools();
      expect(tools.find(({ title }) => title === "Hidden")).toMatchObject({
        name: "hid\u200Bden",
        description: "Looks harmless. Uses [REDACTED].",
        annotations: { title: "Hidden" },
      });
      expect(diagnostics.map(({ subject, message }) => `${subject ?? "it"}: ${message}`)).toEqual([
        "it: invisible characters were removed from the server's name and instructions",
        "hidden: invisible characters were removed from its title and description",
        "hidden: invisible characters are in its name, where they had to be left",
      ]);
      expect(connection.stderrTail()).toEqual(["starting with [REDACTED]", "ready"]);
      expect(logged()).toContain("starting with [REDACTED]");
      expect(logged()).not.toContain(TOKEN);
    } finally {
      await connection.close();
    }
  });

  it("are plain text in its errors and in the board's status", async () => {
    const board = await open({ docs: config });
    const refused = await board.call("docs/refuse");
    expect(refused.failure?.message).toMatch(/^server 'docs' refused 'refuse': no access with/);
    const { label } = board.tools().find(({ name }) => name.includes("hid")) ?? {};
    expect(label).toBe("MCP: docs/hidden");
    const shown = JSON.stringify([
      statusOf(board, "docs"),
      board.tools().map((tool) => tool.label),
    ]);
    expect(shown).not.toMatch(/\\u001b|\p{Cf}/u);
  });
});

describe("names and keys that have a meaning for objects", () => {
  it("do no harm: tools, arguments, structured content and _meta", async () => {
    const board = await open({ docs: config });
    const args = JSON.parse('{"__proto__":{"polluted":true},"a":1}') as Record<string, unknown>;
    const echoed = await board.call("docs/__proto__", args);
    expect(JSON.stringify(echoed.structuredContent)).toBe(
      '{"args":{"__proto__":{"polluted":true},"a":1}}',
    );
    const meta = await board.call("docs/constructor", args);
    expect(JSON.stringify(meta._meta)).toBe('{"__proto__":{"polluted":true},"a":1}');
    const structured = await board.call("docs/toString");
    expect(JSON.stringify(structured.structuredContent)).toBe(
      '{"__proto__":{"polluted":true},"b":2}',
    );
    for (const name of ["__proto__", "constructor", "hasOwnProperty", "docs/hasOwnProperty"]) {
      expect((await board.call(name)).failure?.code).toBe("UNKNOWN_TOOL");
    }
    for (const value of [{}, [], args, echoed.structuredContent, meta._meta]) {
      expect((value as { polluted?: boolean }).polluted).toBeUndefined();
    }
  });
});
