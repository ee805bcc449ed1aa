import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { nodeRemedy } from "../../../../src/core/upstream/log/node-version.ts";

let directory = "";

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "plugboard-node-"));
  for (const [name, node] of [
    ["new", ">=22.12"],
    ["either", "^18 || >=20"],
  ] as const) {
    mkdirSync(join(directory, "node_modules", name), { recursive: true });
    const manifest = JSON.stringify({ name, engines: { node } });
    writeFileSync(join(directory, "node_modules", name, "package.json"), manifest);
  }
});

afterAll(() => rmSync(directory, { recursive: true }));

it.each([
  ["SyntaxError: Invalid regular expression flags", "new", true],
  ["ReferenceError: File is not defined", "new", true],
  ["TypeError: Class extends value undefined is not a constructor or null", "new", true],
  ["ReferenceError: File is not defined", "either", false],
  ["ReferenceError: File is not defined", "not-there", false],
  ["Error: no token", "new", false],
])("%s in the package %s: it is the Node in use, %s", (line, name, isNode) => {
  const stack = `    at file://${directory}/node_modules/${name}/dist/index.js:3:1`;
  const stderr = [line, stack, "", "Node.js v20.20.2"];
  expect(nodeRemedy(line, stderr)).toBe(
    isNode
      ? "it needs Node.js >=22.12 and runs with 20.20.2: install a newer one, or give the path of its npx or node as command"
      : undefined,
  );
});
