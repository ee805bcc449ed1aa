// Servers that are typed, and are in no configuration: used, guarded, audited and pinned as any other.

import { chmodSync, existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { closeAll, owned, serve } from "../../fixtures/http/client.ts";
import { startOAuth } from "../../fixtures/oauth/oauth.ts";
import { fixture } from "../../support/boards.ts";
import { useScratch } from "../harness.ts";

const scratch = useScratch();
afterEach(closeAll);

const run = (...argv: string[]) => scratch.run(argv);

/** The words of a fixture after `--`. */
function typed(name: string, ...args: string[]): string[] {
  const { command = "", args: words = [] } = fixture(name, ...args);
  return ["--", command, ...words];
}

/** Your own configuration. */
function home(content: object): string {
  mkdirSync(join(scratch.directory, "home"), { recursive: true, mode: 0o700 });
  return scratch.file("home/plugboard.json", content);
}

describe("a command after --", () => {
  it("is used in place of the configured servers, which do not start", async () => {
    const marker = join(scratch.directory, "ran");
    const code = `require("fs").writeFileSync(${JSON.stringify(marker)}, "")`;
    home({
      mcpServers: { other: { command: process.execPath, args: ["-e", code], keepAlive: true } },
      agents: { defaults: { tools: { deny: ["echo/crash", "nothing/here"] } } },
    });
    const before = scratch.read("home/plugboard.json");
    const listed = await run("tools", ...typed("echo"));
    expect(listed).toMatchObject({ code: 0, stderr: "" });
    expect(listed.stdout).toContain("echo/add ");
    expect(listed.stdout).not.toContain("echo/crash");
    const called = await run("call", "add", "a=1", "b=2", ...typed("echo"));
    expect(called).toEqual({ code: 0, stdout: "3\n", stderr: "" });
    const refused = await run("call", "echo/crash", ...typed("echo"));
    expect(refused.code).toBe(4);
    expect(refused.stderr).toContain('the rule "echo/crash" in agents.defaults.tools.deny');
    const audit = await run("audit", "--json");
    expect(audit.stdout).toContain('"server":"echo","tool":"add"');
    expect(audit.stdout).toContain('"server":"echo","tool":"crash"');
    expect((await run("pins", "list", "--all")).stdout).toContain("echo/add ");
    expect(existsSync(marker)).toBe(false);
    expect(scratch.read("home/plugboard.json")).toBe(before);
  });

  it("gets the variables that are given, and no others, in the working directory", async () => {
    const env = { OWN: "mine", OTHER: "not passed" };
    const words = ["call", "env", "-e", "OWN", "-e", "GIVEN=x=y", ...typed("echo")];
    const { stdout } = await scratch.run(words, { env });
    expect(JSON.parse(stdout)).toMatchObject({ OWN: "mine", GIVEN: "x=y" });
    expect(stdout).not.toContain("OTHER");
    expect((await run("call", "cwd", ...typed("echo"))).stdout).toBe(`${scratch.directory}\n`);
    const unset = await run("call", "env", "-e", "OWN", ...typed("echo"));
    expect(unset.code).toBe(2);
    expect(unset.stderr).toContain("needs the variable OWN, which is not set");
  });

  it("is asked anew each time, and what has changed since is noticed", async () => {
    const tools = (...names: string[]) =>
      scratch.file("tools.json", { tools: names.map((name) => ({ name, inputSchema: {} })) });
    const words = typed("from-file", `--file=${tools("one")}`);
    expect((await run("tools", ...words)).stdout).toContain("from-file/one");
    tools("one", "two");
    const listed = await run("tools", ...words);
    expect(listed.stdout).toContain("from-file/two");
    expect(await run("call", "two", ...words)).toMatchObject({ code: 0, stdout: "two\n" });
    scratch.file("tools.json", { tools: [{ name: "one", description: "Now other." }] });
    const changed = await run("call", "one", ...words);
    expect(changed.stderr).toContain("plugboard pins approve from-file/one\n");
  });

  it("says what to do about a mistake, with a command that has the server", async () => {
    const [, command = "", path = ""] = typed("echo");
    const help = await run("call", "add", "--help", ...typed("echo"));
    expect(help.stdout).toContain(`plugboard call echo/add a=1 b=1 -- ${command} ${path}`);
    const unknown = await run("call", "ad", ...typed("echo"));
    expect(unknown).toMatchObject({ code: 2 });
    expect(unknown.stderr).toContain("did you mean 'echo/add'?");
    const both = await run("tools", "--server", "x", ...typed("echo"));
    expect(both).toMatchObject({ code: 2 });
    expect(both.stderr).toContain("leave out --server");
    for (const words of [["tools"], ["call", "t"], ["resources"], ["prompts"]]) {
      const missing = await run(...words, "--", "no-such-program");
      expect(missing).toMatchObject({ code: 3, stdout: "" });
      expect(missing.stderr).toContain("command 'no-such-program' was not found on PATH");
    }
    const nothing = await run("tools", "--json", "--");
    expect(JSON.parse(nothing.stdout).error.message).toBe("there is nothing after --");
  });

  it("has resources and prompts", async () => {
    const words = typed("library");
    expect((await run("resources", ...words)).stdout).toContain("lib:///welcome");
    expect((await run("read", "lib:///welcome", ...words)).code).toBe(0);
    expect((await run("prompts", ...words)).stdout).toContain("library/");
  });

  it("has another name where a configured server has its name", async () => {
    home({ mcpServers: { echo: { command: "other-program" } } });
    expect((await run("tools", ...typed("echo"))).stdout).toMatch(/^echo-[\da-f]{4}\/echo /m);
    home({ mcpServers: { echo: fixture("echo") } });
    expect((await run("tools", ...typed("echo"))).stdout).toMatch(/^echo\/echo /m);
  });

  it("is under your own rules where nobody has trusted those of the directory", async () => {
    home({ agents: { defaults: { tools: { deny: ["echo/add"] } } } });
    scratch.file("plugboard.json", { agents: { defaults: { tools: { allow: ["*"] } } } });
    const words = ["call", "add", "a=1", "b=2", ...typed("echo")];
    const { code, stderr } = await run(...words);
    expect(code).toBe(4);
    expect(stderr).toContain("is not trusted, so its rules do not apply");
    scratch.file("plugboard.json", "{ broken");
    expect((await run(...words)).code).toBe(4);
  });

  it("is not one of a gateway that runs", async () => {
    scratch.servers({ echo: { ...fixture("echo"), keepAlive: true } });
    await scratch.up();
    const pid = async (...words: string[]) => (await run("call", "echo/pid", ...words)).stdout;
    const shared = await pid();
    expect(await pid()).toBe(shared);
    const own = await pid(...typed("echo"));
    expect(own).toMatch(/^\d+\n$/);
    expect(own).not.toBe(shared);
  });
});

describe("a URL", () => {
  it("is used with its headers, and nothing is written to a configuration", async () => {
    const { url, requests } = await serve();
    const listed = await run("tools", url, "echo");
    expect(listed).toMatchObject({ code: 0 });
    const called = await run("call", url, "echo", "text=hi", "-H", "X-Team: blue");
    expect(called).toMatchObject({ code: 0, stdout: "hi\n" });
    expect(requests.some(({ headers }) => headers["x-team"] === "blue")).toBe(true);
    expect(readdirSync(join(scratch.directory, "home"))).not.toContain("plugboard.json");
  });

  it("can be signed in to and out of, and says so where it is needed", async () => {
    const consent = new URL("../../fixtures/oauth/consent.mjs", import.meta.url).href;
    const browser = scratch.file("browser.mjs", "");
    writeFileSync(browser, `#!${process.execPath}\nimport(${JSON.stringify(consent)});\n`);
    chmodSync(browser, 0o755);
    const { url } = owned(await startOAuth({}));
    const call = () => run("call", url, "echo", "text=hi");
    const refused = await call();
    expect(refused.code).toBe(3);
    expect(refused.stderr).toContain(`  plugboard login ${url}\n`);
    const { error } = JSON.parse((await run("tools", url, "--json")).stdout);
    expect(error).toMatchObject({ code: "NEEDS_AUTH" });
    expect(error.hint).toContain(`plugboard login ${url}`);
    const signedIn = await scratch.run(["login", url], { env: { BROWSER: browser } });
    expect(signedIn).toMatchObject({ code: 0 });
    expect(signedIn.stdout).toMatch(/^signed in to 127\.0\.0\.1-\d+: 8 tools\n$/);
    expect(await call()).toMatchObject({ code: 0, stdout: "hi\n" });
    expect((await run("logout", url)).stdout).toContain("its tokens are revoked and deleted");
    expect((await call()).code).toBe(3);
  });
});
