// What is fuzzed: a reader of bytes that somebody else wrote, and what must hold for any of them. `npm run fuzz` makes the bytes;
// fuzz.test.ts gives each target the ones that were once read wrongly.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type ErrorCode, PlugboardError } from "../../src/core/types/errors.ts";

export interface Target {
  /** Which bytes, and of whom. */
  about: string;
  /** Paths under src/ whose code it runs. */
  covers: readonly string[];
  /** Known inputs, of which others are made. */
  seeds: () => Promise<(string | Uint8Array)[]> | (string | Uint8Array)[];
  /** Texts that mean something to the reader, beside those in the seeds. */
  words?: readonly string[];
  /** Bytes. Default 4096. */
  longest?: number;
  /** Throws or rejects where something does not hold that must. It is given one input at a time. */
  run: (input: Buffer) => void | Promise<void>;
  close?: () => void | Promise<void>;
}

/** The result, or the error if it is one that people are meant to see. Any other error is a fault. */
export async function refusing<T>(
  task: () => T | Promise<T>,
  ...codes: ErrorCode[]
): Promise<{ value: T } | { refused: PlugboardError }> {
  try {
    return { value: await task() };
  } catch (error) {
    if (!(error instanceof PlugboardError)) throw error;
    assert.ok(codes.includes(error.code), `the error is ${error.code}: ${error.message}`);
    return { refused: error };
  }
}

/** The files of a folder beside the tests, as seeds. */
export function filesIn(
  folder: string,
  ending: RegExp = /\.(?:json5?|jsonc|toml|mcpb)$/,
): Buffer[] {
  const path = fileURLToPath(new URL(`../${folder}/`, import.meta.url));
  return readdirSync(path)
    .filter((name) => ending.test(name))
    .toSorted()
    .map((name) => readFileSync(`${path}${name}`));
}

/** The input in pieces whose size its first byte decides: readers must not care where a chunk ends. */
export function inChunks(input: Buffer): Buffer[] {
  const size = 1 + ((input[0] ?? 0) % 64);
  const chunks: Buffer[] = [];
  for (let at = 0; at < input.length; at += size) chunks.push(input.subarray(at, at + size));
  return chunks;
}

/** A tool that a board has without a server. */
export const ECHO = {
  name: "echo",
  description: "Says it again.",
  parameters: {
    type: "object",
    properties: { text: { type: "string" } },
    required: ["text"],
  },
  execute: async (_id: string, args: unknown) => ({
    content: [{ type: "text", text: JSON.stringify(args) }],
  }),
} as never;
