import { readdir } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { openFileState } from "../../../../src/core/state/files/open.ts";
import { testSharedState } from "../shared-state-contract.ts";
import { temporaryDirectory } from "../../../support/directory.ts";

describe("two on one directory", () => {
  testSharedState(async ([one, two]) => {
    const directory = temporaryDirectory();
    return [openFileState(directory, { clock: one }), openFileState(directory, { clock: two })];
  });
});

it("nothing is written before there is something to keep", async () => {
  const directory = temporaryDirectory();
  const state = openFileState(directory);
  await state.pins.list();
  await state.approvals.list();
  state.tokens.find("x");
  state.sessions.isRevoked("x");
  state.changes.subscribe("pins", () => {})();
  await state.close();
  expect(await readdir(directory)).toEqual([]);
});
