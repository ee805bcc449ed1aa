// The check of src/'s layers, on small trees that break them.

import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { findProblems } from "../scripts/layers.mjs";
import { temporaryDirectory } from "./support/directory.ts";

function problemsIn(files: Record<string, string>): string[] {
  const src = temporaryDirectory();
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(src, path)), { recursive: true });
    writeFileSync(join(src, path), text);
  }
  return findProblems(src);
}

it.each([
  ["a folder below", { "agent/a.ts": 'import { b } from "../core/board/b.ts";' }],
  ["its own folder", { "core/guard/a.ts": 'import { b } from "./b.ts";' }],
  ["the ACP agent, from the command line", { "cli/a.ts": 'import("../agent/acp/b.ts")' }],
  [
    "a helper, from the demo server",
    { "cli/demo/server/a.ts": 'import { b } from "../../../util/b.ts";' },
  ],
  [
    "a file whose types it shares",
    {
      "core/net/a.ts": 'import type { B } from "./b.ts";',
      "core/net/b.ts": 'import type { A } from "./a.ts";',
    },
  ],
])("a file may import %s", (_, files) => {
  expect(problemsIn(files)).toEqual([]);
});

it.each([
  [
    "a folder above",
    { "core/guard/a.ts": 'import { b } from "../board/b.ts";' },
    "core/guard/a.ts must not import core/board/b.ts",
  ],
  [
    "a room above",
    { "agent/acp/a.ts": 'import { b } from "../../cli/b.ts";' },
    "agent/acp/a.ts must not import cli/b.ts",
  ],
  [
    "a neighbour, for its type",
    { "core/guard/a.ts": 'import type { B } from "../upstream/b.ts";' },
    "core/guard/a.ts must not import core/upstream/b.ts",
  ],
  [
    "a neighbour, later",
    { "core/guard/a.ts": 'await import("../upstream/b.ts")' },
    "core/guard/a.ts must not import core/upstream/b.ts",
  ],
  [
    "a re-export of one",
    { "core/net/a.ts": 'export { b } from "../state/b.ts";' },
    "core/net/a.ts must not import core/state/b.ts",
  ],
  [
    "what is behind the board",
    { "cli/a.ts": 'import { b } from "../core/guard/b.ts";' },
    "cli/a.ts must not import core/guard/b.ts",
  ],
  [
    "a room beside it",
    { "serve/a.ts": 'import { b } from "../adapters/b.ts";' },
    "serve/a.ts must not import adapters/b.ts",
  ],
  [
    "the demo server",
    { "cli/a.ts": 'import { b } from "./demo/server/b.ts";' },
    "cli/a.ts must not import cli/demo/server/b.ts",
  ],
  [
    "a folder that needs it",
    {
      "agent/acp/x/a.ts": 'import type { B } from "../y/b.ts";',
      "agent/acp/y/b.ts": 'import type { A } from "../x/a.ts";',
    },
    "these import each other in a circle: agent/acp/x, agent/acp/y",
  ],
])("a file must not import %s", (_, files, problem) => {
  expect(problemsIn(files)).toContain(problem);
});
