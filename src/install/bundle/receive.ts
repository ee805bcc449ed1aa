// Gets the file of a bundle: from this machine or over the network, at most so large, and hashed on the way. What is
// unpacked is the copy that was hashed, so that nobody can exchange the file in between.

import { createHash } from "node:crypto";
import { type FileHandle, open } from "node:fs/promises";
import { PlugboardError } from "../../core/types/errors.ts";
import type { GuardedFetch } from "../../core/net/fetch.ts";
import type { Clock } from "../../util/clock.ts";
import { hasErrorCode } from "../../util/error-code.ts";
import { openRegularFile } from "../../util/regular-file.ts";
import { byteSize, duration, oneLine } from "../../util/text.ts";
import { fault, requireRunning } from "./archive.ts";

const MEBIBYTE = 1024 * 1024;
const LARGEST_FILE = 512 * MEBIBYTE;

const HEADERS_TIMEOUT = 30_000;
/** A server that sends nothing for so long has hung. */
const IDLE_TIMEOUT = 30_000;
/** Half a gigabyte at 1 MB a second takes less. */
const DEADLINE = 15 * 60_000;

/** How `mcpb sign` ends a file: marker, length, signature, marker. */
const SIGNATURE_START = Buffer.from("MCPB_SIG_V1");
const SIGNATURE_END = Buffer.from("MCPB_SIG_END");
const LARGEST_SIGNATURE = MEBIBYTE;
const END_OF_DIRECTORY = Buffer.from("PK\u0005\u0006");
const END_OF_DIRECTORY_SIZE = 22;

export type BundleSource =
  | { kind: "file"; path: string }
  | { kind: "url"; url: string }
  /** Somebody sends it; `name` is what they call it. */
  | { kind: "sent"; name: string; chunks: AsyncIterable<Buffer> };

export interface Received {
  /** Of the file as it came, in hexadecimal. */
  sha256: string;
  /** Without the signature. */
  size: number;
  isSigned: boolean;
}

interface Means {
  fetch: GuardedFetch;
  clock: Clock;
  signal: AbortSignal;
}

/** Writes it to `target`, which must not exist. `sha256` is what the file must have. */
export async function receive(
  source: BundleSource,
  target: string,
  sha256: string | undefined,
  means: Means,
): Promise<Received> {
  const copy = await open(target, "wx+", 0o600);
  try {
    const hash = createHash("sha256");
    let size = 0;
    for await (const chunk of chunksOf(source, means)) {
      requireRunning(means.signal);
      size += chunk.length;
      if (size > LARGEST_FILE) throw fault(`it is larger than ${byteSize(LARGEST_FILE)}`);
      hash.update(chunk);
      await copy.writeFile(chunk);
    }
    const found = hash.digest("hex");
    requireHash(found, sha256);
    const signature = await signatureSize(copy, size);
    // A zip reader looks for the list of files at the very end.
    if (signature?.isApart === true) await copy.truncate(size - signature.size);
    return {
      sha256: found,
      size: signature?.isApart === true ? size - signature.size : size,
      isSigned: signature !== undefined,
    };
  } finally {
    await copy.close();
  }
}

function chunksOf(source: BundleSource, means: Means): AsyncIterable<Buffer> {
  switch (source.kind) {
    case "file":
      return fromFile(source.path);
    case "url":
      return fromUrl(source.url, means);
    case "sent":
      return source.chunks;
  }
}

function requireHash(found: string, expected: string | undefined): void {
  if (expected === undefined || found === expected.toLowerCase()) return;
  throw new PlugboardError(
    "INVALID_ARGUMENTS",
    [
      "it is not the file that was published: its SHA-256 is another one",
      `  found:    ${found}`,
      `  expected: ${oneLine(expected, 100)}`,
    ].join("\n"),
    { permanent: true, hint: "do not use it, and tell its publisher" },
  );
}

async function* fromFile(path: string): AsyncGenerator<Buffer, void> {
  const file = await openRegularFile(path).catch((error: unknown) => {
    throw unreadable(error);
  });
  try {
    yield* file.createReadStream({ autoClose: false }) as AsyncIterable<Buffer>;
  } finally {
    await file.close();
  }
}

function unreadable(error: unknown): unknown {
  if (hasErrorCode(error, "ENOENT")) return fault("there is no such file", error);
  const isOther = ["ENOTREGULAR", "EISDIR"].some((code) => hasErrorCode(error, code));
  return isOther ? fault("it is not a file", error) : error;
}

async function* fromUrl(
  url: string,
  { fetch, clock, signal }: Means,
): AsyncGenerator<Buffer, void> {
  const response = await fetch(url, {
    method: "GET",
    headers: { accept: "application/zip, application/octet-stream, */*;q=0.5" },
    signal,
    headersTimeout: HEADERS_TIMEOUT,
    deadline: DEADLINE,
    // `receive` counts, and says it in words that are about a file.
    maxBodyBytes: Infinity,
  });
  const { host } = new URL(response.url);
  if (response.status !== 200) {
    response.cancel();
    throw new PlugboardError("HTTP_STATUS", `${host} answers with ${response.status}`, {
      status: response.status,
      quote: "",
      hint: "check the address",
    });
  }
  let hasHung = false;
  const watch = () =>
    clock.after(IDLE_TIMEOUT, () => {
      hasHung = true;
      response.cancel();
    });
  let timer = watch();
  try {
    for await (const chunk of response.body) {
      timer.cancel();
      yield chunk;
      timer = watch();
    }
  } catch (error) {
    if (!hasHung) throw error;
    throw new PlugboardError("TIMEOUT", `${host} has sent nothing for ${duration(IDLE_TIMEOUT)}`, {
      cause: error,
    });
  } finally {
    timer.cancel();
  }
}

interface Signature {
  size: number;
  /** It comes after the zip file. Otherwise it is the comment of the zip file, which is a part of it. */
  isApart: boolean;
}

async function signatureSize(file: FileHandle, size: number): Promise<Signature | undefined> {
  const length = Math.min(size, LARGEST_SIGNATURE);
  const end = Buffer.alloc(length);
  await file.read(end, 0, length, size - length);
  if (!end.subarray(-SIGNATURE_END.length).equals(SIGNATURE_END)) return undefined;
  const start = end.lastIndexOf(SIGNATURE_START);
  if (start === -1) return undefined;
  const directory = end.subarray(Math.max(0, start - END_OF_DIRECTORY_SIZE), start);
  const isWhole =
    directory.length === END_OF_DIRECTORY_SIZE &&
    directory.subarray(0, END_OF_DIRECTORY.length).equals(END_OF_DIRECTORY);
  const comment = isWhole ? directory.readUInt16LE(END_OF_DIRECTORY_SIZE - 2) : 0;
  return { size: length - start, isApart: comment === 0 };
}
