import { spawnSync } from "node:child_process";
import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { basename, dirname, join, relative } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import {
  type AgentConfigFormat,
  checkAgentConfig,
  removeLeftAgentConfigs,
  writeAgentConfig,
} from "../../../src/agent/front/agent-config.ts";
import { ownerName } from "../../../src/core/state/process-owner.ts";
import { temporaryDirectory } from "../../support/directory.ts";

const BOARD = {
  http: {
    url: "http://127.0.0.1:4711/mcp/abc",
    headers: [{ name: "Authorization", value: "Bearer s3cret" }],
  },
  stdio: {
    command: '/opt/a "b"/plugboard',
    args: ["serve", "--session", "s1"],
    env: [{ name: "PLUGBOARD_SESSION_TOKEN", value: "s3cret" }],
  },
};

const ENTRY = {
  type: "streamable-http",
  url: BOARD.http.url,
  headers: { Authorization: "Bearer s3cret" },
  serverToolDefaults: { include: "always", permissionRequired: false },
};
const LINE = `plugboard: ${JSON.stringify(ENTRY)}`;

let root: string;
let cwd: string;
let parent: string;

beforeEach(async () => {
  root = temporaryDirectory();
  [cwd, parent] = [join(root, "work"), join(root, "temp")];
  await mkdir(cwd);
});

async function write(files: Record<string, string>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(cwd, path)), { recursive: true });
    await writeFile(join(cwd, path), text);
  }
}

async function contents(directory: string): Promise<Record<string, string>> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const texts = files.map(async (entry) => {
    const path = join(entry.parentPath, entry.name);
    return [relative(directory, path), await readFile(path, "utf8")];
  });
  return Object.fromEntries(await Promise.all(texts));
}

const TSAGENT: AgentConfigFormat = { kind: "tsagent" };
const TEMPLATE: AgentConfigFormat = { kind: "template", file: "template.json" };

