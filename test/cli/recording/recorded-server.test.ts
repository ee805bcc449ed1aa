import { describe, expect, it } from "vitest";
import { RecordedServer } from "../../../src/cli/recording/recorded-server.ts";
import type { Recording } from "../../../src/cli/recording/recording-file.ts";
import type { JsonObject } from "../../../src/core/types/json.ts";

type Line = ["board" | "server", object] | ["cut", object];

function recording(...lines: Line[]): Recording {
  return {
    server: "docs",
    recorded: "",
    messages: lines.map(([from, value], at) =>
      from === "cut"
        ? { line: at + 2, from: "server", id: (value as JsonObject)["id"] }
        : { line: at + 2, from, message: { jsonrpc: "2.0", ...value } },
    ),
  };
}

/** Everything that the server sends for these messages of a client. */
async function replay(lines: Line[], ...messages: (object | string)[]): Promise<JsonObject[]> {
  const sent: JsonObject[] = [];
  const server = new RecordedServer({
    recording: recording(...lines),
    name: "docs.jsonl",
    send: ({ jsonrpc, ...message }) => {
      expect(jsonrpc).toBe("2.0");
      sent.push(message);
    },
  });
  for (const message of messages) {
    server.take(typeof message === "string" ? message : JSON.stringify(message));
    await new Promise((resolve) => setImmediate(resolve));
  }
  return sent;
}

const call = (id: number | string, text: string, more: object = {}): object => ({
  id,
  method: "tools/call",
  params: { name: "echo", arguments: { text }, ...more },
});
const result = (id: number | string, text: string): object => ({ id, result: { text } });

const ECHO: Line[] = [
  ["board", call(1, "a", { _meta: { progressToken: 1 } })],
  ["server", { method: "notifications/progress", params: { progressToken: 1, progress: 1 } }],
  ["server", { method: "notifications/message", params: { data: "working" } }],
  ["server", result(1, "A1")],
  ["board", call(2, "a")],
  ["server", result(2, "A2")],
  ["board", call(3, "b")],
  ["server", { id: 3, error: { code: -5, message: "no b" } }],
];

describe("a request gets the answer that the same request got", () => {
  it("under its own id, equal ones in their order, the last one again and again", async () => {
    const asked = ["x", 7, 8, 9].map((id) => call(id, "a"));
    const answers = await replay(ECHO, ...asked);
    expect(answers.filter(({ id }) => id !== undefined)).toEqual([
      result("x", "A1"),
      result(7, "A2"),
      result(8, "A2"),
      result(9, "A2"),
    ]);
  });

  it("whatever the order of its keys and its _meta", async () => {
    const params = { arguments: { text: "b" }, _meta: { traceparent: "x" }, name: "echo" };
    expect(await replay(ECHO, { id: 4, method: "tools/call", params })).toEqual([
      { id: 4, error: { code: -5, message: "no b" } },
    ]);
  });

  it("after the notifications that came before it; progress only for a client that wants it", async () => {
    const log = { method: "notifications/message", params: { data: "working" } };
    expect(await replay(ECHO, call(5, "a"))).toEqual([log, result(5, "A1")]);
    expect(await replay(ECHO, call(5, "a", { _meta: { progressToken: "t" } }))).toEqual([
      { method: "notifications/progress", params: { progressToken: "t", progress: 1 } },
      log,
      result(5, "A1"),
    ]);
  });

  it("also where a credential was removed from the recording", async () => {
    const lines: Line[] = [
      ["board", call(1, "Bearer [REDACTED]!")],
      ["server", result(1, "in")],
    ];
    expect(await replay(lines, call(2, "Bearer abc!"))).toEqual([result(2, "in")]);
    expect(await replay(lines, call(2, "Basic abc!"))).toMatchObject([{ error: { code: -32602 } }]);
  });

  it("after the client has answered what the server asked meanwhile", async () => {
    const lines: Line[] = [
      ["board", call(1, "ask")],
      ["server", { id: 0, method: "elicitation/create", params: { message: "?" } }],
      ["board", { id: 0, result: { action: "accept" } }],
      ["server", result(1, "asked")],
    ];
    const id = "replay-1";
    const question = { id, method: "elicitation/create", params: { message: "?" } };
    expect(await replay(lines, call(9, "ask"))).toEqual([question]);
    expect(await replay(lines, call(9, "ask"), { id, result: { action: "decline" } })).toEqual([
      question,
      result(9, "asked"),
    ]);
    const cancelled = { method: "notifications/cancelled", params: { requestId: 9 } };
    expect(await replay(lines, call(9, "ask"), cancelled, { id, result: {} })).toEqual([question]);
  });

  it("in a batch", async () => {
    const answers = await replay(ECHO, [call(1, "b"), { id: 2, method: "ping" }]);
    expect(new Set(answers.map(({ id }) => id))).toEqual(new Set([1, 2]));
  });
});

