// Opens files that must be regular files. Opening a named pipe would wait for its other end, perhaps forever, and a
// read that hangs cannot be cancelled.

import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { hasErrorCode } from "./error-code.ts";

const { O_NONBLOCK, O_RDONLY } = constants;

/** Rejects if there is something else at the path. `flags` are for reading unless others are given. */
export async function openRegularFile(
  path: string,
  flags = O_RDONLY,
  mode?: number,
): Promise<FileHandle> {
  const file = await open(path, flags | O_NONBLOCK, mode).catch((error: unknown) => {
    throw openingError(path, error);
  });
  try {
    if ((await file.stat()).isFile()) return file;
    throw new NotARegularFile(path);
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** A shell gives what a command writes, `--config <(make-config)`, as one of these. It has a writer. */
const OF_SHELL = /^\/(?:dev|proc\/self)\/(?:fd\/\d+|stdin)$/;

/** For a path that a person writes on a command line: as `openRegularFile`, but for what a shell put there. */
export function openGivenFile(path: string): Promise<FileHandle> {
  return OF_SHELL.test(path) ? open(path) : openRegularFile(path);
}

/** What is larger is no certificate, key or template, and would take as much memory. */
const LARGEST = 64 * 2 ** 20;

/** Rejects if there is something else at the path, or more than `most` bytes. */
export async function readRegularFile(path: string, most = LARGEST): Promise<string> {
  const file = await openRegularFile(path);
  try {
    if ((await file.stat()).size > most) throw new TooLargeFile(path, most);
    return await file.readFile("utf8");
  } finally {
    await file.close();
  }
}

/** As `readRegularFile`, for a small file. Throws if there is something else at the path. */
export function readRegularFileNow(path: string): string {
  return readRegularBytesNow(path).toString("utf8");
}

/** As `readRegularFileNow`, byte for byte. */
export function readRegularBytesNow(path: string): Buffer {
  const file = openRegularFileNow(path);
  try {
    return readFileSync(file);
  } finally {
    closeSync(file);
  }
}

/** As `openRegularFile`. Throws if there is something else at the path. */
export function openRegularFileNow(path: string, flags = O_RDONLY, mode?: number): number {
  let file: number;
  try {
    file = openSync(path, flags | O_NONBLOCK, mode);
  } catch (error) {
    throw openingError(path, error);
  }
  if (fstatSync(file).isFile()) return file;
  closeSync(file);
  throw new NotARegularFile(path);
}

/** A socket cannot be opened, nor can a pipe that nobody reads be opened for writing. */
function openingError(path: string, error: unknown): unknown {
  return hasErrorCode(error, "ENXIO") ? new NotARegularFile(path) : error;
}

class NotARegularFile extends Error {
  readonly code = "ENOTREGULAR";

  constructor(path: string) {
    super(`${path} is not a regular file`);
  }
}

class TooLargeFile extends Error {
  readonly code = "ETOOLARGE";

  constructor(path: string, most: number) {
    super(`${path} is larger than ${most / 2 ** 20} MiB`);
  }
}