describe("an agent of tsagent", () => {
  const server = (name: string): string => `  ${name}:\n    type: stdio\n    command: ${name}`;

  it.each([
    [
      "without servers",
      "# Mine\n---\nmetadata:\n  name: A\nsystemPrompt: |\n  mcpServers:\n",
      `# Mine\n---\nmcpServers:\n  ${LINE}\nmetadata:\n  name: A\nsystemPrompt: |\n  mcpServers:\n`,
    ],
    [
      "with servers",
      `mcpServers: # both\n# one\n${server("files")}\n\nrules: []\n`,
      `mcpServers: # both\n  ${LINE}\n# one\n${server("files")}\n\nrules: []\n`,
    ],
    [
      "indented by four, at the end, with the line ends of Windows",
      "metadata: {}\r\n'mcpServers':\r\n    files:\r\n      type: stdio",
      `metadata: {}\n'mcpServers':\n    ${LINE}\n    files:\n      type: stdio`,
    ],
    [
      "with a board of its own, which is replaced",
      `mcpServers:\n${server("a")}\n  "plugboard":\n    type: stdio\n    # old\n\n    args:\n    - x\n${server("b")}\nrules: []\n`,
      `mcpServers:\n  ${LINE}\n${server("a")}\n${server("b")}\nrules: []\n`,
    ],
    ["with none", "mcpServers: {} # none\nrules: []\n", `mcpServers:\n  ${LINE}\nrules: []\n`],
    ["with a key and nothing else", "mcpServers:\n", `mcpServers:\n  ${LINE}\n`],
  ])("in YAML %s gets the board, and the rest stays as it is", async (_, before, after) => {
    await write({ "my.yaml": before });
    const written = await writeAgentConfig(TSAGENT, BOARD, ["tsagent", "my.yaml", "-d"], {
      cwd,
      parent,
    });
    const [program, file, ...others] = written.command;
    expect([program, ...others]).toEqual(["tsagent", "-d"]);
    expect(file).toMatch(/my\.yaml$/);
    expect(await readFile(String(file), "utf8")).toBe(after);
    expect(await contents(cwd)).toEqual({ "my.yaml": before });
    await written.remove();
  });

  it("in a directory is copied with its variables, and with its rules while it is in JSON", async () => {
    const mine = {
      "agent/tsagent.json": JSON.stringify({ metadata: { name: "A" }, mcpServers: { a: {} } }),
      "agent/.env": "KEY=1",
      "agent/prompt.md": "Be kind.",
      "agent/rules/one.mdt": "one",
      "agent/refs/two.mdt": "two",
      "agent/notes.txt": "not of tsagent",
    };
    await write(mine);
    const command = ["npx", "@tsagent/acp-server", "./agent"];
    const written = await writeAgentConfig(TSAGENT, BOARD, command, { cwd, parent });
    const directory = String(written.command[2]);
    const { "tsagent.json": agent, ...others } = await contents(directory);
    expect(JSON.parse(String(agent))).toEqual({
      metadata: { name: "A" },
      mcpServers: { plugboard: ENTRY, a: {} },
    });
    expect(others).toEqual({
      ".env": "KEY=1",
      "prompt.md": "Be kind.",
      [join("rules", "one.mdt")]: "one",
      [join("refs", "two.mdt")]: "two",
    });
    expect(await contents(cwd)).toEqual(mine);
    await written.remove();
  });

  it.each([
    ["my.yaml", "mcpServers:\n  a:\n    type: stdio\n"],
    ["my.yaml", `mcpServers:\n  ${LINE}\n  a:\n    type: stdio\n`],
    ["my.json", JSON.stringify({ mcpServers: { a: { type: "stdio" }, plugboard: {} } })],
  ])("has no board in its %s as long as it has no session", async (name, text) => {
    await write({ [name]: text });
    const written = await writeAgentConfig(TSAGENT, undefined, ["x", name], { cwd, parent });
    const said = await readFile(String(written.command[1]), "utf8");
    expect(said).not.toContain("plugboard");
    expect(said).toContain("stdio");
    await written.remove();
  });

  it.each<[string, Record<string, string>, string[], string]>([
    [
      "is not there",
      {},
      ["tsagent", "my.yaml"],
      "no agent of tsagent is named in `tsagent my.yaml`",
    ],
    ["is only the program", { "a.yaml": "a: 1" }, ["a.yaml"], "no agent of tsagent is named"],
    [
      "is one of two",
      { "a.yaml": "a: 1", "b/tsagent.yml": "a: 1" },
      ["x", "a.yaml", "b"],
      "a.yaml and b are both agents of tsagent",
    ],
    ["is empty", { "a.yaml": "# soon\n" }, ["x", "a.yaml"], "a.yaml is empty"],
    [
      "has its servers in one line",
      { "a.yaml": "mcpServers: { a: { type: stdio } }\n" },
      ["x", "a.yaml"],
      "mcpServers are not written line by line",
    ],
    [
      "has its servers in braces below",
      { "a.yaml": "mcpServers:\n  { a: { type: stdio } }\n" },
      ["x", "a.yaml"],
      "mcpServers are not written line by line",
    ],
    [
      "is indented",
      { "a.yaml": "  a: 1\n" },
      ["x", "a.yaml"],
      "its outermost keys are not written",
    ],
    ["is invalid JSON", { "a.json": "{" }, ["x", "a.json"], "a.json is not valid JSON"],
    ["is no object", { "a.json": "[]" }, ["x", "a.json"], "a.json is not an object"],
  ])(
    "that %s is refused with the reason, and nothing is written",
    async (_, files, command, why) => {
      await write(files);
      const refused = { code: "CONFIG_INVALID", message: expect.stringContaining(why) as string };
      await expect(checkAgentConfig(TSAGENT, command, { cwd })).rejects.toMatchObject(refused);
      const writing = writeAgentConfig(TSAGENT, BOARD, command, { cwd, parent });
      await expect(writing).rejects.toMatchObject(refused);
      expect(await readdir(root)).toEqual(["work"]);
    },
  );
});

