// The files of an audit: the one that is written, and those it was renamed to when it was full, the
// newest first.

import { rename, rm } from "node:fs/promises";
import { extname } from "node:path";

const KEEP = 5;

/** `audit.1.jsonl` … for `audit.jsonl`. */
export function rotatedFiles(file: string): string[] {
  const extension = extname(file);
  const stem = file.slice(0, file.length - extension.length);
  return Array.from({ length: KEEP }, (_, at) => `${stem}.${at + 1}${extension}`);
}

/** Makes room for a new file; the oldest one goes. */
export async function rotate(file: string): Promise<void> {
  const files = [file, ...rotatedFiles(file)];
  const oldest = files.pop();
  if (oldest !== undefined) await rm(oldest, { force: true });
  let to = oldest;
  for (const from of files.reverse()) {
    if (to !== undefined) await renameIfThere(from, to);
    to = from;
  }
}

async function renameIfThere(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) throw error;
  }
}
