// What a server writes to its stdout.

import assert from "node:assert/strict";
import { isDeepStrictEqual } from "node:util";
import { PlugboardError } from "../../../src/core/types/errors.ts";
import { isJsonObject, tryParseJson } from "../../../src/core/types/json.ts";
import { settle } from "../../support/manual-clock.ts";
import { openTransport } from "../../support/stdio-peer.ts";
import { inChunks, type Target } from "../target.ts";

const LONGEST_LINE = 1024;
/** The ids of the two calls that are under way. */
const [FIRST, SECOND] = [100_000_000, 100_000_001];

export function serverLines(): Target {
  return {
    about: "JSON-RPC lines from a server on stdio",
    covers: [
      "core/upstream/transport/stdio.ts",
      "core/upstream/transport/pending-calls.ts",
      "core/upstream/transport/dropped-line.ts",
      "util/line-reader.ts",
    ],
    seeds: () => [
      `{"jsonrpc":"2.0","id":${FIRST},"result":{"content":[]}}\n{"jsonrpc":"2.0","id":"${SECOND}","error":{"code":-32602,"message":"no"}}\n`,
      `[{"jsonrpc":"2.0","id":${FIRST},"result":{}},{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}]\r\n`,
      `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":${FIRST},"progress":0.5}}\n`,
      `{"jsonrpc":"2.0","id":7,"method":"sampling/createMessage","params":{"messages":[]}}\n`,
      `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}\n`,
      `{"jsonrpc":"2.0","id":1e400,"result":{}}\n{"jsonrpc":"2.0","id":-1,"result":{}}\n{"jsonrpc":"2.0","id":1.5,"result":{}}\n`,
      `Server listening on port 3000\n\u001b[32mready\u001b[0m\n\n42\nnull\n"text"\n{}\n[]\n`,
      `\uFEFF{"jsonrpc":"2.0","id":${FIRST},"result":{}}\n{"id":${SECOND},"result":NaN}\n`,
      `{"jsonrpc":"2.0","id":${FIRST},"result":{"text":"${"x".repeat(LONGEST_LINE)}"}}\n`,
      Buffer.from(`{"id":${FIRST},"result":{}}\n`, "utf16le"),
    ],
    words: [
      "\n",
      "\r\n",
      String(FIRST),
      String(SECOND),
      '"id":',
      '"result":',
      '"error":',
      '"method":',
      '"jsonrpc":"2.0"',
      '"notifications/cancelled"',
    ],
    async run(input) {
      const { transport, stdout, junk, fatal, forSdk } = openTransport(LONGEST_LINE);
      const calls = [FIRST, SECOND].map(() => transport.callTool("add", {}, { timeout: 1000 }));
      const outcomes = calls.map((call) =>
        call.then(
          (result) => ({ result }),
          (error: unknown) => ({ error }),
        ),
      );
      for (const chunk of inChunks(input)) stdout.write(chunk);
      stdout.end();
      await settle();
      assert.equal(fatal.length, 1, "the end of the output ends the conversation once");
      transport.end(fatal[0] ?? new PlugboardError("CONNECTION_CLOSED", "closed"));
      const written = messagesIn(input);
      for (const message of forSdk) {
        assert.ok(
          written.some((each) => isDeepStrictEqual(each, message)),
          "the SDK gets what JSON.parse makes of a line, and nothing else",
        );
      }
      for (const outcome of await Promise.all(outcomes)) {
        if ("error" in outcome) {
          assert.ok(outcome.error instanceof PlugboardError, "a call fails with an error of ours");
        } else {
          assert.ok(
            written.some(
              (each) => isJsonObject(each) && isDeepStrictEqual(each.result, outcome.result),
            ),
            "a call's result is one that the server wrote",
          );
        }
      }
      for (const line of junk)
        assert.ok(Buffer.byteLength(line) <= 3 * LONGEST_LINE, "a dropped line is bounded");
    },
  };
}

function messagesIn(input: Buffer): unknown[] {
  return input
    .toString("utf8")
    .split("\n")
    .map(tryParseJson)
    .flatMap((message) => (Array.isArray(message) ? (message as unknown[]) : [message]));
}
