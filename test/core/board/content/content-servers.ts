// What the tests of resources and prompts share: the two libraries, and waiting for what they tell.

import type { Board } from "../../../../src/core/types/board.ts";
import type { BoardEvents } from "../../../../src/core/types/events.ts";
import { fixture, textOf } from "../../../support/boards.ts";
import type { ServerConfig } from "../../../../src/core/types/server-config.ts";

export const ERAS = ["legacy", "modern"] as const;

export type Era = (typeof ERAS)[number];

export function library(era: Era = "legacy", ...args: string[]): ServerConfig {
  return fixture("library", `--era=${era}`, ...args);
}

export function hostile(...args: string[]): ServerConfig {
  return fixture("hostile-library", ...args);
}

/** Calls a tool of the server `lib`. */
export async function tell(board: Board, tool: string, args: object = {}): Promise<string> {
  return textOf(await board.call(`lib/${tool}`, { ...args }));
}

export function next<Name extends "resources" | "prompts">(
  board: Board,
  name: Name,
): Promise<BoardEvents[Name]> {
  return new Promise((resolve) => {
    const off = board.on(name, (event) => {
      off();
      resolve(event);
    });
  });
}
