import { describe, expect, it } from "vitest";
import { fixture } from "../../support/boards.ts";
import { useScratch } from "../harness.ts";

const scratch = useScratch();

describe("plugboard types", () => {
  it("declares tools from the cache, of the servers that are named", async () => {
    const starts = scratch.file("starts.txt", "0");
    scratch.servers({
      b: fixture("echo"),
      a: fixture("flaky-start", "--fail=0", `--state=${starts}`),
    });
    const first = await scratch.run(["types"]);
    expect(first).toMatchObject({ code: 0, stderr: "" });
    expect(first.stdout).toContain('declare module "plugboard" {\n  interface ToolTypes {\n');
    const names = [...first.stdout.matchAll(/^ {4}"([^"]+)": \{$/gm)].map(([, name = ""]) => name);
    expect(names).toEqual(names.toSorted((one, other) => (one < other ? -1 : 1)));
    expect(names).toContain("b/add");

    const b = await scratch.run(["types", "b"]);
    expect(b.stdout).toContain(
      [
        "    /** Adds two numbers. */",
        '    "b/add": {',
        "      arguments: {",
        "        a: number;",
        "        b: number;",
        "      };",
        "      result: {",
        "        sum: number;",
        "      };",
        "    };",
        '    "mcp__b__add": ToolTypes["b/add"];',
        "",
      ].join("\n"),
    );
    expect(b.stdout).not.toContain('"a/');
    expect((await scratch.run(["types", "b", "a"])).stdout).toBe(first.stdout);
    expect(scratch.read("starts.txt")).toBe("1");
    expect((await scratch.run(["types", "a", "--refresh"])).stdout).toContain('"a/echo": {');
    expect(scratch.read("starts.txt")).toBe("2");

    const json = await scratch.run(["--json", "types", "b", "--output", "b.d.ts"]);
    expect(JSON.parse(json.stdout)).toMatchObject({
      file: "b.d.ts",
      tools: expect.arrayContaining(["b/add"]),
    });
    expect(scratch.read("b.d.ts")).toBe(b.stdout);
    // It has been generated, so it may be replaced; and what is not changed stays the same.
    expect(await scratch.run(["types", "b", "-o", "b.d.ts"])).toMatchObject({
      code: 0,
      stdout: "",
    });
    expect(scratch.read("b.d.ts")).toBe(b.stdout);
  });

  it("declares the tools of a server that is typed", async () => {
    const { command = "", args = [] } = fixture("echo");
    const typed = await scratch.run(["types", "--", command, ...args]);
    expect(typed).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('    "echo/add": {\n'),
    });
  });

  it("writes nothing if a server cannot be asked, and says how to leave it out", async () => {
    scratch.servers({ good: fixture("echo"), bad: { command: "/nowhere/at-all" } });
    const whole = await scratch.run(["types", "--output", "tools.d.ts"]);
    expect(whole).toMatchObject({ code: 3, stdout: "" });
    expect(whole.stderr).toContain("the tools of 'bad' are not known, so nothing was written");
    expect(whole.stderr).toContain("plugboard types good");
    expect(() => scratch.read("tools.d.ts")).toThrow("ENOENT");
  });

  it("does not replace a file that it has not written", async () => {
    scratch.servers({ a: fixture("echo") });
    scratch.file("mine.ts", "export const mine = 1;\n");
    const refused = await scratch.run(["types", "--output", "mine.ts"]);
    expect(refused).toMatchObject({ code: 2, stdout: "" });
    expect(refused.stderr).toContain("mine.ts exists and was not generated");
    expect(scratch.read("mine.ts")).toBe("export const mine = 1;\n");
  });

  it.each<[name: string, argv: string[], message: string]>([
    ["an unknown server", ["types", "ech"], "did you mean"],
    [
      "a name beside a typed server",
      ["types", "https://x.test/mcp", "echo"],
      "'echo' is one word too many",
    ],
  ])("refuses %s", async (_, argv, message) => {
    scratch.servers({ echo: fixture("echo") });
    const refused = await scratch.run(argv);
    expect(refused).toMatchObject({ code: 2, stdout: "" });
    expect(refused.stderr).toContain(message);
  });
});
