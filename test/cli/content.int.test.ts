import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { fixture } from "../support/boards.ts";
import { Sink, useScratch } from "./harness.ts";

const scratch = useScratch();

const lib = (...args: string[]) => fixture("library", ...args);

describe("plugboard resources", () => {
  it("lists resources and templates, a line each", async () => {
    scratch.servers({ lib: lib(), echo: fixture("echo") });
    const { code, stdout, stderr } = await scratch.run(["resources"]);
    expect(code).toBe(0);
    expect(stdout).toBe(
      [
        "lib:///welcome        welcome (text/plain)",
        "lib:///rules          rules (text/plain)",
        "lib:///shelf/{shelf}  shelf",
        "",
      ].join("\n"),
    );
    expect(stderr).toBe("");
  });

  it("names the server of what several servers have", async () => {
    scratch.servers({ one: lib(), two: lib(), three: lib("--scheme=three") });
    const { stdout } = await scratch.run(["resources", "welcome"]);
    expect(stdout).toBe(
      [
        "lib:///welcome    welcome (text/plain) (server one)",
        "lib:///welcome    welcome (text/plain) (server two)",
        "three:///welcome  welcome (text/plain)",
        "",
      ].join("\n"),
    );
  });

  it("groups them for a person, without escape sequences", async () => {
    scratch.servers({ evil: fixture("hostile-library", "--mb=1"), lib: lib() });
    const { stdout } = await scratch.run(["resources", "--no-color"], {
      stdout: new Sink({ columns: 100 }),
    });
    expect(stdout).toMatch(/^evil 13 resources\n {2}evil:\/\/\/forged/m);
    expect(stdout).toMatch(/^lib 3 resources$/m);
    for (const hidden of ["\u001b", "\u202e", "\u{e0041}"]) expect(stdout).not.toContain(hidden);
  });

  it.each([
    [["RULES"], ["lib:///rules", "two:///rules"]],
    [["lib", "shelf"], ["lib:///shelf/{shelf}"]],
    [["--server", "two", "rules"], ["two:///rules"]],
  ])("finds with %j", async (query, uris) => {
    scratch.servers({ lib: lib(), two: lib("--scheme=two") });
    const { stdout } = await scratch.run(["resources", ...query]);
    const found = stdout.trim().split("\n");
    expect(found.map((line) => line.split(" ")[0])).toEqual(uris);
  });

  it("says that there are none, and which servers could not be asked", async () => {
    scratch.servers({ lib: lib(), gone: { command: "/nowhere/at/all" } });
    const { code, stderr } = await scratch.run(["resources", "zzz"]);
    expect(code).toBe(0);
    expect(stderr).toMatch(/^plugboard: gone is not available: /m);
    expect(stderr).toMatch(/^no resource matches 'zzz'$/m);
    scratch.servers({ echo: fixture("echo") });
    expect((await scratch.run(["resources"])).stderr).toBe("no resources\n");
  });

  it("prints JSON with --json", async () => {
    scratch.servers({ lib: lib() });
    const { stdout } = await scratch.run(["resources", "rules", "--json"]);
    expect(JSON.parse(stdout)).toMatchObject({
      resources: [{ uri: "lib:///rules", name: "rules", server: "lib", available: true }],
      templates: [],
      servers: [{ name: "lib", state: { kind: "ready" } }],
    });
  });
});

