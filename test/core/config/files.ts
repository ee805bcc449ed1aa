// Configuration files for one test, gone when it is over.

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import { loadConfig } from "../../../src/core/config/load.ts";
import { PlugboardError } from "../../../src/core/types/errors.ts";
import { temporaryDirectory } from "../../support/directory.ts";

export async function writeConfig(content: string | Uint8Array): Promise<string> {
  const file = join(temporaryDirectory(), "plugboard.json");
  await writeFile(file, content);
  return file;
}

/** A file whose defaults have these servers, written as JSON5 text. */
export function writeServers(servers: string): Promise<string> {
  return writeConfig(`{ agents: { defaults: { mcp: { servers: ${servers} } } } }`);
}

/** The PlugboardError that `task` fails with. */
export async function failure(task: () => unknown): Promise<PlugboardError> {
  try {
    await task();
  } catch (error) {
    if (error instanceof PlugboardError) return error;
    throw error;
  }
  throw new Error("It should have failed.");
}

/** The lines of an error that lists problems, without the headline and the file's name. */
export function problemLines(error: PlugboardError, file: string): string[] {
  return error.message
    .split("\n")
    .slice(1)
    .map((line) => line.trim().replace(file, "FILE"));
}

/** What is said about a file with this text. */
export async function messagesOf(text: string, agentId?: string): Promise<string[]> {
  const file = await writeConfig(text);
  const error = await failure(() => loadConfig(file, agentId));
  expect(error.code).toBe("CONFIG_INVALID");
  return problemLines(error, file);
}
