// The state of the board's servers, as the plugin shows it.

import { describe, expect, it } from "vitest";
import { BoardProblem } from "../../../src/openclaw/plugin/board-client.ts";
import type { OpenClawConfig } from "../../../src/openclaw/plugin/openclaw.ts";
import { type Connection, readSettings } from "../../../src/openclaw/plugin/settings.ts";
import { readStatus, statusText } from "../../../src/openclaw/plugin/status.ts";

const SERVE: Connection = {
  kind: "stdio",
  command: "plugboard",
  args: ["serve"],
  env: {},
  cwd: "/",
};

interface Given {
  answers: (object | Error)[];
  connection?: Connection;
  config?: OpenClawConfig;
  settings?: Record<string, unknown>;
}

async function show({
  answers,
  connection = SERVE,
  config = {},
  settings,
}: Given): Promise<string> {
  const board = {
    read: async () => {
      const answer = answers.shift() ?? { servers: [] };
      if (answer instanceof Error) throw answer;
      return JSON.stringify(answer);
    },
  };
  return statusText(
    await readStatus({ board, connection, config, settings: readSettings(settings) }),
  );
}

it("names each server, what is wrong with it, and what to do", async () => {
  const error = {
    code: "SPAWN",
    message: "command 'x'\u001b[31m was not found",
    hint: "install it",
  };
  const servers = [
    { name: "docs", state: { kind: "ready" }, tools: 7 },
    { name: "broken", state: { kind: "failed", error }, tools: 0 },
    { name: "mail", state: { kind: "needs-auth", remedy: "plugboard login mail" }, tools: 1 },
  ];
  expect(await show({ answers: [{ servers }] })).toBe(
    [
      "Plugboard: plugboard serve, one process for each session",
      "  docs    ready       7 tools",
      "  broken  failed      0 tools",
      "      command 'x' was not found",
      "      install it",
      "  mail    needs-auth  1 tool",
      "      plugboard login mail",
      'Results of MCP servers: not framed by this plugin ("frameOtherServers": true frames them)',
      'Resources in the prompt: none ("resources": true puts them in)',
    ].join("\n"),
  );
});

it("waits for servers that are starting", async () => {
  const of = (kind: string) => ({ servers: [{ name: "docs", state: { kind }, tools: 7 }] });
  expect(await show({ answers: [of("starting"), of("ready")] })).toContain("docs  ready");
});

describe("says", () => {
  const cases: [string, Given, RegExp][] = [
    [
      "why the board cannot be read",
      { answers: [new BoardProblem("it has ended", "run it")] },
      /^ {2}it has ended\n {2}run it$/m,
    ],
    ["that the board has no servers", { answers: [] }, /no servers yet; add one: plugboard add/],
    [
      "which gateway it is, without what a URL may hide",
      {
        answers: [],
        connection: {
          kind: "http",
          url: "http://me:secret@127.0.0.1:1/mcp?key=secret",
          headers: {},
        },
      },
      /^Plugboard: the gateway at http:\/\/127\.0\.0\.1:1$/m,
    ],
    ["that answers make no sense", { answers: [{ other: 1 }] }, /has no servers/],
    [
      "what is framed",
      { answers: [], settings: { frameOtherServers: true, leaveUnframed: ["a"] } },
      /: framed \(full\), except those of a$/m,
    ],
    [
      "what OpenClaw does not let the plugin do",
      { answers: [], settings: { resources: true } },
      /set plugins\.entries\.plugboard\.hooks\.allowConversationAccess to true/,
    ],
    [
      "where the resources are",
      {
        answers: [],
        settings: { resources: true },
        config: {
          plugins: { entries: { plugboard: { hooks: { allowConversationAccess: true } } } },
        },
      },
      /: at the end of the system prompt, at most 16384 bytes$/m,
    ],
    [
      "how many slots there are",
      {
        answers: [],
        config: { mcp: { servers: { "plugboard-1": {}, "plugboard-2": {}, other: {} } } },
      },
      /^Slots for ACP sessions: 2$/m,
    ],
  ];
  it.each(cases)("%s", async (_, given, expected) => {
    const shown = await show(given);
    expect(shown).toMatch(expected);
    expect(shown).not.toContain("secret");
  });
});
