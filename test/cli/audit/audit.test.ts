import { appendFile, mkdir, rename, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { auditTable } from "../../../src/cli/audit/view.ts";
import { localTime } from "../../../src/cli/terminal/local-time.ts";
import { lostLine, suspiciousLine, toLine } from "../../../src/core/guard/audit/record.ts";
import { record, type RecordOverrides, Starts } from "../../core/guard/audit/records.ts";
import { Sink, useScratch } from "../harness.ts";

const scratch = useScratch();

const NOW = Date.now();
const home = () => join(scratch.directory, "home");
const file = () => join(home(), "audit.jsonl");

const line = (overrides: RecordOverrides = {}) => toLine(record({ time: NOW, ...overrides }));

async function write(text: string): Promise<void> {
  await mkdir(home(), { recursive: true });
  await writeFile(file(), text);
}

describe("plugboard audit", () => {
  it("says that there are no calls, and where it looked", async () => {
    expect(await scratch.run(["audit"])).toEqual({
      code: 0,
      stdout: "",
      stderr: `no calls yet in ${file()}\n`,
    });
    await write(line({}));
    expect((await scratch.run(["audit", "--tool", "none"])).stderr).toBe(
      `no matching calls in ${file()}\n`,
    );
  });

  it("prints a table, in local time", async () => {
    await write(
      line({ durationMs: 12.3, bytes: 2048, session: "s1", caller: "laptop" }) +
        line({
          tool: "write",
          decision: { verdict: "refused", rule: "pins: block" },
          outcome: "CHANGED_TOOL",
          bytes: 0,
        }) +
        lostLine(NOW, 2),
    );
    const { code, stdout, stderr } = await scratch.run(["audit"]);
    expect(code).toBe(0);
    expect(stderr).toBe("");
    const time = localTime(NOW);
    expect(stdout.split("\n").map((each) => each.replace(/ {2,}/g, " | "))).toEqual([
      "TIME | TOOL | OUTCOME | TOOK | SIZE | DECISION | ARGUMENTS | CALLER | AGENT",
      `${time} | docs/read | ok | 12 ms | 2 KiB | allowed | 44136fa355b3678a | laptop | default s1`,
      `${time} | docs/write | CHANGED_TOOL | 1 ms | 0 B | refused (pins: block) | 44136fa355b3678a | default`,
      `${time} | 2 calls not recorded`,
      "",
    ]);
  });

  it("has whole names of tools and callers at 80 columns", () => {
    const called = line({
      server: "github",
      tool: "create_request",
      caller: "laptop",
      session: "s1",
    });
    const [, row] = auditTable([JSON.parse(called)], {
      width: 80,
      isTerminal: true,
      paint: (_, text) => text,
    });
    expect(row).toContain("github/create_request");
    expect(row).toContain("laptop");
    expect(row?.length).toBeLessThanOrEqual(80);
  });

  it("shows arguments if they were recorded", async () => {
    const redact = { value: <T>(value: T): T => value };
    await write(line({ args: { kind: "copy", json: '{"path":"a\\u202eb"}' }, redact }));
    expect((await scratch.run(["audit"])).stdout).toContain('{"path":"ab"}');
    const flat = line({ args: { kind: "copy", json: '{"x":0}' }, redact });
    const [before = "", after = ""] = flat.split('"x":0');
    await write(`${before}"x":${"[".repeat(20_000)}${"]".repeat(20_000)}${after}`);
    expect((await scratch.run(["audit"])).stdout).toContain("(nested too deep to show)");
  });

  it("says what a call without an end means, and what looked suspicious", async () => {
    const suspect = { agent: "default", server: "docs", tool: "read" };
    await write(
      new Starts().start({ time: NOW, tool: "write" }) +
        suspiciousLine(NOW, { ...suspect, patterns: ["definition/exfiltration"] }) +
        suspiciousLine(NOW, { ...suspect, patterns: ["definition/exfiltration", "override"] }),
    );
    const { stdout, stderr } = await scratch.run(["audit"]);
    expect(stdout).toMatch(/docs\/write +no end/);
    expect(stdout).toMatch(/suspicious definition +exfiltration +default\n/);
    expect(stdout).toMatch(/suspicious result +exfiltration, override +default\n/);
    expect(stderr).toBe(
      'a call with "no end" still runs, or its host was killed in the middle of it; it may have taken effect\n',
    );
  });

  it("reads through a symbolic link, and says that nothing is recorded there", async () => {
    await write("");
    await rename(file(), join(home(), "calls.jsonl"));
    await symlink("calls.jsonl", file());
    const { code, stderr } = await scratch.run(["audit"]);
    expect(code).toBe(0);
    expect(stderr).toContain("is a symbolic link, so new calls are not recorded in it\nhint: ");
  });

  it("prints the lines of the file with --json, safe to look at", async () => {
    await write(line({ tool: "a\u202e\u009b" }) + lostLine(NOW, 1));
    const { stdout } = await scratch.run(["audit", "--json"]);
    const [first = "", second = "", rest] = stdout.split("\n");
    expect(first).toContain('"tool":"a\\u202e\\u009b"');
    expect(JSON.parse(first)).toMatchObject({
      type: "call",
      server: "docs",
      tool: "a\u202e\u009b",
    });
    expect(JSON.parse(second)).toMatchObject({ type: "lost", count: 1 });
    expect(rest).toBe("");
  });

  it.each<[string[], string[]]>([
    [["--limit", "1"], ["new"]],
    [["--tool", "docs/o*"], ["old"]],
    [["--server", "other"], ["else"]],
    [["--caller", "laptop"], ["old"]],
    [
      ["--since", "1h"],
      ["else", "new"],
    ],
  ])("shows what is asked for: %j", async (argv, tools) => {
    await write(
      line({ tool: "old", time: NOW - 7_200_000, caller: "laptop" }) +
        line({ tool: "else", server: "other" }) +
        line({ tool: "new" }),
    );
    const { stdout } = await scratch.run(["audit", "--json", ...argv]);
    const found = stdout.trim().split("\n");
    expect(found.map((each) => (JSON.parse(each) as { tool: string }).tool)).toEqual(tools);
  });

  it("reads the configured file", async () => {
    const elsewhere = scratch.file("calls.jsonl", line({ tool: "elsewhere" }));
    const config = scratch.file("config.json", { audit: { file: elsewhere } });
    const { stdout } = await scratch.run(["audit", "--config", config]);
    expect(stdout).toContain("docs/elsewhere");
  });

  it("says why it cannot read the file", async () => {
    await mkdir(file(), { recursive: true });
    const { code, stderr } = await scratch.run(["audit"]);
    expect(code).toBe(2);
    expect(stderr).toMatch(/^plugboard: .*audit\.jsonl is not a regular file\n/);
    const config = scratch.file("config.json", {
      audit: { file: join(file(), "..", "x".repeat(300)) },
    });
    const odd = await scratch.run(["audit", "--config", config]);
    expect(odd.code).toBe(2);
    expect(odd.stderr).toMatch(/cannot read .* \(ENAMETOOLONG\)\nhint: check its permissions, or /);
  });

  it.each([
    [
      ["--follow"],
      /docs\/first +ok .*\n.* docs\/second +started +default\n.* docs\/second +ok .*\n.*1 call not recorded/,
    ],
    [
      ["--follow", "--json"],
      /"first".*\n\{"type":"start","id":"p-0000000001".*"second".*\n\{"type":"call","start":"p-0000000001".*"second".*\n.*"count":1/,
    ],
  ])("follows with %j until it is interrupted", async (argv, expected) => {
    await write(line({ tool: "first" }));
    const stdout = new Sink();
    const { done, events } = scratch.start(["audit", ...argv], { stdout });
    await stdout.until("first");
    const second = record({ time: NOW, tool: "second" });
    const starts = new Starts();
    await appendFile(file(), starts.start({ time: NOW, tool: "second" }));
    // It is shown while the call runs.
    await stdout.until("second");
    await appendFile(file(), toLine(second, starts.idOf("second")) + lostLine(NOW, 1));
    await stdout.until(argv.includes("--json") ? '"count":1' : "1 call not recorded");
    events.emit("SIGINT");
    const { code, stdout: text, stderr } = await done;
    expect(code).toBe(130);
    expect(text).toMatch(expected);
    expect(stderr).toBe("");
  });
});
