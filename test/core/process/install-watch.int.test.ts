// A server that something like npx installs before it starts it.

import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { openBoard } from "../../../src/core/board/board.ts";
import { fixture, statusOf } from "../../support/boards.ts";
import { MovableClock } from "../../support/movable-clock.ts";
import { eventually } from "../../support/processes.ts";
import { temporaryDirectory } from "../../support/directory.ts";

/** Starts the server once there is a file called `go`. */
const NPX = `#!${process.execPath}
const { existsSync } = require("node:fs");
const { spawn } = require("node:child_process");
const [, , go, ...command] = process.argv;
const timer = setInterval(() => {
  if (!existsSync(go)) return;
  clearInterval(timer);
  spawn(process.execPath, command, { stdio: "inherit" }).on("exit", (code) => process.exit(code ?? 1));
}, 20);
`;

it("has its time for itself, unless somebody has set one", async () => {
  const directory = temporaryDirectory();
  const npx = join(directory, "npx");
  writeFileSync(npx, NPX);
  chmodSync(npx, 0o755);
  const go = join(directory, "go");
  const clock = new MovableClock();
  const { args = [] } = fixture("echo");
  const server = { command: npx, args: [go, ...args] };
  const board = await openBoard(
    { servers: { slow: server, strict: { ...server, timeout: 30_000 } }, startupWait: 0 },
    { clock },
  );
  onTestFinished(() => board.close());
  const stateOf = (name: string) => statusOf(board, name).state;
  const isInstalled = (): boolean => {
    const state = stateOf("slow");
    return state.kind !== "starting" || state.installer !== "npx";
  };
  // Not before it runs: its time begins then.
  await eventually(() => !isInstalled());
  clock.forward(60_000);
  await eventually(
    () => stateOf("strict").kind === "backoff" || stateOf("strict").kind === "failed",
  );
  expect(isInstalled()).toBe(false);
  writeFileSync(go, "");
  await eventually(() => stateOf("slow").kind === "ready");
  expect(statusOf(board, "slow").tools).toBeGreaterThan(0);
});
