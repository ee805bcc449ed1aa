import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { codeVariableReason } from "../../../src/core/config/code-variables.ts";
import { loadConfig, loadConfigContent } from "../../../src/core/config/load.ts";
import { parseAgentConfig } from "../../../src/core/config/parse.ts";
import { parseSessionServers } from "../../../src/core/config/session.ts";

const CODE = [
  "NODE_OPTIONS",
  "node_options",
  "LD_PRELOAD",
  "LD_LIBRARY_PATH",
  "DYLD_INSERT_LIBRARIES",
  "PYTHONPATH",
  "PYTHONSTARTUP",
  "BASH_ENV",
  "ENV",
  "BASH_FUNC_ls%%",
  "PERL5OPT",
  "PERL5LIB",
  "RUBYOPT",
  "JAVA_TOOL_OPTIONS",
  "GIT_SSH_COMMAND",
  "npm_config_script_shell",
  "npm_config_script-shell",
  "NPM_CONFIG_IGNORE_SCRIPTS",
  "npm_config_registry",
  "npm_config_@scope:registry",
  "PIP_INDEX_URL",
  "UV_INDEX",
  "UV_DEFAULT_INDEX",
];
const OTHERS = [
  "HOME",
  "API_KEY",
  "NODE_ENV",
  "ENVIRONMENT",
  "PYTHONUNBUFFERED",
  "PYTHONIOENCODING",
  "GIT_AUTHOR_NAME",
  "npm_config_cache",
  "JAVA_HOME",
  "OLD_LD_",
];

describe.each(CODE)("%s", (name) => {
  const server = { command: "run", env: { [name]: "x" } };

  it("may not be set by a server that a session brings", () => {
    const reason = codeVariableReason(name) ?? "";
    expect(reason).not.toBe("");
    expect(() => parseSessionServers({ a: server }, undefined, "/")).toThrow(
      `is refused: it ${reason}; expected it in your own file, or in a script`,
    );
  });

  it("may be set in your own file and in code, and you are told", async () => {
    const told = [expect.objectContaining({ path: expect.stringContaining("env") })];
    const agent = await loadConfigContent({
      agents: { defaults: { mcp: { servers: { a: server } } } },
    });
    expect(agent.servers[0]?.target).toMatchObject({ env: { [name]: "x" } });
    expect(agent.notes).toEqual(told);
    expect(agent.warnings).toEqual([]);
    expect(parseAgentConfig({ servers: { a: server } }).notes).toEqual(told);
  });
});

it("a file of ours with its servers at the root may set one, and another application's may not", async () => {
  const text = `{ "mcpServers": { "a": { "command": "run", "env": { "PYTHONPATH": "x" } } } }`;
  const ours = await loadConfig("/x/plugboard.json", "default", { text });
  expect(ours.servers).toHaveLength(1);
  const theirs = await loadConfig("/x/claude_desktop_config.json", "default", { text });
  expect(theirs.servers).toEqual([]);
  expect(theirs.warnings[0]?.message).toBe(
    "loads modules into every program of Python, which only your own file may have; the server is left out",
  );
});

it.each(OTHERS)("%s may be set by everybody", async (name) => {
  const server = { command: "run", env: { [name]: "x" } };
  expect(parseSessionServers({ a: server }, undefined, "/").definitions).toHaveLength(1);
  expect(
    (await loadConfigContent({ agents: { defaults: { mcp: { servers: { a: server } } } } })).notes,
  ).toBeUndefined();
});

const { delimiter } = path;

describe.each([".", "bin", "./bin", "", `/usr/bin${delimiter}`, `/usr/bin${delimiter}../x`])(
  "PATH as %j",
  (PATH) => {
    it("may not be set by a session, and your own file is told of it", () => {
      const server = { command: "run", env: { PATH } };
      expect(() => parseSessionServers({ a: server }, undefined, "/")).toThrow(
        "is refused: it has a directory that is not absolute",
      );
      const { notes } = parseAgentConfig({ servers: { a: server } });
      expect(notes).toEqual([
        expect.objectContaining({ message: expect.stringContaining("is not absolute") }),
      ]);
    });

    it("leaves a server of another application's file out", async () => {
      const text = JSON.stringify({ mcpServers: { a: { command: "run", env: { PATH } } } });
      const theirs = await loadConfig("/x/claude_desktop_config.json", "default", { text });
      expect(theirs.servers).toEqual([]);
    });
  },
);

it.each(["/usr/bin", ["/usr/bin", "/opt/x/bin"].join(delimiter), "${PATH}", "~/bin"])(
  "PATH as %j may be set by everybody",
  (PATH) => {
    const server = { command: "run", env: { PATH } };
    expect(parseSessionServers({ a: server }, undefined, "/").definitions).toHaveLength(1);
    expect(parseAgentConfig({ servers: { a: server } }).notes).toBeUndefined();
  },
);

it("no remedy for what a server writes recommends one that others may not set", async () => {
  const log = new URL("../../../src/core/upstream/log/", import.meta.url);
  for (const file of await readdir(log)) {
    const text = await readFile(new URL(file, log), "utf8");
    const named = [...text.matchAll(/\b[A-Z][A-Z0-9_]{4,}(?==| in )/g)].map(([name]) => name);
    expect(named.filter((name) => codeVariableReason(name) !== undefined)).toEqual([]);
  }
});
