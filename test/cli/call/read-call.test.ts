import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readPlainCall } from "../../../src/cli/call/read-call.ts";
import { readCommandLine } from "../../../src/cli/command-line.ts";

const parsed = (argv: readonly string[]): unknown =>
  readCommandLine(argv, { out: () => {}, err: () => {}, width: undefined });

const PLAIN = [
  "call a/b",
  "call a/b x=1 y:=[1] - @f {}",
  "call --json a/b x=1",
  "--json --no-color call a/b --verbose",
  "--config f --agent one call a/b --agent two",
  "call a/b --timeout 500 --output out --yes --owner",
  "call a/b --log-level debug --exit-with-stdin",
  "--standalone call a/b",
  "call call call",
  "--config call call a/b --yes",
  "call a/b -- --json",
  "call b x=1 --json -- npx -y some --config f",
  "call b -e A=1 -e B --env C=2 -- node -e 1",
  "call https://a.example/mcp b x=1 -H A:1 --header B:2",
  "call https://a.example/mcp b -- npx",
  "call b -e A",
  "call b --",
];

const LEFT_TO_THE_PARSER = [
  "",
  "call",
  "tools a/b",
  "tools call",
  "call a/b --help",
  "call a/b -h",
  "call https://a.example/mcp",
  "call -- npx",
  "-e A call b -- npx",
  "add a/b -- call b",
  "call a/b -e -- npx",
  "call a/b -eA=1 -- npx",
  "call a/b --help -- npx",
  "call a/b --config=f",
  "call a/b --timeout soon",
  "call a/b --timeout 0",
  "call a/b --timeout",
  "call a/b --log-level loud",
  "call a/b --config --json",
  "call a/b -1",
  "call a/b --unknown",
  "--yes call a/b",
  "--config call --yes call a/b",
  "--version call a/b",
];

describe("a call on the command line", () => {
  it.each(PLAIN)("is read as the parser reads it: %s", (line) => {
    const argv = line.split(" ");
    expect(readPlainCall(argv)).toEqual(parsed(argv));
  });

  it.each(LEFT_TO_THE_PARSER)("is left to the parser: '%s'", (line) => {
    expect(readPlainCall(line.split(" ").filter(Boolean))).toBeUndefined();
  });

  it("is never read differently from the parser", () => {
    const words = [...PLAIN, ...LEFT_TO_THE_PARSER].flatMap((line) => line.split(" "));
    const argv = fc.array(fc.constantFrom("call", ...words), { maxLength: 7 });
    fc.assert(
      fc.property(argv, (given) => {
        const plain = readPlainCall(given);
        fc.pre(plain !== undefined);
        expect(plain).toEqual(parsed(given));
      }),
      { numRuns: 500 },
    );
  });
});
