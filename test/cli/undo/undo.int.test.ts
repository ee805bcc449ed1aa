import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeEach, describe, expect, it } from "vitest";
import { enterPage } from "../../support/page-api.ts";
import { Sink, useScratch } from "../harness.ts";

const scratch = useScratch();

const ECHO = fileURLToPath(new URL("../../fixtures/servers/echo.mjs", import.meta.url));
const BUNDLE = fileURLToPath(new URL("../../fixtures/bundles/hello.mcpb", import.meta.url));
const KEY = "ghp_abcdefghijklmnopqrstuvwxyz012345";
/** Has the form of a token, and is none. */
const COMMENTED = `ghp_${"Ab1".repeat(12)}`;

/** A byte order mark, tabs, comments, both kinds of quotes and of line ends: nothing that a writer would make anew. */
const FILE = `\uFEFF{\r
\t// ours
\t'mcpServers': {
\t\t"files": { command: "files", }, /* first */
\t\t// the web
\t\t"web": { "url": "https://a.example/mcp", "headers": { "Authorization": "Bearer ${KEY}" } },
\t\t"last": { "command": "last", "enabled": false, "env": { "T": "secret://file/keys.json#last-T", "E": "secret://env/E" } } // slow
\t},
}
`;

let home: string;
let own: string;

beforeEach(() => {
  home = join(scratch.directory, "home");
  mkdirSync(home, { mode: 0o700 });
  own = scratch.file("home/plugboard.json", FILE);
});

async function fine(...argv: string[]) {
  const finished = await scratch.run(argv);
  expect(finished).toMatchObject({ code: 0 });
  return finished;
}

const read = (): string => readFileSync(own, "utf8");
const yes = ["--yes", "--no-check"];

