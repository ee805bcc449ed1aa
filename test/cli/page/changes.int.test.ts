// Changes that people make in the page of a gateway: they are written as the commands would write them, and the gateway
// runs with them at once.

import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import type { Change, ChangePreview } from "../../../src/serve/gateway/page/wire.ts";
import { enterPage, type PageApi } from "../../support/page-api.ts";
import { zip } from "../../fixtures/bundles/zip.ts";
import { useScratch } from "../harness.ts";

const scratch = useScratch();

const ECHO = fileURLToPath(new URL("../../fixtures/servers/echo.mjs", import.meta.url));
const BUNDLES = fileURLToPath(new URL("../../fixtures/bundles", import.meta.url));
const echo = { command: process.execPath, args: [ECHO] };

async function up(...argv: string[]): Promise<PageApi> {
  return upIn(scratch.directory, ...argv);
}

async function upIn(directory: string, ...argv: string[]): Promise<PageApi> {
  const around = { cwd: () => directory };
  await scratch.up(argv, around);
  const { stdout } = await scratch.run([...argv, "ui", "--print"], around);
  return enterPage(stdout.trim());
}

const has = (pattern: RegExp): unknown => expect.stringMatching(pattern);

const OF_ECHO = { agent: "default", server: "echo" };

async function change(page: PageApi, what: Change): Promise<ChangePreview> {
  const shown = await page.ask("changes/preview", { change: what });
  expect(shown.error).toBeUndefined();
  const { hash } = shown;
  expect((await page.ask("changes/confirm", { hash })).error).toBeUndefined();
  return shown;
}

async function tools(page: PageApi, verdict: "allowed" | "refused"): Promise<number> {
  return (await page.ask("tools/list", { verdict })).total;
}