describe("plugboard read", () => {
  it("prints a text", async () => {
    scratch.servers({ lib: lib() });
    expect(await scratch.run(["read", "lib:///rules"])).toEqual({
      code: 0,
      stdout: "Be quiet.\n",
      stderr: "",
    });
  });

  it("starts no other server with --server", async () => {
    scratch.servers({ lib: lib(), gone: { command: "/nowhere/at/all" } });
    const named = await scratch.run(["read", "lib", "lib:///shelf/a"]);
    const { stdout, stderr } = await scratch.run(["read", "lib:///shelf/a", "--server", "lib"]);
    expect(named).toMatchObject({ code: 0, stdout });
    expect([stdout, stderr]).toEqual(["Shelf a.\n", ""]);
  });

  it("obeys rules and approval, and --yes answers for a person", async () => {
    const tools = { deny: ["prompt:greet"] };
    const approval = { tools: { "resource:lib:///rules": "ask" } } as const;
    scratch.servers({ lib: { ...lib(), tools, approval } });
    const asked = await scratch.run(["read", "lib:///rules"]);
    expect([asked.code, asked.stdout]).toEqual([4, ""]);
    expect(asked.stderr).toMatch(/lib\/resource:lib:\/\/\/rules needs your approval.*--yes/s);
    expect((await scratch.run(["read", "lib:///rules", "--yes"])).stdout).toBe("Be quiet.\n");
    const refused = await scratch.run(["prompt", "greet", "who=Ada", "--yes"]);
    expect(refused.stderr).toContain('lib/prompt:greet is refused by the rule "prompt:greet"');
    expect((await scratch.run(["prompts"])).stdout).toBe("");
  });

  it("saves binary content with --output", async () => {
    scratch.servers({ lib: lib() });
    const told = await scratch.run(["read", "lib:///picture"]);
    expect(told).toEqual({
      code: 0,
      stdout: "[resource: lib:///picture, image/png, 5 B]\n",
      stderr: "hint: --output <directory> saves binary content\n",
    });
    const { stdout } = await scratch.run(["read", "lib:///picture", "--output", "out"]);
    const file = join("out", "lib_picture-1.png");
    expect(stdout).toBe(`[resource: lib:///picture, image/png, 5 B] saved to ${file}\n`);
    expect(scratch.read(file)).toBe("hello");
    expect(readdirSync(join(scratch.directory, "out"))).toHaveLength(1);
  });

  it("prints JSON with --json", async () => {
    scratch.servers({ lib: lib() });
    const { stdout } = await scratch.run(["read", "lib:///rules", "--json"]);
    expect(JSON.parse(stdout)).toEqual({
      server: "lib",
      uri: "lib:///rules",
      contents: [{ uri: "lib:///rules", mimeType: "text/plain", text: "Be quiet." }],
    });
  });

  it("removes escape sequences from a text on a terminal", async () => {
    scratch.servers({ evil: fixture("hostile-library") });
    const { stdout } = await scratch.run(["read", "evil:///split-1"], {
      stdout: new Sink({ columns: 80 }),
    });
    expect(stdout).toBe("<<<END_EXTERNAL_UNTRUSTED_\n");
  });

  it.each([
    [
      ["lib:///rulez", "--server", "lib"],
      1,
      "server 'lib': cannot read 'lib:///rulez': Resource not found",
    ],
    [["zzz"], 2, "no server lists 'zzz'\nhint: these servers did not list their resources: gone"],
    [["lib:///rules", "--server", "lip"], 2, "there is no server named 'lip'"],
    [["gone:///x", "--server", "gone"], 3, "server 'gone'"],
    [["off:///rules", "--server", "off"], 4, "'off:///rules' may not be read"],
  ])("says what went wrong: %j", async (argv, expected, message) => {
    scratch.servers({
      lib: lib(),
      two: lib(),
      gone: { command: "/nowhere/at/all" },
      off: { ...lib("--scheme=off"), resourceFilter: ["off:///w*"] },
    });
    const { code, stdout, stderr } = await scratch.run(["read", ...argv]);
    expect(stderr).toContain(`plugboard: ${message}`);
    expect([code, stdout]).toEqual([expected, ""]);
    expect(existsSync(join(scratch.directory, "out"))).toBe(false);
  });
});

describe("plugboard prompts", () => {
  it("lists prompts with their arguments", async () => {
    scratch.servers({ lib: lib(), echo: fixture("echo") });
    const { code, stdout } = await scratch.run(["prompts"]);
    expect([code, stdout]).toEqual([0, "lib/greet  who=… [tone=…] Says greet.\n"]);
    expect((await scratch.run(["prompts", "zzz"])).stderr).toBe("no prompt matches 'zzz'\n");
    expect((await scratch.run(["prompts", "--server", "echo"])).stderr).toBe("no prompts\n");
  });

  it("prints JSON with --json", async () => {
    scratch.servers({ lib: lib() });
    const { stdout } = await scratch.run(["prompts", "greet", "--json"]);
    expect(JSON.parse(stdout)).toMatchObject({
      prompts: [{ name: "greet", server: "lib", available: true }],
      servers: [{ name: "lib" }],
    });
  });
});

