// Reads the text of a configuration file, or says clearly why it cannot be read.

import { type FileHandle, stat } from "node:fs/promises";
import { PlugboardError } from "../../types/errors.ts";
import { configInvalid } from "../issue.ts";
import { errorCode } from "../../../util/error-code.ts";
import { openGivenFile, openRegularFile } from "../../../util/regular-file.ts";
import { type ConfigDocument, parseText } from "./document.ts";

const LARGEST = 4 * 1024 * 1024;

/**
 * Rejects with CONFIG_INVALID for a file that cannot be read or is neither JSON5 nor TOML. `given` is what was read from
 * it already.
 */
export async function readDocument(file: string, given?: string): Promise<ConfigDocument> {
  const text = given ?? (await readConfigText(file));
  const json = parseText(text);
  const parsed = json.kind === "document" ? json : ((await readToml(file, text)) ?? json);
  if (parsed.kind === "document") return parsed;
  throw configInvalid([{ file, ...parsed.position, path: "", message: parsed.message }]);
}

/** Undefined if the mistake is better explained as one in JSON5, such as an object that is not closed. */
async function readToml(
  file: string,
  text: string,
): Promise<ReturnType<typeof parseText> | undefined> {
  const isNamed = /\.toml$/i.test(file);
  if (!isNamed && /^\s*[{/]/.test(text)) return undefined;
  const { parseToml } = await import("./toml.ts");
  const parsed = parseToml(text);
  return isNamed || parsed.kind === "document" ? parsed : undefined;
}

/** Rejects with CONFIG_INVALID. A byte order mark is dropped. */
export async function readConfigText(file: string): Promise<string> {
  return decodeConfig(file, await readConfigBytes(file));
}

/** Throws CONFIG_INVALID. A byte order mark is dropped. */
export function decodeConfig(file: string, bytes: Uint8Array): string {
  const text = decodeText(bytes, file);
  if (text.trim() === "") {
    throw refuse(file, "the file is empty; expected an object such as { mcpServers: { … } }");
  }
  return text;
}

/** Throws CONFIG_INVALID for bytes that are not UTF-8. */
export function decodeText(
  bytes: Uint8Array,
  file: string,
  { ignoreBOM = false }: { ignoreBOM?: boolean } = {},
): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM }).decode(bytes);
  } catch (cause) {
    throw refuse(file, "is not UTF-8 text; save it as UTF-8", cause);
  }
}

/**
 * Reads until the end instead of asking for the size: a pipe (`--config <(…)`) has none. `mayBePipe: false` for a file that
 * is read again: a pipe would have nothing more to say, and might never end. Rejects with CONFIG_INVALID.
 */
export async function readConfigBytes(
  file: string,
  { mayBePipe = true }: { mayBePipe?: boolean } = {},
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  let handle: FileHandle | undefined;
  try {
    handle = await (mayBePipe ? openGivenFile(file) : openRegularFile(file));
    for (;;) {
      const { bytesRead, buffer } = await handle.read(Buffer.alloc(64 * 1024), 0, 64 * 1024);
      if (bytesRead === 0) return Buffer.concat(chunks);
      chunks.push(buffer.subarray(0, bytesRead));
      size += bytesRead;
      if (size > LARGEST) throw refuse(file, "is larger than 4 MiB; expected a configuration file");
    }
  } catch (error) {
    if (error instanceof PlugboardError) throw error;
    const isDirectory = (await stat(file).catch(() => undefined))?.isDirectory() === true;
    throw refuse(file, isDirectory ? "is a directory; expected a file" : reason(error), error);
  } finally {
    await handle?.close();
  }
}

function reason(error: unknown): string {
  const code = errorCode(error) ?? "unknown error";
  switch (code) {
    case "ENOENT":
    case "ENOTDIR":
      return "there is no such file";
    case "ENOTREGULAR":
      return "is not a file; expected a configuration file";
    case "EACCES":
    case "EPERM":
      return "may not be read; check its permissions";
    default:
      return `cannot be read (${code})`;
  }
}

function refuse(file: string, message: string, cause?: unknown): PlugboardError {
  return configInvalid([{ file, path: "", message }], cause);
}
