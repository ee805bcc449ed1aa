import { describe, expect, it } from "vitest";
import { readCommandLine } from "../../../src/faces/cli/command-line.ts";
import type { Command } from "../../../src/faces/cli/invocation.ts";

function read(...argv: string[]) {
  let out = "";
  let err = "";
  const invocation = readCommandLine(argv, {
    out: (text) => (out += text),
    err: (text) => (err += text),
    width: 80,
  });
  return { invocation, out, err };
}

describe("a command line asks for", () => {
  it.each<[string[], Command]>([
    [["pins"], { kind: "pins", action: { kind: "list" } }],
    [["pins", "list"], { kind: "pins", action: { kind: "list" } }],
    [["pins", "show", "a/b"], { kind: "pins", action: { kind: "show", target: "a/b" } }],
    [["pins", "approve", "a"], { kind: "pins", action: { kind: "approve", target: "a" } }],
    [["pins", "forget", "a/b"], { kind: "pins", action: { kind: "forget", target: "a/b" } }],
    [["pins", "forget", "--all"], { kind: "pins", action: { kind: "forget-all" } }],
    [["audit"], { kind: "audit", follow: false }],
    [
      ["audit", "-f", "--server", "s", "--tool", "t*", "--since", "1h", "--limit", "0"],
      {
        kind: "audit",
        follow: true,
        server: "s",
        tool: "t*",
        since: { kind: "ago", ms: 3_600_000 },
        limit: 0,
      },
    ],
  ])("%j", (argv, command) => {
    expect(read(...argv).invocation).toMatchObject({ kind: "run", command });
    const json = read(...argv, "--json").invocation;
    expect(json).toMatchObject({ kind: "run", command, options: { json: true } });
  });

  it.each([
    [["pins", "--help"], "Usage: plugboard pins"],
    [["pins", "approve", "--help"], "Usage: plugboard pins approve"],
    [["audit", "--help"], "--follow"],
  ])("help that fits the terminal: %j", (argv, expected) => {
    const { invocation, out } = read(...argv);
    expect(invocation).toEqual({ kind: "answered", exitCode: 0 });
    expect(out).toContain(expected);
    expect(Math.max(...out.split("\n").map((line) => line.length))).toBeLessThanOrEqual(80);
  });
});

describe("a command line is refused", () => {
  it.each([
    [["pins", "aprove"], "plugboard: unknown command 'aprove'; did you mean approve?"],
    [["pins", "approve"], "plugboard: missing required argument 'target'"],
    [["pins", "forget"], "plugboard: say what to forget: server/tool, a server, or --all"],
    [
      ["pins", "forget", "a", "--all"],
      "plugboard: say what to forget: server/tool, a server, or --all",
    ],
    [
      ["audit", "--since", "yesterday"],
      "plugboard: option '--since <when>' argument 'yesterday' is invalid. Expected a time such as 15m, 1h, 2d or 2026-11-15.",
    ],
    [
      ["audit", "--limit", "-1"],
      "plugboard: option '--limit <n>' argument '-1' is invalid. Expected a whole number.",
    ],
  ])("%j", (argv, message) => {
    const { invocation, out, err } = read(...argv);
    expect(invocation).toEqual({ kind: "answered", exitCode: 2 });
    expect(err.split("\n")[0]).toBe(message);
    expect(out).toBe("");
  });
});