describe("the handshake is as recorded", () => {
  const legacy: Line[] = [
    ["board", { id: 1, method: "initialize", params: { protocolVersion: "2025-11-25" } }],
    ["server", { id: 1, result: { protocolVersion: "2025-06-18" } }],
  ];
  const modern: Line[] = [
    ["board", { id: 1, method: "initialize", params: {} }],
    ["server", { id: 1, error: { code: -32022, message: "use server/discover" } }],
    ["board", { id: 2, method: "server/discover", params: { _meta: {} } }],
    ["server", { id: 2, result: { supportedVersions: ["2026-07-28"] } }],
  ];
  const initialize = { id: 5, method: "initialize", params: { clientInfo: { name: "other" } } };
  const discover = { id: 6, method: "server/discover", params: {} };
  it.each<[string, Line[], object[]]>([
    [
      "legacy",
      legacy,
      [{ result: { protocolVersion: "2025-06-18" } }, { error: { code: -32601 } }],
    ],
    [
      "2026-07-28",
      modern,
      [{ error: { code: -32022 } }, { result: { supportedVersions: ["2026-07-28"] } }],
    ],
    [
      "made up, if the recording of a legacy server began after it",
      ECHO,
      [{ result: { capabilities: { tools: {} }, serverInfo: { name: "docs" } } }, { error: {} }],
    ],
    [
      "made up, if the recording of a modern server began after it",
      [
        [
          "board",
          {
            id: 1,
            method: "tools/list",
            params: { _meta: { "io.modelcontextprotocol/protocolVersion": "2026-07-28" } },
          },
        ],
      ],
      [
        { error: {} },
        { result: { supportedVersions: ["2026-07-28"], capabilities: { tools: {} } } },
      ],
    ],
  ])("%s", async (_, lines, answers) => {
    expect(await replay(lines, initialize, discover)).toMatchObject(answers);
  });

  it("a subscription stays open, with its notifications under the id that it has now", async () => {
    const key = "io.modelcontextprotocol/subscriptionId";
    const note = (id: number): object => ({
      method: "notifications/subscriptions/acknowledged",
      params: { _meta: { [key]: id } },
    });
    const listen = (id: number): object => ({ id, method: "subscriptions/listen", params: {} });
    const lines: Line[] = [
      ["board", listen(1)],
      ["server", note(1)],
    ];
    expect(await replay(lines, listen(42))).toEqual([note(42)]);
  });
});

