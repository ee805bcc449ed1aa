// What the next run learns of the starts of this one.

import { beforeEach, expect, it } from "vitest";
import { EarlierRuns } from "../../../src/core/board/earlier-runs.ts";
import { definitionHash } from "../../../src/core/catalog/catalog-cache.ts";
import { Redactor } from "../../../src/core/redaction/redactor.ts";
import { PlugboardError } from "../../../src/core/types/errors.ts";
import type { ServerState } from "../../../src/core/types/server-state.ts";
import { definition } from "../../support/definition.ts";
import { temporaryDirectory } from "../../support/directory.ts";
import { recordingLogger } from "../../support/logger.ts";
import { ManualClock } from "../../support/manual-clock.ts";

const docs = definition({ target: { kind: "stdio", command: "docs", args: [], env: {} } });
const IDLE: ServerState = { kind: "idle" };
const starting = (installer?: string): ServerState => ({
  kind: "starting",
  attempt: 1,
  since: 0,
  ...(installer !== undefined && { installer }),
});
const READY: ServerState = {
  kind: "ready",
  since: 0,
  startMs: 1,
  protocolVersion: "2025-11-25",
  pid: 1,
};
const failed = (code: "TIMEOUT" | "SECRET_UNAVAILABLE", permanent = false): ServerState => ({
  kind: "failed",
  error: new PlugboardError(code, "no answer within 30 s", { permanent }),
});

let stateDir: string;
let clock: ManualClock;
let runs: EarlierRuns;
let written: Promise<void>[];

beforeEach(() => {
  stateDir = temporaryDirectory();
  clock = new ManualClock();
  written = [];
  const logger = recordingLogger();
  runs = new EarlierRuns(stateDir, {
    options: { env: {} },
    clock,
    logger,
    redactor: new Redactor(),
  });
});

/** Goes through the states, each after as many seconds. */
async function live(...states: [seconds: number, state: ServerState][]): Promise<void> {
  const follow = runs.followStarts(docs, "/here", (task) => written.push(task));
  let previous = IDLE;
  for (const [seconds, state] of states) {
    await clock.advance(seconds * 1000);
    follow(state, previous);
    previous = state;
  }
  await Promise.all(written);
}

async function lastStart(): Promise<unknown> {
  const known = await runs.read(docs, "/here", {});
  return known.lastStart && [known.lastStart.kind, known.lastStart.error.message];
}

const LATE = ["late", "it had not answered after 5 s; tried just now"];

it.each<[string, [number, ServerState][], unknown]>([
  [
    "is not noted before it is late",
    [
      [0, starting()],
      [4.9, { kind: "stopping" }],
    ],
    undefined,
  ],
  [
    "is late after five seconds, also if it is stopped then",
    [
      [0, starting()],
      [5, { kind: "stopping" }],
    ],
    LATE,
  ],
  [
    "is late no more once it is ready",
    [
      [0, starting()],
      [6, READY],
    ],
    undefined,
  ],
  [
    "is not late while its package is being installed",
    [
      [0, starting()],
      [2, starting("npx")],
      [9, { kind: "stopping" }],
    ],
    undefined,
  ],
  [
    "is late if it hangs once its package is installed",
    [
      [0, starting()],
      [2, starting("npx")],
      [9, starting()],
      [5, { kind: "stopping" }],
    ],
    LATE,
  ],
  [
    "is late no more if it turns out that its package is being installed",
    [
      [0, starting()],
      [6, starting("npx")],
      [1, { kind: "stopping" }],
    ],
    undefined,
  ],
  [
    "has failed, late or not",
    [
      [0, starting()],
      [30, failed("TIMEOUT")],
    ],
    ["failed", "no answer within 30 s; tried just now"],
  ],
  [
    "is forgotten if its error comes at once and stays",
    [
      [0, starting()],
      [6, failed("TIMEOUT", true)],
    ],
    undefined,
  ],
  [
    "is forgotten if a secret could not be had",
    [
      [0, starting()],
      [6, failed("SECRET_UNAVAILABLE")],
    ],
    undefined,
  ],
])("a start %s", async (_, states, expected) => {
  await live(...states);
  expect(await lastStart()).toEqual(expected);
});

it("a start that is late is on disk before it has ended", async () => {
  const follow = runs.followStarts(docs, "/here", (task) => written.push(task));
  follow(starting(), IDLE);
  await clock.advance(5000);
  await Promise.all(written);
  expect(await lastStart()).toEqual(LATE);
});

it.each<[string, ServerState, boolean]>([
  ["ready", READY, false],
  ["stopped before it was ready", { kind: "stopping" }, false],
  ["failed for a while", failed("TIMEOUT"), true],
  ["failed for good", failed("TIMEOUT", true), true],
  ["without its secret", failed("SECRET_UNAVAILABLE"), true],
  ["in need of a sign-in", { kind: "needs-auth", remedy: "plugboard login docs" }, true],
])("whether a list is doubted after a start that ended: %s", async (_, end, isDoubted) => {
  const hash = definitionHash(docs, "/here");
  const identity = { era: "legacy", protocolVersion: "2025-11-25" } as const;
  runs.saveTools(hash, { origin: "00", identity, capabilities: {}, tools: [], found: [] });
  await live([0, starting()], [1, end]);
  await runs.flush();
  const { tools } = await runs.read(docs, "/here", {});
  expect(tools).toBeDefined();
  expect(tools?.isDoubted ?? false).toBe(isDoubted);
});
