// What the tests of sessions have in common.

import { tmpdir } from "node:os";
import { fixture } from "../../../support/boards.ts";
import type { ServerConfig } from "../../../../src/core/types/server-config.ts";
import type { SessionBoard } from "../../../../src/core/types/board.ts";
import type { ServerStatus } from "../../../../src/core/types/server-status.ts";

export const cwd = tmpdir();

/** A fixture whose processes carry a mark in their environment. */
export function marked(mark: string, name = "echo", ...args: string[]): ServerConfig {
  return { ...fixture(name, ...args), env: { TEST_MARK: mark } };
}

export function statusIn(session: Pick<SessionBoard, "status">, name: string): ServerStatus {
  const found = session.status().find((each) => each.name === name);
  if (found === undefined) throw new Error(`${name} is not on the board`);
  return found;
}

/** Resolves when the server is in that state. */
export async function reached(
  session: Pick<SessionBoard, "status" | "on">,
  name: string,
  kind: string,
): Promise<void> {
  if (statusIn(session, name).state.kind === kind) return;
  await new Promise<void>((resolve) => {
    const off = session.on("server", ({ server, state }) => {
      if (server !== name || state.kind !== kind) return;
      off();
      resolve();
    });
  });
}
