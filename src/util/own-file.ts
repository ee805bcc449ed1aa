// Creates and removes a file of our own, with as few questions to the system as there can be: a start writes several
// files for each server.

import { type FileHandle, open, unlink } from "node:fs/promises";
import { dirname } from "node:path";
import { hasErrorCode } from "./error-code.ts";
import { makeDirectory } from "./make-directory.ts";

/** A new file that only its owner can read, and its directory if that is missing. Rejects with EEXIST if it is there. */
export async function createFile(path: string): Promise<FileHandle> {
  const create = (): Promise<FileHandle> => open(path, "wx", 0o600);
  try {
    return await create();
  } catch (error) {
    if (!hasErrorCode(error, "ENOENT")) throw error;
    await makeDirectory(dirname(path));
    return create();
  }
}

/** It need not be there. */
export async function removeFile(path: string): Promise<void> {
  await unlink(path).catch((error: unknown) => {
    if (!hasErrorCode(error, "ENOENT")) throw error;
  });
}
