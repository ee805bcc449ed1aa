import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { beforeEach, describe, expect, it } from "vitest";
import { fixture } from "../../support/boards.ts";
import { Sink, useScratch } from "../harness.ts";

const scratch = useScratch();
const { configure } = scratch;

const run = (...argv: string[]) => scratch.run(["--config", "board.json", ...argv]);

describe("a call that must be approved", () => {
  beforeEach(() => configure({ echo: fixture("echo") }, { tools: { approval: "ask" } }));

  /** Somebody at a terminal who types this when asked. */
  async function answering(
    answer: string,
    argv: string[],
    columns = 80,
    config = ["--config", "board.json"],
  ) {
    const stdin = Object.assign(new PassThrough(), { isTTY: true });
    const stderr = new Sink({ columns, rows: 24 });
    const running = scratch.start([...config, ...argv], {
      stdin,
      stderr,
      env: { NO_COLOR: "1" },
    });
    await stderr.until("[N]o ");
    stdin.write(answer);
    return running.done;
  }

  it.each([
    ["y\n", 0, "3\n"],
    ["YES\n", 0, "3\n"],
    ["n\n", 4, ""],
    ["\n", 4, ""],
    ["sure\n", 4, ""],
  ])("depends on what the person types: %j", async (answer, code, stdout) => {
    expect(await answering(answer, ["call", "add", "a=1", "b=2"])).toMatchObject({ code, stdout });
    // And asked about again.
    expect(await answering(answer, ["call", "add", "a=1", "b=2"])).toMatchObject({ code, stdout });
  });

  it("is shown in full: what, why, with which arguments", async () => {
    const { stderr } = await answering("n\n", ["call", "add", "a=1", "b=2"]);
    expect(stderr).toContain(
      [
        "echo/add needs your approval: every call of this tool needs approval",
        "  its server describes it as:",
        "  │ Adds two numbers.",
        "  Claims to only read (unverified).",
        "  arguments:",
        "    a: 1",
        "    b: 2",
        "Allow this call? [y]es, [a]lways until the tool changes, [N]o ",
      ].join("\n"),
    );
    expect(stderr).toContain("plugboard: echo/add was not approved\n");
  });

  it("offers to believe a server's labels where that would make it unnecessary", async () => {
    configure({ echo: { ...fixture("echo"), approval: "destructive" } });
    const { code, stdout, stderr } = await answering("b\n", ["call", "add", "a=1", "b=2"]);
    expect([code, stdout]).toEqual([0, "3\n"]);
    expect(stderr.replace(/\s+/g, " ")).toContain(
      "the tool says that it changes nothing, but the labels of its server are not believed",
    );
    expect(stderr).toContain("[a]lways until the tool changes, [b]elieve what echo says, [N]o ");
    expect(await run("call", "add", "a=1", "b=2")).toMatchObject({ stdout: "3\n" });
    // It does not say that this one changes nothing, so there is nothing to believe.
    const other = await answering("b\n", ["call", "echo", "text=hi"]);
    expect(other.code).toBe(4);
    expect(other.stderr).not.toContain("[b]elieve");
  });

  it("does not believe a project's server in place of one of yours, whose file would refuse that", async () => {
    const echo = { ...fixture("echo"), approval: "destructive" } as const;
    mkdirSync(join(scratch.directory, "home"));
    const [own, project] = ["home/plugboard.json", "plugboard.json"] as const;
    for (const file of [own, project]) scratch.file(file, { mcpServers: { echo } });
    await scratch.run(["trust", "--yes"]);
    const before = readFileSync(join(scratch.directory, project), "utf8");
    const argv = ["call", "add", "a=1", "b=2"];
    const { code, stdout, stderr } = await answering("b\n", argv, 1000, []);
    expect([code, stdout]).toEqual([0, "3\n"]);
    expect(stderr).toContain("echo is not believed: ");
    expect(stderr).toContain("mcpServers.echo.trusted  is true, looser than false");
    expect(readFileSync(join(scratch.directory, project), "utf8")).toBe(before);
    expect(await answering("y\n", argv, 1000, [])).toMatchObject({ code: 0, stdout: "3\n" });
  });

  it.each([80, 100])("quotes a long description behind a bar, %i columns wide", async (columns) => {
    const description = `Deletes ${"every word of a long sentence, ".repeat(15).trim()} at once.`;
    const file = scratch.file("tools.json", { tools: [{ name: "wipe", description }] });
    configure({ wipes: { ...fixture("from-file", `--file=${file}`), approval: "ask" } });
    const { stderr } = await answering("n\n", ["call", "wipe"], columns);
    const [, quoted = ""] = /describes it as:\n([^]*?) {2}It does not say/.exec(stderr) ?? [];
    const lines = quoted.trimEnd().split("\n");
    for (const line of lines) expect(line).toMatch(/^ {2}│ \S/u);
    const words = lines.map((line) => line.slice(4));
    expect(words.join(" ")).toBe(description);
    // Each is as long as the next word allows.
    for (const [at, line] of words.slice(0, -1).entries()) {
      const [next = ""] = (words[at + 1] ?? "").split(" ");
      expect(line.length + 4).toBeLessThanOrEqual(columns);
      expect(line.length + 4 + 1 + next.length).toBeGreaterThan(columns);
    }
  });

  it("may be a read, and is then called one", async () => {
    const approval = { tools: { "resource:*": "ask" } } as const;
    configure({ lib: { ...fixture("library", "--era=legacy"), approval } });
    const { stderr } = await answering("n\n", ["read", "--server", "lib", "lib:///rules"]);
    expect(stderr).toContain(
      [
        "lib/resource:lib:///rules needs your approval: every read of this resource",
        "  needs approval",
        "  arguments:",
        '    uri: "lib:///rules"',
        "Allow this read? [y]es, [a]lways until its description changes, [N]o ",
      ].join("\n"),
    );
  });

  it("is not asked about again after an always, with or without a terminal", async () => {
    expect((await answering("a\n", ["call", "echo", "text=hi"])).stdout).toBe("hi\n");
    expect(await run("call", "echo", "text=again")).toEqual({
      code: 0,
      stdout: "again\n",
      stderr: "",
    });
    expect((await run("call", "add", "a=1", "b=2")).code).toBe(4);
  });

  it("is refused without a terminal", async () => {
    const { code, stdout, stderr } = await scratch.run(
      ["--config", "board.json", "call", "echo", "text=hi"],
      { stdin: "y\n" },
    );
    expect({ code, stdout }).toEqual({ code: 4, stdout: "" });
    expect(stderr).toMatch(/^echo\/echo needs your approval: .*\n(?: .*\n)+ {4}text: "hi"\n/);
    expect(stderr).toMatch(
      /no terminal to ask you on\nhint: .*--yes.*\nmore: plugboard help NOT_APPROVED\n$/,
    );
    expect(stderr).not.toContain("onApproval");
  });

  it("is made without a question with --yes, and the next one is asked about again", async () => {
    expect(await run("call", "echo", "text=hi", "--yes")).toEqual({
      code: 0,
      stdout: "hi\n",
      stderr: "",
    });
    expect((await run("call", "echo", "text=hi")).code).toBe(4);
  });

  it("has a long argument shown in part, then in full", async () => {
    const text = `${"a".repeat(2000)} ${"z".repeat(2000)}`;
    const stdin = Object.assign(new PassThrough(), { isTTY: true });
    const stderr = new Sink({ columns: 80, rows: 24 });
    const argv = ["--config", "board.json", "call", "echo", `text=${text}`];
    const running = scratch.start(argv, { stdin, stderr, env: { NO_COLOR: "1" } });
    await stderr.until("[s]how everything, [N]o ");
    expect(stderr.text).toContain("… 2101 characters left out …\n");
    expect(stderr.text).toContain("  not shown: 2101 characters of the arguments\n");
    stdin.write("s\n");
    await stderr.until("changes, [N]o ");
    const full = stderr.text.split("[s]how everything")[1] ?? "";
    expect(full.replace(/\s/g, "")).toContain(text.replace(" ", ""));
    stdin.write("y\n");
    expect(await running.done).toMatchObject({ code: 0, stdout: `${text}\n` });
  });

  it("is not made after Ctrl-C at the question", async () => {
    const stdin = Object.assign(new PassThrough(), { isTTY: true });
    const stderr = new Sink({ columns: 80, rows: 24 });
    const argv = ["--config", "board.json", "call", "echo", "text=hi"];
    const running = scratch.start(argv, { stdin, stderr, env: { NO_COLOR: "1" } });
    await stderr.until("[N]o ");
    running.events.emit("SIGINT");
    expect(await running.done).toMatchObject({ code: 130, stdout: "" });
  });
});
