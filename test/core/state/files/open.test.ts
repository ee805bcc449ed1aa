import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { openFileState } from "../../../../src/core/state/files/open.ts";
import { testSharedState } from "../shared-state-contract.ts";

async function makeDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "plugboard-state-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

describe("two on one directory", () => {
  testSharedState(async () => {
    const directory = await makeDirectory();
    return [openFileState(directory), openFileState(directory)];
  });
});

it("nothing is written before there is something to keep", async () => {
  const directory = await makeDirectory();
  const state = openFileState(directory);
  await state.pins.list();
  await state.approvals.list();
  state.tokens.find("x");
  state.sessions.isRevoked("x");
  state.changes.subscribe("pins", () => {})();
  await state.close();
  expect(await readdir(directory)).toEqual([]);
});
