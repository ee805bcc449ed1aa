// What an editor writes to the agent.

import assert from "node:assert/strict";
import { serveAcp } from "../../../src/agent/acp/serve.ts";
import { openBoard } from "../../../src/core/board/board.ts";
import { isJsonObject, type JsonObject, tryParseJson } from "../../../src/core/types/json.ts";
import { excessIn } from "../../../src/util/measure-json.ts";
import { ECHO, inChunks, type Target } from "../target.ts";

const PATIENCE_MS = 5000;

const line = (id: unknown, method: string, params: unknown): string =>
  `${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`;
/** Stands for the id of a session that is there. */
const SESSION = "$SESSION";
const INITIALIZE = line(0, "initialize", {
  protocolVersion: 1,
  clientCapabilities: { fs: { readTextFile: true } },
});

/** A prompt of one block. */
const said = (block: object): string =>
  line("said", "session/prompt", { sessionId: SESSION, prompt: [block] });

const BEGIN = INITIALIZE + line("begin", "session/new", { cwd: "/", mcpServers: [] });

export async function acpLines(): Promise<Target> {
  const board = await openBoard({ servers: {} }, { native: [ECHO] });
  return {
    about: "lines from an editor to the ACP agent",
    covers: [
      "agent/acp/serve.ts",
      "agent/acp/wire/",
      "agent/acp/session/",
      "agent/acp/commands/",
      "agent/acp/servers/",
    ],
    seeds: () => [
      INITIALIZE + line(1, "session/new", { cwd: "/", mcpServers: [] }),
      INITIALIZE +
        line(1, "session/new", {
          cwd: "/",
          mcpServers: [
            { name: "a", command: "/bin/a", args: [], env: [{ name: "A", value: "b" }] },
          ],
        }),
      INITIALIZE +
        line(1, "session/new", {
          cwd: "/",
          mcpServers: [
            { type: "http", name: "b", url: "https://example.com/mcp", headers: [] },
            { type: "sse", name: "c", url: "https://example.com", headers: [] },
          ],
        }),
      line("a", "session/prompt", {
        sessionId: SESSION,
        prompt: [
          { type: "text", text: "/help" },
          { type: "resource_link", uri: "file:///a", name: "a" },
        ],
      }),
      ...[
        "/tools",
        "/mcp",
        "/mcp a",
        "/call echo text=hi",
        '/call echo {"text": "hi"}',
        "/resources",
        "/read a file:///a",
      ].map((text) => said({ type: "text", text })),
      said({ type: "image", data: "AAAA", mimeType: "image/png" }),
      said({ type: "audio", data: "AAAA", mimeType: "audio/wav" }),
      said({ type: "resource", resource: { uri: "file:///a", text: "b", mimeType: "text/plain" } }),
      line(2, "session/load", { sessionId: SESSION, cwd: "/", mcpServers: [] }) +
        line(3, "session/list", { cursor: "x" }),
      line(4, "session/set_mode", { sessionId: SESSION, modeId: "ask" }) +
        line(5, "session/set_config_option", { sessionId: SESSION, configId: "model", value: "x" }),
      line(6, "authenticate", { methodId: "x" }) +
        line(undefined, "session/cancel", { sessionId: SESSION }),
      '{"jsonrpc":"2.0","id":7,"result":{}}\n[]\n{}\nnot json\n\n{"jsonrpc":"2.0","id":null,"method":"initialize"}\n',
      '{"jsonrpc":"2.0","id":{},"method":"session/new"}\n{"id":8,"method":"session/close","params":{"sessionId":"__proto__"}}\n',
      `{"jsonrpc":"2.0","id":9,"method":"session/new","params":${"[".repeat(500)}${"]".repeat(500)}}\n`,
    ],
    words: [
      "\n",
      "session/resume",
      "session/delete",
      "session/fork",
      "mcp/message",
      "_plugboard/message_refused",
      "$/cancel_request",
      "additionalDirectories",
      "embeddedContext",
    ],
    async run(input) {
      const output: Buffer[] = [];
      const asked = messagesIn(input.toString("utf8")).filter(isRequest).map(idOf);
      // A line that is too much to be parsed is answered under an id that may be anywhere in it.
      const refused = input
        .toString("utf8")
        .split("\n")
        .filter((each) => excessIn(each) !== undefined);
      const ids = asked.filter(
        (id) =>
          asked.indexOf(id) === asked.lastIndexOf(id) && !refused.some((each) => each.includes(id)),
      );
      const answered = (): string[] => answersIn(output).map(idOf);
      await serveAcp({
        input: new ReadableStream({
          async start(controller) {
            controller.enqueue(Buffer.from(BEGIN));
            await untilQuiet(() => answered().includes('"begin"'));
            const begun = Buffer.concat(output.splice(0));
            const sent = Buffer.from(
              input.toString("latin1").replaceAll(SESSION, sessionIn(begun)),
              "latin1",
            );
            for (const chunk of inChunks(sent)) controller.enqueue(Uint8Array.from(chunk));
            controller.enqueue(Buffer.from("\n"));
            await untilQuiet(() => ids.every((id) => answered().includes(id)));
            controller.close();
          },
        }),
        output: new WritableStream({
          write: (chunk: Uint8Array) => void output.push(Buffer.from(chunk)),
        }),
        // What a fuzzer makes up must not be started.
        openSession: (options) => board.openSession({ ...options, servers: {}, startupWait: 0 }),
        mcpOverAcp: true,
      });
      for (const id of ids) {
        const times = answered().filter((each) => each === id).length;
        assert.equal(times, 1, `the request ${id} has one answer`);
      }
    },
    close: () => board.close(),
  };
}

/** Waits no longer than any honest answer takes, also the first one, which has code to load. */
async function untilQuiet(isAnswered: () => boolean): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  while (!isAnswered() && performance.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

function sessionIn(output: Buffer): string {
  return /"sessionId":"([^"]+)"/.exec(output.toString("latin1"))?.[1] ?? "";
}

/** Throws where the agent has written something else than messages. */
function answersIn(output: readonly Buffer[]): JsonObject[] {
  return messagesIn(Buffer.concat(output).toString("utf8")).flatMap((message) => {
    assert.ok(isJsonObject(message) && message["jsonrpc"] === "2.0", "every line is a message");
    return "method" in message ? [] : [message];
  });
}

/** As the SDK reads them: what JavaScript takes for white space may be around each. */
function messagesIn(text: string): unknown[] {
  return text
    .split("\n")
    .map((each) => each.trim())
    .filter((each) => each !== "")
    .map(tryParseJson);
}

/** One that must be answered: what JSON-RPC calls a request. */
function isRequest(value: unknown): value is JsonObject {
  if (!isJsonObject(value) || value["jsonrpc"] !== "2.0") return false;
  const { id, method } = value;
  return typeof method === "string" && (typeof id === "string" || Number.isSafeInteger(id));
}

function idOf(message: JsonObject): string {
  return JSON.stringify(message["id"]);
}
