// What an editor and an agent write to each other through the front, which changes single values in it.

import assert from "node:assert/strict";
import { isDeepStrictEqual } from "node:util";
import { parseLine, repeatsKey, withValue } from "../../../src/agent/front/json-bytes.ts";
import { idKey, readMessage } from "../../../src/agent/front/message.ts";
import { isJsonObject, type JsonObject } from "../../../src/core/types/json.ts";
import { readHead } from "../../../src/core/types/rpc-head.ts";
import type { Target } from "../target.ts";

const SERVERS = [{ name: "plugboard", command: "/bin/plugboard", args: ["é\n"], env: [] }];

export function frontLines(): Target {
  return {
    about: "messages that the front passes on with one value changed",
    covers: ["agent/front/json-bytes.ts", "agent/front/message.ts", "core/types/rpc-head.ts"],
    seeds: () => [
      '{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/","mcpServers":[]}}',
      ' { "id" : 1e3 , "params" : { "mcpServers" : [ { "a" : "}" } ] , "cwd" : "\\u002f" } } ',
      '{"params":{"mcpServers":[],"mcpServers":[1]},"id":"\\"}"}',
      '{"params":null,"id":-0}',
      '{"jsonrpc":"2.0","id":"x","result":{"sessionId":"s"}}',
      '{"p\\u0061rams":{},"params":{"a":[{},[],"\\\\"]}}',
      "[1,{}]",
      '{"id":1}{"id":2}',
    ],
    words: ['"params"', '"mcpServers"', "\\u006d", '\\"', "{}", "[]", ":", ","],
    run(input) {
      const head = readHead(input.toString("utf8").slice(0, 1024));
      assert.ok(
        head.id === undefined || typeof head.id === "string" || typeof head.id === "number",
      );
      const message = parseLine(input);
      if (message === undefined) return;
      const read = readMessage(message);
      if (read.kind === "request") assert.equal(typeof idKey(read.id), "string");
      const isRepeated = repeatsKey(input);
      if (!isJsonObject(message)) return;
      const changed = withValue(input, ["params", "mcpServers"], SERVERS);
      const now = JSON.parse(changed.toString("utf8")) as JsonObject;
      const params = isJsonObject(message["params"]) ? message["params"] : {};
      const expected = { ...message, params: { ...params, mcpServers: SERVERS } };
      assert.ok(isRepeated || isDeepStrictEqual(now, expected), "only the one value is another");
      if (!isRepeated) assert.equal(repeatsKey(changed), false, "the change repeats no key");
      assert.ok(isSpliced(input, changed), "every other byte is as it was");
    },
  };
}

/** One part of the bytes has become another. */
function isSpliced(before: Buffer, after: Buffer): boolean {
  let start = 0;
  while (start < before.length && before[start] === after[start]) start += 1;
  let end = 0;
  const most = Math.min(before.length, after.length) - start;
  while (end < most && before[before.length - 1 - end] === after[after.length - 1 - end]) end += 1;
  const added = after.subarray(start, after.length - end).toString("utf8");
  return added.length <= JSON.stringify(SERVERS).length + 40;
}