describe("a change in the page", () => {
  it("of a named file is written with its comments kept, applied, and in the audit", async () => {
    const path = scratch.file(
      "named.jsonc",
      `{\n  // mine\n  "mcpServers": {\n    "echo": ${JSON.stringify(echo)}\n  }\n}\n`,
    );
    const page = await up("--config", path);
    await expect.poll(() => tools(page, "allowed")).toBeGreaterThan(0);
    const shown = await change(page, { kind: "server", action: "disable", ...OF_ECHO });
    expect(shown.starts).toEqual([]);
    expect(shown.diff.map(({ kind }) => kind)).toContain("added");
    expect(scratch.read("named.jsonc")).toContain("// mine");
    expect((await scratch.run(["--config", path, "status"])).stdout).toContain("disabled");
    const again = await change(page, { kind: "server", action: "enable", ...OF_ECHO });
    expect(again.starts).toEqual([{ name: "echo", lines: [expect.stringContaining(ECHO)] }]);

    await change(page, { kind: "rule", ...OF_ECHO, tool: "add", verdict: "deny" });
    await expect.poll(() => tools(page, "refused")).toBe(1);
    await change(page, {
      kind: "entry",
      ...OF_ECHO,
      json: JSON.stringify({ ...echo, lazy: true }),
      secrets: {},
    });
    await expect.poll(() => tools(page, "refused")).toBe(0);
    const audit = await scratch.run(["audit", "--json"]);
    const lines = audit.stdout.trim().split("\n");
    expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
      { type: "decision", caller: "the owner", decided: "disable echo", file: path },
      { type: "decision", decided: "enable echo", server: "echo" },
      { type: "decision", decided: "refuse echo/add", server: "echo", tool: "add" },
      { type: "decision", decided: "edit echo" },
    ]);
    expect((await scratch.run(["audit"])).stdout).toMatch(/echo\/add +decided +refuse echo\/add/);
  });

  it("is refused once the file differs, and while an edit waits, which is shown and confirmed", async () => {
    const path = scratch.file("named.json", { mcpServers: { echo } });
    const page = await up("--config", path);
    const disable: Change = { kind: "server", action: "disable", ...OF_ECHO };
    const { hash } = await page.ask("changes/preview", { change: disable });
    const edited = { mcpServers: { echo, second: { ...echo, env: { A: "1" } } } };
    writeFileSync(path, JSON.stringify(edited, null, 2));
    const { error } = await page.ask("changes/confirm", { hash });
    expect(error?.message).toBe("an edit of the configuration waits for you");
    expect(scratch.read("named.json")).toBe(JSON.stringify(edited, null, 2));

    const shown = await change(page, { kind: "trust" });
    expect(shown.starts).toMatchObject([{ name: "second" }]);
    expect(shown.diff.some(({ text }) => text.includes("second"))).toBe(true);
    const stale = await page.ask("changes/preview", { change: disable });
    writeFileSync(path, `${JSON.stringify(edited, null, 2)}\n`);
    const late = await page.ask("changes/confirm", { hash: stale.hash });
    expect(late.error?.message).toBe("this is no longer what you were shown");
    expect(scratch.read("named.json")).not.toContain("enabled");
  });

  it("adds a server only if it answers, and shows its entry and what the rules say of its tools", async () => {
    const path = scratch.file("named.jsonc", '{\n  // mine\n  "mcpServers": {}\n}\n');
    const page = await up("--config", path);
    const line = `'${process.execPath}' '${ECHO}'`;
    const { offers } = await page.ask("add/read", { source: { kind: "command", line } });
    const json = offers[0]?.json ?? "";
    const add = (text: string): Change => ({
      kind: "add",
      agent: "default",
      name: "echo",
      from: { kind: "json", json: text },
      secrets: {},
      check: true,
    });
    const wrong = await page.ask("changes/preview", { change: add(json.replace(".mjs", ".no")) });
    const failed = await page.ask("changes/confirm", { hash: wrong.hash });
    expect(failed.error?.message).toContain("echo was not added: the server exited");
    expect(page.status).toBe(424);
    expect(scratch.read("named.jsonc")).not.toContain("echo");
    const shown = await change(page, add(json));
    expect(shown.starts).toEqual([{ name: "echo", lines: [expect.stringContaining(ECHO)] }]);
    expect(await page.ask("servers/entry", OF_ECHO)).toMatchObject({ file: path, line: 4, json });
    await change(page, { kind: "rule", ...OF_ECHO, tool: "add", verdict: "ask" });
    const { tools: asked } = await page.ask("tools/list", { verdict: "asks" });
    expect(asked).toMatchObject([
      {
        canonical: "echo/add",
        verdict: { kind: "asks", rule: "approval of server echo, for this tool" },
      },
    ]);
  });

  it.each([
    ["a named file of the working directory", ".", "plugboard.json"],
    ["the named file of Plugboard's home, from inside it", "home", "plugboard.json"],
    ["the file of Plugboard's home, from inside it", "home", undefined],
    ["the file of a home that is behind a link, from inside it", "linked", undefined],
  ])("is in use at once in %s", async (_, place, named) => {
    const directory = join(scratch.directory, place);
    const home = join(scratch.directory, "home");
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    if (place === "linked") symlinkSync(directory, home);
    scratch.file(`${place}/plugboard.json`, { mcpServers: { echo } });
    const argv = named === undefined ? [] : ["--config", join(directory, named)];
    const page = await upIn(directory, ...argv);
    for (const what of [
      {
        kind: "add",
        agent: "default",
        name: "second",
        from: { kind: "json", json: JSON.stringify(echo) },
        secrets: {},
        check: false,
      },
      { kind: "server", action: "disable", agent: "default", server: "second" },
      { kind: "server", action: "enable", agent: "default", server: "second" },
    ] satisfies Change[]) {
      const { hash } = await page.ask("changes/preview", { change: what });
      // It says nothing, since nothing waits.
      expect(await page.ask("changes/confirm", { hash })).toEqual({});
    }
    // Both servers have theirs.
    await expect.poll(() => tools(page, "allowed")).toBeGreaterThan(20);
  });

  it("shows no credential, and keeps what it does not show", async () => {
    const secret = "literal-secret-of-a-server";
    const path = scratch.file("own.json", {
      mcpServers: {
        echo: {
          command: process.execPath,
          args: [ECHO, "--token", `arg-${secret}`],
          env: { API_TOKEN: secret, SHORT_TOKEN: "pin7" },
          lazy: true,
        },
        away: {
          url: "https://mcp.example.com/mcp",
          headers: { Authorization: `Bearer ${secret}` },
          enabled: false,
        },
      },
    });
    const page = await up("--config", path);
    const { json } = await page.ask("servers/entry", OF_ECHO);
    const entry = JSON.parse(json) as { args: string[] };
    const edited = JSON.stringify({ ...entry, args: [ECHO, "--quiet", ...entry.args.slice(1)] });
    const shown = await change(page, { kind: "entry", ...OF_ECHO, json: edited, secrets: {} });
    expect(shown.starts).toMatchObject([
      { lines: [/--quiet/, /API_TOKEN/, /SHORT_TOKEN/].map(has) },
    ]);
    const ofAway = { agent: "default", server: "away" };
    const { json: away } = await page.ask("servers/entry", ofAway);
    const { enabled: _, ...on } = JSON.parse(away) as { enabled: boolean };
    const start = await change(page, {
      kind: "entry",
      ...ofAway,
      json: JSON.stringify(on),
      secrets: {},
    });
    expect(start.starts).toMatchObject([{ lines: [/mcp.example.com/, /Bearer/].map(has) }]);
    expect(JSON.stringify([json, away, shown, start])).not.toMatch(/literal-secret|=pin7/);
    expect(JSON.parse(scratch.read("own.json"))).toEqual({
      mcpServers: {
        echo: {
          command: process.execPath,
          args: [ECHO, "--quiet", "--token", `arg-${secret}`],
          env: { API_TOKEN: secret, SHORT_TOKEN: "pin7" },
          lazy: true,
        },
        away: {
          url: "https://mcp.example.com/mcp",
          headers: { Authorization: `Bearer ${secret}` },
        },
      },
    });
    const moved = JSON.stringify({ ...entry, env: { OTHER_TOKEN: "[REDACTED]" } });
    const refused = await page.ask("changes/preview", {
      change: { kind: "entry", ...OF_ECHO, json: moved, secrets: {} },
    });
    expect(refused.error?.message).toMatch(/^`env.OTHER_TOKEN` still has/);
  });

  it("puts the credentials of pasted JSON into the store, each where its own server looks for it", async () => {
    const path = scratch.file("named.json", { mcpServers: {} });
    const page = await up("--config", path);
    const key = "ghp_abcdefghijklmnopqrstuvwxyz012345";
    const pasted = {
      mcpServers: {
        echo: { ...echo, env: { GITHUB_TOKEN: key, API_KEY: "<your key>", REGION: "eu-west-1" } },
        far: {
          url: "https://example.com/mcp",
          headers: { Authorization: "${FAR}", "X-Api-Key": "" },
        },
      },
    };
    const source = { kind: "json" as const, json: JSON.stringify(pasted) };
    const { offers } = await page.ask("add/read", { source });
    const [near, far] = offers;
    expect(near?.inputs).toMatchObject([
      { key: "GITHUB_TOKEN", isSecret: true, default: key },
      { key: "API_KEY", isSecret: true },
    ]);
    expect(near?.inputs[1]?.default).toBeUndefined();
    expect(JSON.parse(near?.json ?? "")).toEqual({ ...echo, env: { REGION: "eu-west-1" } });
    expect(far?.inputs.map((each) => each.key)).toEqual(["X-Api-Key"]);
    const add = (name: string, json = "", secrets = {}): Change => ({
      kind: "add",
      agent: "default",
      name,
      from: { kind: "json", json },
      secrets,
      check: false,
    });
    await change(page, add("echo", near?.json, { GITHUB_TOKEN: key, API_KEY: "typed-by-hand-1" }));
    await change(page, add("far", far?.json, { "X-Api-Key": "typed-by-hand-2" }));
    const written = scratch.read("named.json");
    expect(written).not.toMatch(/ghp_|typed-by-hand/);
    expect((JSON.parse(written) as typeof pasted).mcpServers).toMatchObject({
      echo: { env: { REGION: "eu-west-1", GITHUB_TOKEN: expect.stringContaining("secret://") } },
      far: {
        headers: { Authorization: "${FAR}", "X-Api-Key": expect.stringContaining("secret://") },
      },
    });

    // Those that are typed later, where a server is mended, too.
    const { json } = await page.ask("servers/entry", OF_ECHO);
    const entry = JSON.parse(json) as typeof pasted.mcpServers.echo;
    const edited = {
      ...entry,
      env: { ...entry.env, SLACK_TOKEN: "xoxb-123456789012-abcdefABCDEF" },
    };
    const shown = await change(page, {
      kind: "entry",
      ...OF_ECHO,
      json: JSON.stringify(edited),
      secrets: { NOTES_KEY: "typed by hand" },
    });
    expect(shown.warnings).toEqual(Array(2).fill(has(/^the value that you typed is stored in /)));
    expect(JSON.stringify(shown)).not.toMatch(/xoxb-|typed by hand/);
    expect(scratch.read("named.json")).not.toMatch(/xoxb-|typed by hand/);
    expect(JSON.parse(scratch.read("named.json"))).toMatchObject({
      mcpServers: {
        echo: {
          env: {
            ...entry.env,
            SLACK_TOKEN: expect.stringContaining("secret://"),
            NOTES_KEY: expect.stringContaining("secret://"),
          },
        },
      },
    });
  });

  it("adds a bundle that was sent, as it was sent, to the agent that was chosen", async () => {
    const defaults = { mcp: { servers: { echo } } };
    const path = scratch.file("agents.json", { agents: { defaults, list: [{ id: "coder" }] } });
    // Sent to a gateway that has ended since, and added by nobody.
    const unused = join(scratch.directory, "home", "bundles", `old@1.0.0-${"0".repeat(32)}`);
    mkdirSync(unused, { recursive: true });
    const page = await up("--config", path);
    await expect.poll(() => existsSync(unused)).toBe(false);
    const bytes = readFileSync(join(BUNDLES, "hello.mcpb"));
    const add = (id: string): Change => ({
      kind: "add",
      agent: "coder",
      name: "hello",
      from: { kind: "upload", id, values: { greeting: ["Good day"] } },
      secrets: { api_key: "hunter2-hunter2" },
      check: true,
    });
    const never = await page.ask("changes/preview", { change: add("sha256-0") });
    expect(never.error?.message).toBe("the file that you sent is no longer kept");
    const { id, offers } = await page.upload("..%2F..%2Fhello.mcpb", bytes);
    expect(offers[0]?.notes).toContain("Hello Bundle 1.2.3, from hello.mcpb");
    const { starts } = await change(page, add(id));
    expect(starts[0]).toMatchObject({ name: "coder/hello" });
    expect(starts[0]?.lines[0]).toContain("--greeting 'Good day'");
    expect(JSON.parse(scratch.read("agents.json"))).toMatchObject({
      agents: {
        defaults,
        list: [{ mcp: { servers: { hello: { provenance: { source: "hello.mcpb", hash: id } } } } }],
      },
    });
    const called = await scratch.run(["--config", path, "--agent", "coder", "call", "hello/hello"]);
    expect(called.stdout).toContain("Good day");

    const outside = zip([{ name: "../evil.js", content: "" }]);
    for (const [name, sent, why] of [
      ["evil.mcpb", outside, /evil\.mcpb cannot be used: .*leads out of the bundle/],
      ["photo.png", Buffer.from("no zip"), /photo\.png cannot be used: .*zip/],
    ] as const) {
      expect((await page.upload(name, sent)).error?.message).toMatch(why);
    }
    const viewer = await scratch.run(["--config", path, "ui", "--viewer", "--print"]);
    const refused = await (await enterPage(viewer.stdout.trim())).upload("x.mcpb", bytes);
    expect(refused.error?.code).toBe("REFUSED_BY_POLICY");
  });

  it("is refused with its reason where it cannot be made", async () => {
    scratch.file("own.json", { mcpServers: { echo: { ...echo, lazy: true } } });
    const page = await up("--config", join(scratch.directory, "own.json"));
    const cases: [Change, RegExp][] = [
      [{ kind: "server", action: "remove", agent: "default", server: "no" }, /'no'/],
      [{ kind: "entry", ...OF_ECHO, json: '{"command": 5}', secrets: {} }, /command/],
      [{ kind: "entry", ...OF_ECHO, json: "{", secrets: {} }, /JSON cannot be read/],
      [
        { kind: "entry", ...OF_ECHO, json: '{"command": "[REDACTED]"}', secrets: {} },
        /write the whole value/,
      ],
      [{ kind: "trust" }, /no edit waits/],
      [{ kind: "server", action: "enable", ...OF_ECHO }, /says so already/],
    ];
    for (const [what, message] of cases) {
      const { error } = await page.ask("changes/preview", { change: what });
      expect(error?.message).toMatch(message);
    }
  });
});
