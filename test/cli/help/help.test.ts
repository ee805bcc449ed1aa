import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { ERROR_CODES } from "../../../src/cli/exit-code.ts";
import { readEntries } from "../../../src/cli/help/help.ts";
import { Sink, useScratch } from "../harness.ts";

const page = readFileSync(new URL("../../../docs/troubleshooting.md", import.meta.url), "utf8");
const entries = readEntries(page);
const scratch = useScratch();

describe("docs/troubleshooting.md", () => {
  it("has an entry for each error code, and no other", () => {
    expect(entries.map(({ code }) => code).toSorted()).toEqual(ERROR_CODES.toSorted());
  });

  it.each(entries.map(({ code, lines }) => [code, lines] as const))(
    "%s: says in few words what it means, and what to do",
    (_, lines) => {
      const [meaning = "", blank, ...points] = lines;
      expect(meaning).toMatch(/^[A-Z].*\.$/);
      expect(blank).toBe("");
      expect(points.length).toBeGreaterThan(0);
      for (const point of points) expect(point).toMatch(/^- .*[.?;]$/);
      expect(lines.join(" ").split(/\s+/).length).toBeLessThanOrEqual(60);
    },
  );

  it("starts with the doctor, and stays short", () => {
    expect(page.split("\n").slice(0, 3)).toEqual([
      "# Troubleshooting",
      "",
      expect.stringMatching(/^Start with `plugboard doctor`\./),
    ]);
    expect(page.split(/\s+/).length).toBeLessThanOrEqual(1700);
  });
});

describe("plugboard help", () => {
  const spawnFailed = [
    "SPAWN_FAILED",
    "The server's command could not be started.",
    "",
    "- The program is not installed, or not in `PATH`: install it, or give its full path as `command`.",
    "- `command` has arguments in it: put them into `args`.",
    "- `cwd` does not exist, or the file is not executable (`chmod +x`).",
    "",
  ].join("\n");

  it.each(["SPAWN_FAILED", "spawn_failed", "Spawn-Failed"])("%s shows the entry", async (word) => {
    expect(await scratch.run(["help", word])).toEqual({ code: 0, stdout: spawnFailed, stderr: "" });
  });

  it("shows the page that a link leads to, fits the terminal, and needs no configuration", async () => {
    const stdout = new Sink({ columns: 40 });
    const env = { NO_COLOR: "1", PLUGBOARD_CONFIG: "/nowhere" };
    expect((await scratch.run(["help", "REFUSED_ADDRESS"], { stdout, env })).code).toBe(0);
    expect(stdout.text).toContain("network\n  (docs/network.md)");
    expect(Math.max(...stdout.text.split("\n").map((line) => line.length))).toBeLessThanOrEqual(40);
  });

  it.each([
    [undefined, /^UNKNOWN_TOOL {9}No server has a tool/m],
    [80, /^UNKNOWN_TOOL {9}No server has a tool/m],
    [40, /^UNKNOWN_TOOL\n {2}No server has a tool/m],
  ])("errors lists the codes, on a terminal of %s columns", async (columns, expected) => {
    const stdout = columns === undefined ? new Sink() : new Sink({ columns });
    expect(await scratch.run(["help", "errors"], { stdout, env: { NO_COLOR: "1" } })).toMatchObject(
      { code: 0, stderr: "" },
    );
    expect(stdout.text).toMatch(expected);
    for (const code of ERROR_CODES) expect(stdout.text).toMatch(new RegExp(`^${code}\\b`, "m"));
    const longest = Math.max(...stdout.text.split("\n").map((line) => line.length));
    expect(longest).toBeLessThanOrEqual(columns ?? Infinity);
  });

  it("gives the entries as JSON", async () => {
    const one = await scratch.run(["help", "TIMEOUT", "--json"]);
    expect(JSON.parse(one.stdout)).toMatchObject({ code: "TIMEOUT" });
    const all = await scratch.run(["help", "errors", "--json"]);
    expect(JSON.parse(all.stdout)).toHaveLength(ERROR_CODES.length);
  });

  it.each([
    ["SPAWN_FAIL", "did you mean 'SPAWN_FAILED'?"],
    ["erors", "did you mean 'errors'?"],
    ["tols", "did you mean 'tools'?"],
  ])("%s: suggests the nearest of commands and codes", async (word, meant) => {
    const { code, stderr } = await scratch.run(["help", word]);
    expect([code, stderr.split("\n")[0]]).toEqual([
      2,
      `plugboard: unknown command or error code '${word}'; ${meant}`,
    ]);
  });
});
