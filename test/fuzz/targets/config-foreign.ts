// The files of other applications: read as configurations, and changed by `connect`.

import assert from "node:assert/strict";
import { loadConfig } from "../../../src/core/config/load.ts";
import { CONNECTED } from "../../../src/install/applications/applications.ts";
import {
  applied,
  readValue,
  takeBack,
  undone,
  withEntries,
} from "../../../src/install/applications/entry-text.ts";
import { filesIn, refusing, type Target } from "../target.ts";

const FILES = [
  ".mcp.json",
  ".claude.json",
  ".cursor/mcp.json",
  ".vscode/mcp.json",
  ".gemini/settings.json",
  ".config/zed/settings.json",
  ".openclaw/openclaw.json",
  "opencode.jsonc",
  "cline_mcp_settings.json",
  ".codeium/windsurf/mcp_config.json",
  ".codex/config.toml",
  "tsagent.json",
];
const START = {
  command: "/usr/bin/node",
  args: ["/x/dist/bin.cjs"],
  env: { A: "b" },
  variables: ["T"],
};

export function configForeign(): Target {
  return {
    about: "other applications' files, the first byte says whose",
    covers: [
      "core/config/foreign/",
      "install/applications/entry-text.ts",
      "install/applications/applications.ts",
    ],
    seeds: () =>
      filesIn("fixtures/foreign").map((file, at) =>
        Buffer.concat([Buffer.of(48 + (at % 64)), file]),
      ),
    words: [
      "mcpServers",
      "servers",
      "context_servers",
      "mcp",
      "command",
      "args",
      "env",
      "url",
      "type",
      "headers",
      "disabled",
      "enabled",
      "projects",
      "inputs",
      "${input:",
      "${env:",
      "{env:",
      "${workspaceFolder}",
      "includes",
    ],
    longest: 8192,
    async run(input) {
      const which = input[0] ?? 0;
      const text = input.subarray(1).toString("utf8");
      const file = `/nowhere/${FILES[which % FILES.length]}`;
      await refusing(
        () => loadConfig(file, "default", { cwd: "/nowhere", homedir: "/home", text }),
        "CONFIG_INVALID",
      );
      const application = CONNECTED[which % CONNECTED.length];
      assert.ok(application !== undefined);
      const { syntax, entries } = application;
      const read = await refusing(() => readValue(syntax, text, file), "CONFIG_INVALID");
      if ("refused" in read) return;
      const wanted = entries(START, read.value);
      const edited = await refusing(
        () => withEntries(syntax, text, { wanted }, file),
        "CONFIG_INVALID",
      );
      if ("refused" in edited) return;
      const { text: after, splices } = edited.value;
      assert.equal(applied(text, splices), after, "the splices are the change");
      assert.equal(takeBack(after, splices), text, "the change can be taken back byte for byte");
      assert.equal(applied(after, undone(splices)), text, "and be undone");
      const again = withEntries(syntax, after, { wanted }, file);
      assert.deepEqual(again.splices, [], "what is there is not written again");
      application.own?.(read.value);
      application.kept?.(read.value);
    },
  };
}