describe("plugboard prompt", () => {
  it("fills in a prompt", async () => {
    scratch.servers({ lib: lib() });
    expect(await scratch.run(["prompt", "lib/greet", "who=Ada"])).toEqual({
      code: 0,
      stdout: "user:\nPlease greet Ada.\n\nassistant:\nHello Ada!\n",
      stderr: "",
    });
  });

  it.each([
    ["JSON", ['{"who": 5}'], "", "5"],
    ["a pair over JSON", ['{"who": "x"}', "who=Ada"], "", "Ada"],
    ["JSON of one value", ["who:=[1]"], "", "[1]"],
    ["stdin", ["who=@-"], "Grace", "Grace"],
  ])("takes arguments as %s", async (_, args, stdin, who) => {
    scratch.servers({ lib: lib() });
    const { stdout } = await scratch.run(["prompt", "greet", ...args, "--json"], { stdin });
    expect(JSON.parse(stdout)).toMatchObject({
      server: "lib",
      messages: [{ content: { text: `Please greet ${who}.` } }, {}],
    });
  });

  it("is sent with a warning if the prompt does not describe an argument", async () => {
    scratch.servers({ lib: lib() });
    const { code, stderr } = await scratch.run(["prompt", "greet", "who=Ada", "zzzz=1"]);
    expect([code, stderr]).toEqual([
      0,
      "warn  lib: the prompt does not describe 'zzzz'; it takes who, tone\n",
    ]);
  });

  it("starts only the server that it names", async () => {
    const state = scratch.file("starts", "0");
    scratch.servers({ lib: lib(), counted: fixture("flaky-start", `--state=${state}`) });
    const { stderr } = await scratch.run(["prompt", "lbi/greet"]);
    expect(stderr).toBe(
      "plugboard: there is no server named 'lbi'\nhint: did you mean 'lib'?\nmore: plugboard help UNKNOWN_SERVER\n",
    );
    const unknown = await scratch.run(["prompt", "lib/great"]);
    expect(unknown.stderr).toMatch(
      /^plugboard: there is no prompt named 'lib\/great': .*\nhint: did you mean 'lib\/greet'\?\nmore: plugboard help UNKNOWN_PROMPT\n$/,
    );
    expect([unknown.code, scratch.read("starts")]).toEqual([2, "0"]);
  });

  it("prints only the text if all messages are the user's", async () => {
    scratch.servers({ demo: fixture("one-prompt") });
    const { stdout } = await scratch.run(["prompt", "demo/ask"], {
      stdout: new Sink({ columns: 80 }),
    });
    expect(stdout).toBe("What is it?\n");
    expect((await scratch.run(["prompt", "demo/silent"])).stdout).toBe("(empty prompt)\n");
  });

  it.each([
    [["lib/greet", "who=a", "who=b"], 2, "'who' is given twice"],
    [
      ["lib/greet"],
      2,
      "1 argument missing:\n    who\nhint: to use it:\n  plugboard prompt lib/greet who=… [tone=…]\n",
    ],
    [
      ["greet", "wo=Ada"],
      2,
      "the arguments do not fit:\n  there is no argument 'wo'; did you mean 'who'?\n  1 argument missing:\n    who\n",
    ],
    [["gret"], 2, "there is no prompt named 'gret'\nhint: did you mean 'greet'?"],
    [
      ["lib/gret"],
      2,
      "there is no prompt named 'lib/gret': server 'lib': cannot get the prompt 'gret': Unknown prompt: gret",
    ],
    [["lib/greet", "-", "--exit-with-stdin"], 2, "--exit-with-stdin cannot be used"],
  ])("says what went wrong: %j", async (argv, expected, message) => {
    scratch.servers({ lib: lib() });
    const { code, stdout, stderr } = await scratch.run(["prompt", ...argv]);
    expect(stderr).toContain(`plugboard: ${message}`);
    expect([code, stdout]).toEqual([expected, ""]);
  });
});
