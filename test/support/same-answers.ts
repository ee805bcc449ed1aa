// Puts one question to several boards and compares what comes of it.

import type { BoardBase } from "../../src/core/types/board.ts";
import { PlugboardError } from "../../src/core/types/errors.ts";
import type { BoardEvents } from "../../src/core/types/events.ts";

export type Question<Asked> = (board: Asked) => unknown;

/** What comes of a question, errors included, without what differs from one time to the next. */
export async function answer<Asked>(
  board: Asked | undefined,
  question: Question<Asked>,
): Promise<unknown> {
  if (board === undefined) throw new Error("there is no such board");
  try {
    return plain(await question(board));
  } catch (error) {
    if (!(error instanceof PlugboardError)) throw error;
    const { code, message, hint, server, quote, status } = error;
    return plain({ error: { code, message, hint, server, quote, status } });
  }
}

const VOLATILE = new Set(["calls", "since", "startMs", "pid", "restarts", "durationMs"]);

export function plain(value: unknown): unknown {
  const text = JSON.stringify(value ?? null, (key, each: unknown) => {
    if (VOLATILE.has(key)) return undefined;
    return typeof each === "string" ? each.replace(/[0-9a-f]{12,}/g, "<id>") : each;
  });
  return JSON.parse(text);
}

/** The first event that is meant, while the task runs or after it. */
export async function heard<Name extends keyof BoardEvents>(
  board: BoardBase,
  name: Name,
  task: () => Promise<unknown>,
  isMeant: (event: BoardEvents[Name]) => boolean = () => true,
): Promise<BoardEvents[Name]> {
  let off = (): void => {};
  const event = new Promise<BoardEvents[Name]>((resolve) => {
    off = board.on(name, (each) => {
      if (isMeant(each)) resolve(each);
    });
  });
  try {
    await task();
    return await event;
  } finally {
    off();
  }
}
