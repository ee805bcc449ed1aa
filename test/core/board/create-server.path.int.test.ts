// `programPath`: servers that are programs wait for it and start with it.

import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { openBoard } from "../../../src/core/board/board.ts";
import type { Board } from "../../../src/core/types/board.ts";
import { systemClock } from "../../../src/util/clock.ts";
import { closeBoards, fixture, open, reaches, statusOf, textOf } from "../../support/boards.ts";
import { temporaryDirectory } from "../../support/directory.ts";

let tools = "";

/** Creates a program of that name that is the echo server. */
beforeEach(() => {
  tools = temporaryDirectory();
  const { command, args = [] } = fixture("echo");
  const program = join(tools, "my-echo");
  writeFileSync(program, `#!/bin/sh\nexec '${command}' '${args.join("' '")}'\n`);
  chmodSync(program, 0o755);
});

// Registered last, so that it runs first.
closeBoards();

const env = { PATH: "/usr/bin:/bin" };

/** The PATH that the server was started with. */
async function pathOf(board: Board, server: string): Promise<string> {
  const said = JSON.parse(textOf(await board.call(`${server}/env`))) as { PATH: string };
  return said.PATH;
}

describe("programPath", () => {
  it("finds a command without a path, and is the PATH of its server", async () => {
    const programPath = Promise.resolve(`${tools}:/usr/bin:/bin`);
    const board = await open({ mine: { command: "my-echo" } }, { env, programPath });
    expect(await pathOf(board, "mine")).toBe(`${tools}:/usr/bin:/bin`);
  });

  it("does not replace a server's own PATH", async () => {
    const programPath = Promise.resolve("/nowhere");
    const own = { ...fixture("echo"), env: { PATH: "/my/own" } };
    const board = await open({ own }, { env, programPath });
    expect(await pathOf(board, "own")).toBe("/my/own");
  });

  it("is in the error message when a command is not found", async () => {
    const programPath = Promise.resolve(`${tools}:/bin`);
    const board = await open({ no: { command: "no-such-echo" } }, { env, programPath });
    const { state } = statusOf(board, "no");
    expect(state.kind === "failed" && state.error.hint).toContain(`PATH is ${tools}:/bin`);
  });

  it("that resolves late does not count towards the timeout of a start", async () => {
    let know: (path: string | undefined) => void = () => {};
    const programPath = new Promise<string | undefined>((resolve) => {
      know = resolve;
    });
    let late = 0;
    const clock = { ...systemClock, monotonic: () => performance.now() + late };
    const config = { servers: { slow: fixture("echo") }, startupWait: 0 };
    await using board = await openBoard(config, { env, programPath, clock });
    expect(statusOf(board, "slow").state.kind).toBe("starting");
    late = 3_600_000;
    know(undefined);
    await reaches(board, "slow", "ready");
    expect(await pathOf(board, "slow")).toBe(env.PATH);
  });

  it("that never resolves does not keep a board from closing", async () => {
    const config = { servers: { never: fixture("echo") }, startupWait: 0 };
    const board = await openBoard(config, { env, programPath: new Promise(() => {}) });
    expect(statusOf(board, "never").state.kind).toBe("starting");
    await board.close();
    expect(statusOf(board, "never").state.kind).toBe("stopped");
  });
});
