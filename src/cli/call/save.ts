// Saves the binary parts of a result to new files; never overwrites one.

import { mkdir, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { ContentBlock } from "../../core/types/content.ts";
import { PlugboardError } from "../../core/types/errors.ts";
import type { CallOutcome } from "../../core/types/tool.ts";
import { errorCode, hasErrorCode } from "../../util/error-code.ts";
import { binaryOf } from "./result.ts";

const EXTENSIONS: Readonly<Record<string, string>> = {
  "application/octet-stream": "bin",
  "audio/mpeg": "mp3",
  "audio/x-wav": "wav",
  "image/jpeg": "jpg",
  "image/svg+xml": "svg",
  "text/markdown": "md",
  "text/plain": "txt",
};

export interface SaveOptions {
  /** Must exist. Without it nothing is saved. */
  directory: string | undefined;
  /** The base of a relative `directory`. */
  cwd: string;
  /** The files are named after it. */
  name: string;
}

/** To be called before the call is made, so that its result is not lost because it cannot be saved. */
export async function ensureDirectory(directory: string | undefined, cwd: string): Promise<void> {
  if (directory === undefined) return;
  const path = resolve(cwd, directory);
  try {
    await mkdir(path, { recursive: true });
  } catch (cause) {
    throw cannotSave(path, cause);
  }
}

/** Resolves to the path of each saved block. */
export async function saveBinary(
  { content }: CallOutcome,
  { directory, cwd, name }: SaveOptions,
): Promise<Map<ContentBlock, string>> {
  const saved = new Map<ContentBlock, string>();
  if (directory === undefined) return saved;
  const stem = name.replace(/[^A-Za-z0-9_-]+/g, "_").slice(0, 64) || "result";
  let number = 1;
  for (const block of content) {
    const binary = binaryOf(block);
    if (binary === undefined) continue;
    const bytes = Buffer.from(binary.data, "base64");
    const extension = extensionOf(binary.mimeType);
    for (;;) {
      const path = join(directory, `${stem}-${number}.${extension}`);
      number += 1;
      if (!(await writeNew(resolve(cwd, path), bytes))) continue;
      saved.set(block, path);
      break;
    }
  }
  return saved;
}

/** Resolves to false where the file already exists. */
async function writeNew(path: string, bytes: Buffer): Promise<boolean> {
  try {
    await writeFile(path, bytes, { flag: "wx" });
    return true;
  } catch (cause) {
    if (hasErrorCode(cause, "EEXIST")) return false;
    throw cannotSave(path, cause);
  }
}

function cannotSave(path: string, cause: unknown): PlugboardError {
  const why = hasErrorCode(cause, "EEXIST", "ENOTDIR")
    ? "it is not a directory"
    : (errorCode(cause) ?? "unknown error");
  return new PlugboardError("INVALID_ARGUMENTS", `cannot save to ${path} (${why})`, {
    cause,
    hint: "check that you may write there, or name another directory with --output",
  });
}

function extensionOf(mimeType: string): string {
  const [type = ""] = mimeType.toLowerCase().split(";");
  const known = EXTENSIONS[type.trim()];
  return known ?? /^[a-z]+\/(?:x-)?([a-z0-9]{1,8})$/.exec(type.trim())?.[1] ?? "bin";
}