describe("plugboard undo", () => {
  it.each([
    [["remove", "files"]],
    [["remove", "web"]],
    [["remove", "last"]],
    [["disable", "web"]],
    [["enable", "last"]],
    [["add", "more", ...yes, "--", "more"]],
    [["add", "web", "--force", ...yes, "--", "more"]],
    [["import", "--from", "./other.json", "--write", "--yes", "--no-check"]],
  ])("after %j gives the file back, byte for byte", async (argv) => {
    scratch.file("other.json", { mcpServers: { other: { command: "other" } } });
    await fine(...argv);
    expect(read()).not.toBe(FILE);
    expect((await fine("undo")).stdout).toMatch(/^undid ".*": .* is what it was before\n$/);
    expect(read()).toBe(FILE);
    expect((await scratch.run(["undo"])).stderr).toContain("there is no change to undo");
  });

  it("goes back change by change, also those of other files, and lists them", async () => {
    const named = scratch.file("named.jsonc", '{ "mcpServers": { "a": { "command": "a" } } }');
    await fine("disable", "web");
    await fine("remove", "a", "--config", named);
    await fine("remove", "files");
    expect(JSON.parse((await fine("undo", "--list", "--json")).stdout)).toMatchObject([
      { number: 1, what: "remove files", file: own },
      { number: 2, what: "remove a", file: named },
      { number: 3, what: "disable web", file: own },
    ]);
    const narrow = new Sink({ columns: 80 });
    await scratch.run(["undo", "--list"], { stdout: narrow });
    expect(narrow.text).toMatch(/^2 .*remove a/m);
    expect((await scratch.run(["undo", "4"])).stderr).toContain("there is no change 4, only 3");
    // A file of another directory is not meant by accident.
    const other = await scratch.run(["undo", "2"]);
    expect(other).toMatchObject({
      code: 4,
      stderr: expect.stringContaining(`"remove a" in ${named}`),
    });
    await fine("undo", "--config", named);
    expect(scratch.read("named.jsonc")).toContain('"command": "a"');
    await fine("undo");
    await fine("undo");
    expect(read()).toBe(FILE);
  });

  it("keeps ten changes, sealed, and what a bundle needs as long as its removal is one of them", async () => {
    await fine(
      "add",
      "hello",
      BUNDLE,
      "--set",
      "greeting=Hi",
      "--set",
      "api_key=${API_KEY}",
      ...yes,
    );
    const bundles = (): string[] =>
      readdirSync(join(home, "bundles")).filter((name) => /^[^.].*[0-9a-f]{32}$/.test(name));
    const [bundle] = bundles();
    await fine("remove", "hello");
    expect(bundles()).toEqual([bundle]);
    const stored = readFileSync(join(home, "undo", "changes.json"), "utf8");
    expect(stored).toContain("remove hello");
    expect(stored).not.toContain(KEY);
    await fine("undo");
    expect(read()).toContain(bundle);
    await fine("remove", "hello");
    for (let round = 0; round < 5; round += 1) {
      expect(bundles()).toEqual([bundle]);
      await fine("disable", "web");
      await fine("enable", "web");
    }
    expect(bundles()).toEqual([]);
    const { stdout } = await fine("undo", "--list", "--json");
    expect(JSON.parse(stdout)).toHaveLength(10);
  });

  it("refuses with the difference if the file has changed since, and shows no credential", async () => {
    await fine("remove", "files");
    const removed = read();
    const edited = removed
      .replace("// the web", `"new": { "command": "new" },\n// Was ${COMMENTED}`)
      .replace(KEY, `${KEY}9`);
    writeFileSync(own, edited);
    const { code, stderr } = await scratch.run(["undo"]);
    expect(code).toBe(2);
    expect(stderr).toContain(`${own} has changed since "remove files", so that was not undone:`);
    expect(stderr).toMatch(/^ +\+ .*"new": \{ "command": "new" \},$/m);
    expect(stderr).toMatch(/^ +- .*\/\/ the web$/m);
    expect(stderr).not.toContain(KEY);
    expect(stderr).not.toContain(COMMENTED);
    expect(read()).toBe(edited);
    writeFileSync(own, "{");
    expect((await scratch.run(["undo"])).stderr).toContain("is not valid any more");
    rmSync(own);
    expect((await scratch.run(["undo"])).stderr).toContain('is gone, so "remove files" was not');
    expect(existsSync(own)).toBe(false);
    writeFileSync(own, removed);
    await fine("undo");
    expect(read()).toBe(FILE);
  });

  it("gives no trust back: what returns waits, and what was added is not trusted any more", async () => {
    const file = join(scratch.directory, "plugboard.json");
    const project = { mcpServers: { a: { command: "a" }, b: { command: "b" } } };
    scratch.file("plugboard.json", project);
    const waiting = async (): Promise<string> => (await scratch.run(["trust"])).stderr;
    await fine("trust", "--yes");
    await fine("remove", "b", "-s", "project");
    const { stderr } = await fine("undo");
    expect(stderr).toContain("what is new in it does not start");
    expect(stderr).toContain("plugboard trust");
    expect(await waiting()).toMatch(/added: server b\n/);
    await fine("trust", "--yes");
    await fine("add", "c", "-s", "project", ...yes, "--", "c");
    expect((await fine("undo")).stderr).toContain("not undone: what c may have done since");
    expect((await fine("trust")).stdout).toContain("is already trusted");
    scratch.file("plugboard.json", { mcpServers: { ...project.mcpServers, c: { command: "c" } } });
    expect(await waiting()).toMatch(/added: server c\n/);
    rmSync(file);
    await fine("add", "c", "-s", "project", ...yes, "--", "c");
    expect((await fine("undo")).stdout).toContain("was made for it, and is removed");
    expect(existsSync(file)).toBe(false);
    scratch.file("plugboard.json", { mcpServers: { c: { command: "c" } } });
    expect(await waiting()).toContain("is not trusted");
  });

  it("undoes a change of the page, and the gateway follows", async () => {
    const echo = { command: process.execPath, args: [ECHO] };
    writeFileSync(own, JSON.stringify({ mcpServers: { echo } }));
    const before = read();
    const { stderr } = await scratch.up([]);
    const page = await enterPage((await fine("ui", "--print")).stdout.trim());
    const change = { kind: "server", action: "remove", agent: "default", server: "echo" } as const;
    const { hash } = await page.ask("changes/preview", { change });
    expect(await page.ask("changes/confirm", { hash })).toEqual({});
    expect((await fine("undo", "--list")).stdout).toContain("remove echo (in the page)");
    await fine("undo");
    expect(read()).toBe(before);
    await expect.poll(async () => (await page.ask("tools/list", {})).total).toBeGreaterThan(0);

    // Somebody uses it now.
    const url = /http:\/\/[\d.]+:\d+/.exec(stderr.text)?.[0];
    const token = scratch.read("home/gateway/token").trim();
    const clientInfo = { name: "Some Editor", version: "1" };
    const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };
    const { ok } = await fetch(`${url}/mcp`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params }),
    });
    expect(ok).toBe(true);
    const asked = await scratch.run(["remove", "echo"]);
    expect(asked).toMatchObject({ code: 4 });
    expect(asked.stderr).toContain("Some Editor uses the running gateway, and would lose echo\n");
    expect(read()).toBe(before);
    await fine("remove", "echo", "--yes");
  });
});