describe("a template", () => {
  it("is filled in, and the command says where it is", async () => {
    const template = `{ "url": "{url}", "auth": "Bearer {token}", "run": ["{command}", {args}], "env": {env}, "say": "{{name}}" }`;
    await write({ "template.json": template });
    const command = ["my-agent", "--config={config}", "{config}", "other"];
    const written = await writeAgentConfig(TEMPLATE, BOARD, command, { cwd, parent });
    const [, option, file, other] = written.command;
    expect([option, other]).toEqual([`--config=${file}`, "other"]);
    expect(JSON.parse(await readFile(String(file), "utf8"))).toEqual({
      url: BOARD.http.url,
      auth: "Bearer s3cret",
      run: [BOARD.stdio.command, BOARD.stdio.args],
      env: { PLUGBOARD_SESSION_TOKEN: "s3cret" },
      say: "{name}",
    });
    expect(await contents(cwd)).toEqual({ "template.json": template });
    await written.remove();
  });

  it("may have any name", async () => {
    const name = "$&$'$1.json";
    await write({ [name]: '{ "url": "{url}", "token": "{token}" }' });
    const format = { kind: "template", file: name } as const;
    const written = await writeAgentConfig(format, BOARD, ["x", "{config}"], { cwd, parent });
    expect(basename(String(written.command[1]))).toBe(name);
    await written.remove();
  });

  it("leads nowhere as long as there is no session", async () => {
    await write({ "template.json": '{ "url": "{url}", "token": "{token}" }' });
    const written = await writeAgentConfig(TEMPLATE, undefined, ["x", "{config}"], { cwd, parent });
    expect(JSON.parse(await readFile(String(written.command[1]), "utf8"))).toEqual({
      url: "http://127.0.0.1:9/",
      token: "",
    });
    await written.remove();
  });

  it.each<[string, string | undefined, string[], string]>([
    ["is missing", undefined, ["x", "{config}"], "template.json cannot be read"],
    ["is missing, with no place in the command", undefined, ["x"], "template.json cannot be read"],
    ["has no place in the command", "{url}{token}", ["x"], "where its configuration goes: `x`"],
    [
      "has an unknown placeholder",
      "{url}{token}{port}",
      ["x", "{config}"],
      "has {port}, which is unknown",
    ],
    ["does not name the board", "{}", ["x", "{config}"], "does not name the board"],
    ["has no token", '"{url}"', ["x", "{config}"], "has {url} but not {token}"],
    ["has no environment", '"{command}" {args}', ["x", "{config}"], "has {command} but not {env}"],
  ])("that %s is refused with the reason", async (_, template, command, why) => {
    if (template !== undefined) await write({ "template.json": template });
    await expect(checkAgentConfig(TEMPLATE, command, { cwd })).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringContaining(why) as string,
      hint: expect.any(String) as string,
    });
  });
});

describe("the files", () => {
  it("are private, each process has its own, and they are gone when it ends", async () => {
    await write({ "my.yaml": "a: 1\n", ".env": "KEY=1" });
    const make = () => writeAgentConfig(TSAGENT, BOARD, ["x", "my.yaml"], { cwd, parent });
    const [one, two] = [await make(), await make()];
    const file = String(one.command[1]);
    expect(file).not.toBe(two.command[1]);
    const modes = [parent, dirname(file), file, join(dirname(file), ".env")].map(
      async (path) => (await stat(path)).mode & 0o777,
    );
    expect(await Promise.all(modes)).toEqual([0o700, 0o700, 0o600, 0o600]);
    await Promise.all([one.remove(), one.remove(), two.remove()]);
    expect(await readdir(parent)).toEqual([]);
  });

  it("of a front that was killed are removed by the next one, and no others", async () => {
    await write({ "my.yaml": "a: 1\n" });
    const written = await writeAgentConfig(TSAGENT, BOARD, ["x", "my.yaml"], { cwd, parent });
    const mine = dirname(String(written.command[1]));
    const ended = spawnSync(process.execPath, ["--version"]).pid;
    const [host, boot, space] = ownerName().split("-");
    await mkdir(join(parent, `plugboard-agent-${host}-${boot}-${space}-${ended}-1.aaaaaa`));
    await mkdir(join(parent, "plugboard-agent-of-somebody.else"));
    await removeLeftAgentConfigs(parent);
    expect((await readdir(parent)).map((name) => join(parent, name)).sort()).toEqual(
      [mine, join(parent, "plugboard-agent-of-somebody.else")].sort(),
    );
    await written.remove();
  });

  it("that cannot be written are reported, and nothing is left", async () => {
    await write({ "my.yaml": "a: 1\n", blocked: "" });
    const writing = writeAgentConfig(TSAGENT, BOARD, ["x", "my.yaml"], {
      cwd,
      parent: join(cwd, "blocked", "deep"),
    });
    await expect(writing).rejects.toMatchObject({
      code: "SYSTEM_ERROR",
      message: expect.stringContaining(
        "the configuration for the agent cannot be written",
      ) as string,
    });
  });
});