describe("what is not in the recording gets an error that says so", () => {
  it.each<[string, Line[], object, number, string]>([
    [
      "other arguments",
      ECHO,
      call(1, "c"),
      -32602,
      'docs.jsonl has no tools/call echo {"text":"c"}; the nearest one in it, on line 2, is tools/call echo {"text":"a"}',
    ],
    [
      "a tool with a similar name",
      ECHO,
      { id: 1, method: "tools/call", params: { name: "ecko", arguments: {} } },
      -32602,
      'docs.jsonl has no tools/call ecko {}; the nearest one in it, on line 2, is tools/call echo {"text":"a"}',
    ],
    [
      "another method",
      ECHO,
      { id: 1, method: "prompts/list" },
      -32601,
      "docs.jsonl has no prompts/list; it has tools/call",
    ],
    [
      "an empty recording",
      [],
      call(1, "a"),
      -32601,
      "docs.jsonl has no tools/call; it has no request",
    ],
    [
      "an answer that was cut",
      [
        ["board", call(1, "a")],
        ["cut", { id: 1 }],
      ],
      call(2, "a"),
      -32602,
      "docs.jsonl line 2: the answer was too large to be recorded whole",
    ],
    [
      "an answer that is missing",
      [["board", call(1, "a")]],
      call(2, "a"),
      -32602,
      "docs.jsonl line 2: it has no answer to this request",
    ],
  ])("%s", async (_, lines, request, code, message) => {
    expect(await replay(lines, request)).toEqual([
      { id: (request as JsonObject)["id"], error: { code, message } },
    ]);
  });

  it("nothing comes back for a call that was cancelled in the recording", async () => {
    const lines: Line[] = [
      ["board", call(1, "a")],
      ["board", { method: "notifications/cancelled", params: { requestId: 1 } }],
    ];
    expect(await replay(lines, call(2, "a"))).toEqual([]);
  });
});

it("ping and a log level are always taken, and what is no message is refused", async () => {
  const sent = await replay(
    [],
    { id: 1, method: "ping" },
    { id: 2, method: "logging/setLevel", params: { level: "debug" } },
    { method: "notifications/initialized" },
    { id: 3, result: {} },
    "not JSON",
    "12",
    { id: 4 },
  );
  expect(sent).toMatchObject([
    { id: 1, result: {} },
    { id: 2, result: {} },
    { id: null, error: { code: -32700 } },
    { id: null, error: { code: -32600 } },
    { id: 4, error: { code: -32600 } },
  ]);
});

describe("a hostile", () => {
  it("recording takes no more time than its length, whatever belongs to what", async () => {
    const count = 30_000;
    const many = (line: (at: number) => Line): Line[] =>
      Array.from({ length: count }, (_, at) => line(at));
    const lines: Line[] = [
      ...many((at) => ["board", call(at, "a", { _meta: { progressToken: at } })]),
      ...many(() => ["server", { method: "notifications/message", params: {} }]),
      ...many((at) => [
        "server",
        { method: "notifications/progress", params: { progressToken: at, progress: 1 } },
      ]),
      ...many((at) => ["server", result(at, `A${at}`)]),
    ];
    expect(await replay(lines, call("x", "a"))).toEqual([result("x", "A0")]);
  });

  it("key is a key and nothing else", async () => {
    const params = '{"__proto__":{"polluted":1},"constructor":2,"name":"echo"}';
    const lines: Line[] = [
      ["board", { id: "__proto__", method: "tools/call", params: JSON.parse(params) as object }],
      ["server", result("__proto__", "A")],
    ];
    const answers = await replay(
      lines,
      `{"id":1,"method":"tools/call","params":${params}}`,
      '{"id":2,"method":"tools/call","params":{"constructor":2,"name":"echo"}}',
    );
    expect(answers).toMatchObject([result(1, "A"), { id: 2, error: { code: -32602 } }]);
    expect(({} as JsonObject)["polluted"]).toBeUndefined();
  });

  it("client cannot end it with a message that is nested too deeply", async () => {
    const deep = `{"a":${"[".repeat(50_000)}${"]".repeat(50_000)}}`;
    expect(
      await replay(ECHO, `{"id":1,"method":"tools/call","params":${deep}}`, call(2, "b")),
    ).toMatchObject([
      { id: 1, error: { code: -32600, message: "the message is nested too deeply" } },
      { id: 2, error: { code: -5 } },
    ]);
  });
});
