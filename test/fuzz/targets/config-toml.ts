// A configuration file in TOML: read, edited and loaded.

import assert from "node:assert/strict";
import { isDeepStrictEqual } from "node:util";
import { parse } from "smol-toml";
import { loadConfig } from "../../../src/core/config/load.ts";
import { removeTable, setTable, tomlValueAt } from "../../../src/core/config/text/edit-toml.ts";
import { parseToml, tomlTables } from "../../../src/core/config/text/toml.ts";
import { filesIn, refusing, type Target } from "../target.ts";

const PATH = ["mcp_servers", "plugboard"];
const VALUES = { command: "npx", args: ["-y", 'a "b"\u007f'], env: { "A.B": "1" } };

export function configToml(): Target {
  return {
    about: "configuration files in TOML",
    covers: [
      "core/config/text/toml.ts",
      "core/config/text/edit-toml.ts",
      "core/config/foreign/codex.ts",
    ],
    seeds: () => [
      '[mcp_servers.plugboard]\ncommand = "a"\n\n[mcp_servers.plugboard.env]\nA = "b"\n\n[other]\nx = 1\n',
      'a = """x\n"quoted""""\nb = \'\'\'raw\'\'\'\n[[list]]\nx = 1\n[[list]]\nx = 2 # why\n',
      '"quoted key".b = [1, [2, "]"], { c = "}" }]\r\ndate = 2026-11-18T00:00:00Z\r\n',
      "# only a comment",
      "mcp_servers = { plugboard = { command = 'x' } }\n",
      "mcp_servers.plugboard.command = 'x'\n[mcp_servers.other]\ncommand = 'y'\n",
      "x = 0x1F\ny = inf\nz = -nan\nw = 1_000\nv = 9007199254740993\n",
      ...filesIn("fixtures/foreign", /\.toml$/),
    ],
    words: [
      "[",
      "]",
      "[[",
      "]]",
      "=",
      '"""',
      "'''",
      "#",
      "\\",
      "mcp_servers",
      "plugboard",
      ".",
      "{",
      "}",
      "1979-05-27",
      "\\U0010FFFF",
    ],
    async run(input) {
      const text = input.toString("utf8");
      const parsed = parseToml(text);
      const lines = text.split("\n").length;
      if (parsed.kind === "malformed") {
        assert.ok(
          parsed.position === undefined || parsed.position.line <= lines + 1,
          "a mistake is at a line of the file",
        );
      } else {
        parse(text);
        const tables = tomlTables(text);
        for (const { start, end } of tables)
          assert.ok(start <= end && end <= text.length, "a table is in the text");
      }
      await edit(text);
      await refusing(
        () =>
          loadConfig("/nowhere/.codex/config.toml", "default", {
            cwd: "/nowhere",
            homedir: "/home",
            text,
          }),
        "CONFIG_INVALID",
      );
    },
  };
}

async function edit(text: string): Promise<void> {
  const before = await refusing(() => tomlValueAt(text, []), "CONFIG_INVALID");
  const set = await refusing(() => setTable(text, PATH, VALUES), "CONFIG_INVALID");
  if ("refused" in before) {
    assert.ok("refused" in set, "a text that cannot be read is not changed");
    return;
  }
  if ("refused" in set) return;
  assert.ok(isDeepStrictEqual(plain(tomlValueAt(set.value, PATH)), VALUES), "the table is there");
  if (tomlValueAt(text, PATH) === undefined)
    assert.ok(set.value.startsWith(text), "a new table leaves every byte");
  const removed = await refusing(() => removeTable(set.value, PATH), "CONFIG_INVALID");
  if ("refused" in removed) return;
  assert.equal(tomlValueAt(removed.value, PATH), undefined, "the table is gone again");
  if (tomlValueAt(text, PATH) === undefined) {
    assert.equal(
      removed.value.trimEnd(),
      text.trimEnd(),
      "and the rest is byte for byte what it was",
    );
  }
}

function plain(value: unknown): unknown {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).map(([key, each]) => [key, plain(each)]))
    : value;
}
