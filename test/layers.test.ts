// The check of src/'s layers, on small trees that break them.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { findProblems } from "../scripts/layers.mjs";

function problemsIn(files: Record<string, string>): string[] {
  const src = mkdtempSync(join(tmpdir(), "plugboard-layers-"));
  try {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(src, path)), { recursive: true });
      writeFileSync(join(src, path), text);
    }
    return findProblems(src);
  } finally {
    rmSync(src, { recursive: true });
  }
}

it.each([
  ["a folder below", { "agent/a.ts": 'import { b } from "../board/b.ts";' }],
  ["its own folder", { "guard/a.ts": 'import { b } from "./b.ts";' }],
  ["the ACP agent, from the command line", { "faces/cli/a.ts": 'import("../acp/b.ts")' }],
  [
    "a file whose types it shares",
    {
      "net/a.ts": 'import type { B } from "./b.ts";',
      "net/b.ts": 'import type { A } from "./a.ts";',
    },
  ],
])("a file may import %s", (_, files) => {
  expect(problemsIn(files)).toEqual([]);
});

it.each([
  [
    "a folder above",
    { "guard/a.ts": 'import { b } from "../board/b.ts";' },
    "guard/a.ts must not import board/b.ts",
  ],
  [
    "a neighbour, for its type",
    { "guard/a.ts": 'import type { B } from "../server/b.ts";' },
    "guard/a.ts must not import server/b.ts",
  ],
  [
    "a neighbour, later",
    { "guard/a.ts": 'await import("../server/b.ts")' },
    "guard/a.ts must not import server/b.ts",
  ],
  [
    "a re-export of one",
    { "net/a.ts": 'export { b } from "../state/b.ts";' },
    "net/a.ts must not import state/b.ts",
  ],
  [
    "what is behind the board",
    { "faces/cli/a.ts": 'import { b } from "../../guard/b.ts";' },
    "faces/cli/a.ts must not import guard/b.ts",
  ],
  [
    "another face",
    { "faces/acp/a.ts": 'import { b } from "../cli/b.ts";' },
    "faces/acp/a.ts must not import faces/cli/b.ts",
  ],
  [
    "the demo server",
    { "board/a.ts": 'import { b } from "../demo/b.ts";' },
    "board/a.ts must not import demo/b.ts",
  ],
  [
    "a folder that needs it",
    {
      "faces/acp/x/a.ts": 'import type { B } from "../y/b.ts";',
      "faces/acp/y/b.ts": 'import type { A } from "../x/a.ts";',
    },
    "these import each other in a circle: faces/acp/x, faces/acp/y",
  ],
])("a file must not import %s", (_, files, problem) => {
  expect(problemsIn(files)).toContain(problem);
});
