// A configuration file in JSON, JSONC or JSON5: read, edited and loaded.

import assert from "node:assert/strict";
import { isDeepStrictEqual } from "node:util";
import { tokenize } from "@humanwhocodes/momoa";
import { loadConfig } from "../../../src/core/config/load.ts";
import { parseText } from "../../../src/core/config/text/document.ts";
import { removeValue, setValue, valueAt } from "../../../src/core/config/text/edit.ts";
import { tryParseJson } from "../../../src/core/types/json.ts";
import { isDeeperThan } from "../../../src/util/json-depth.ts";
import { filesIn, refusing, type Target } from "../target.ts";

type Path = readonly string[];

/** What `add`, `enable`, `secrets move` and `connect` change. */
const PATHS: readonly Path[] = [
  ["mcpServers", "new"],
  ["a"],
  ["mcpServers"],
  ["agents", "defaults", "mcp", "servers", "fs"],
];
const VALUE = { command: "npx", args: ["-y", 'it\'s "x"\u2028'], env: { A: "1" } };

export function configJson(): Target {
  return {
    about: "configuration files in JSON, JSONC and JSON5",
    covers: [
      "core/config/text/document.ts",
      "core/config/text/edit.ts",
      "core/config/text/syntax.ts",
      "core/config/config-file.ts",
      "core/config/load.ts",
      "core/config/schema/",
      "core/config/layers/",
    ],
    seeds: () => [
      '{ "mcpServers": { "fs": { "command": "npx", "args": ["-y", "x", "${HOME}"] } } }',
      "{\n  // mine\n  mcpServers: {\n    web: { url: 'https://example.com/mcp', headers: { Authorization: 'Bearer ${T:-x}' } }, /* x */\n  },\n}\n",
      '{ agents: { defaults: { mcp: { servers: { a: { command: "a", tools: { allow: ["@readOnly"], deny: ["x_*"] }, timeout: "30s" } } }, tools: { approval: "ask" } }, list: [{ id: "b", mcp: { servers: {} } }] } }',
      '\uFEFF{"a":0x1F,"b":.5,"c":+Infinity,"d":-NaN,"e":"\\u2028\\x41\\\n","f":\'\\\'\'}',
      "[1,2,[3,{}],]",
      "// only a comment",
      '{"a":1,"a":2,"__proto__":{"b":1},"constructor":3}',
      '{"audit":{"file":"a.jsonl","arguments":true},"network":{"allow":["10.0.0.0/8"]},"models":{"default":"x"},"gateway":{"port":1}}',
      ...filesIn("fixtures/foreign", /\.jsonc?$|\.json5$/),
    ],
    words: [
      "//",
      "/*",
      "*/",
      ",",
      "secret://env/X",
      "${",
      ":-",
      "}",
      "agents",
      "list",
      "defaults",
      "native",
      "include",
      "scope",
      "session",
      "keepAlive",
      "roots",
      "pins",
      "sampling",
      "trusted",
      "approval",
    ],
    async run(input) {
      const text = input.toString("utf8");
      const plain = tryParseJson(text);
      const parsed = parseText(text);
      if (plain !== undefined && !isDeeperThan(100, plain)) {
        assert.equal(parsed.kind, "document", "what JSON.parse takes is taken here too");
        assert.ok(
          parsed.kind === "document" &&
            isDeepStrictEqual(withoutPrototypes(parsed.value), withoutPrototypes(plain)),
          "and means the same",
        );
      }
      const lines = text.split(/\r\n|[\n\r\u2028\u2029]/).length;
      if (parsed.kind === "document") {
        for (const issue of parsed.issues)
          assert.ok(parsed.locate(issue).line <= lines, "an issue is at a line of the file");
      } else {
        assert.ok(
          parsed.position === undefined || parsed.position.line <= lines,
          "a mistake is at a line of the file",
        );
        assert.ok(parsed.message.length < 1000, "a message is short");
      }
      await edit(text, PATHS[input.length % PATHS.length] ?? []);
      const loaded = await refusing(
        () =>
          loadConfig("/nowhere/plugboard.json", "default", {
            cwd: "/nowhere",
            homedir: "/home",
            text,
          }),
        "CONFIG_INVALID",
      );
      if ("refused" in loaded)
        assert.ok(loaded.refused.problems.length > 0, "a refusal says what is wrong");
      else
        assert.equal(
          parsed.kind === "document" || parsesAsToml(text),
          true,
          "only what can be read is loaded",
        );
    },
  };
}

function parsesAsToml(text: string): boolean {
  return !/^\s*[{/]/.test(text);
}

/** Sets and removes a value: everything else must stay, comments too. */
async function edit(text: string, path: Path): Promise<void> {
  const before = await refusing(() => valueAt(text, []), "CONFIG_INVALID");
  const set = await refusing(() => setValue(text, path, VALUE), "CONFIG_INVALID");
  if ("refused" in before) {
    assert.ok("refused" in set, "a text that cannot be read is not changed");
    return;
  }
  if ("refused" in set) return;
  assert.ok(
    isDeepStrictEqual(withoutPrototypes(valueAt(set.value, path)), withoutPrototypes(VALUE)),
    "the value is there",
  );
  assert.ok(
    isDeepStrictEqual(
      without(withoutPrototypes(valueAt(set.value, [])), path),
      without(withoutPrototypes(before.value ?? {}), path),
    ),
    "everything else means what it meant",
  );
  const isReplaced = valueAt(text, path) !== undefined;
  if (!isReplaced) assert.deepEqual(comments(set.value), comments(text), "every comment is there");
  const removed = removeValue(set.value, path);
  assert.equal(valueAt(removed, path), undefined, "the value is gone again");
  assert.ok(
    isDeepStrictEqual(
      without(withoutPrototypes(valueAt(removed, [])), path),
      without(withoutPrototypes(before.value ?? {}), path),
    ),
    "everything else still means what it meant",
  );
  if (!isReplaced) {
    // Comments directly above or behind an entry go with it.
    const left = comments(removed);
    assert.ok(
      left.every((each) => comments(text).includes(each)),
      "no comment is made up",
    );
  }
}

function comments(text: string): string[] {
  if (text.trim() === "") return [];
  try {
    return tokenize(text, { mode: "json5", ranges: true })
      .filter(({ type }) => type === "LineComment" || type === "BlockComment")
      .map(({ range: [start, end] = [0, 0] }) => text.slice(start, end).trimEnd());
  } catch {
    return [];
  }
}

/** The value without what `path` leads to, and without the objects on the way that are then empty. */
function without(value: unknown, path: Path): unknown {
  const [key, ...rest] = path;
  if (key === undefined || typeof value !== "object" || value === null || Array.isArray(value))
    return value;
  const object = value as Record<string, unknown>;
  const others = Object.entries(object).filter(([each]) => each !== key);
  const inner = rest.length === 0 ? undefined : without(object[key], rest);
  const isEmpty =
    inner === undefined ||
    (typeof inner === "object" &&
      inner !== null &&
      !Array.isArray(inner) &&
      Object.keys(inner).length === 0);
  return Object.fromEntries(isEmpty ? others : [...others, [key, inner]]);
}

/** As plain entries, so that `__proto__` counts like any other key. */
function withoutPrototypes(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutPrototypes);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key, withoutPrototypes(each)]),
  );
}
