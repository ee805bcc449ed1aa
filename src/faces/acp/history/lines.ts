// A file of JSON lines that somebody may have been in the middle of writing.

import { type FileHandle, open } from "node:fs/promises";

/** Enough for the first line and the first prompt, which is all that a list shows. */
const HEAD_BYTES = 64 * 1024;
const NEWLINE = 0x0a;

/** Cuts off what follows the last line break. Resolves to the length that is left. */
export async function repair(file: FileHandle): Promise<number> {
  const { size } = await file.stat();
  const chunk = Buffer.alloc(HEAD_BYTES);
  let end = size;
  while (end > 0) {
    const start = Math.max(0, end - chunk.length);
    const { bytesRead } = await file.read(chunk, 0, end - start, start);
    const at = chunk.subarray(0, bytesRead).lastIndexOf(NEWLINE);
    if (at !== -1) {
      end = start + at + 1;
      break;
    }
    end = start;
  }
  if (end !== size) await file.truncate(end);
  return end;
}

export async function readHead(path: string): Promise<string> {
  const file = await open(path, "r");
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    return buffer.toString("utf8", 0, bytesRead);
  } finally {
    await file.close();
  }
}

/** A line that is no JSON is passed over: one bad line must not cost the others. */
export function parseLines(text: string): unknown[] {
  return text.split("\n").flatMap((line): unknown[] => {
    try {
      return line === "" ? [] : [JSON.parse(line)];
    } catch {
      return [];
    }
  });
}
