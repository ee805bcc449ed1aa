// A recording on disk: JSON lines, of which the first says what it is, and each other one is an entry of the trace of one
// server. Written for the owner alone, and checked line by line when it is read.

import { constants } from "node:fs";
import { type FileHandle, unlink } from "node:fs/promises";
import { PlugboardError } from "../../core/types/errors.ts";
import { isJsonObject, type JsonObject, tryParseJson } from "../../core/types/json.ts";
import type { TraceEntry } from "../../core/types/trace.ts";
import { errorCode } from "../../util/error-code.ts";
import { reasonOf } from "../../util/system-problem.ts";
import { LineReader } from "../../util/line-reader.ts";
import { isDeeperThan } from "../../util/json-depth.ts";
import { openRegularFile } from "../../util/regular-file.ts";
import { byteSize, oneLine } from "../../util/text.ts";
import { packageVersion } from "../../util/version.ts";
import { visible } from "../../util/visible.ts";

const { O_CREAT, O_EXCL, O_WRONLY } = constants;
/** Windows has no such flag. */
const O_NOFOLLOW = constants.O_NOFOLLOW ?? 0;

const FORMAT = "recording";
const VERSION = 1;
/** Longer messages are cut in a recording, and cannot be replayed. */
export const LONGEST_RECORDED = 16 * 1024 ** 2;
/** With what an entry adds to its message, and characters of several bytes. */
const LONGEST_LINE = 4 * LONGEST_RECORDED;
/** All of it is in memory while it is replayed. What comes after that is not recorded. */
const LARGEST_FILE = 256 * 1024 ** 2;
export const DEEPEST = 1000;
/** What may wait to be written. More than that is left out. */
const MOST_UNWRITTEN = 64 * 1024 ** 2;

interface RecordingHeader {
  server: string;
  /** As a date in ISO 8601. */
  recorded: string;
}

/** A message of a recording, and the line that it is on. */
export interface RecordedMessage {
  line: number;
  from: "board" | "server";
  message: JsonObject;
}

/** A message of which the recording has only a part. */
interface RecordedCut {
  line: number;
  from: "board" | "server";
  id: unknown;
}

export interface Recording extends RecordingHeader {
  messages: (RecordedMessage | RecordedCut)[];
}

export interface RecordingCounts {
  messages: number;
  /** Too large to be recorded whole. */
  cut: number;
  lost: number;
}

interface WriterOptions extends Pick<RecordingHeader, "recorded"> {
  /** Bytes that the file may have. */
  largest?: number;
}

/** Writes entries in their order. */
export class RecordingWriter {
  readonly counts: RecordingCounts = { messages: 0, cut: 0, lost: 0 };
  readonly #file: FileHandle;
  readonly #path: string;
  readonly #recorded: string;
  readonly #largest: number;
  #bytes = 0;
  /** When the first entry came. */
  #started: number | undefined;
  #waiting: string[] = [];
  #unwritten = 0;
  #writing: Promise<void> | undefined;
  #failure: PlugboardError | undefined;
  #isReplaced = false;

  private constructor(file: FileHandle, path: string, { recorded, largest }: WriterOptions) {
    this.#file = file;
    this.#path = path;
    this.#recorded = recorded;
    this.#largest = largest ?? LARGEST_FILE;
  }

  /**
   * Rejects with INVALID_ARGUMENTS if there is a file already, unless `force` is set, and for a link or a file of somebody
   * else's even then: it would show them what is recorded.
   */
  static async open(
    path: string,
    options: WriterOptions & { force: boolean },
  ): Promise<RecordingWriter> {
    // What is in a file that is there stays until there is something to put in its place.
    const flags = O_WRONLY | O_CREAT | O_NOFOLLOW | (options.force ? 0 : O_EXCL);
    const file = await openRegularFile(path, flags, 0o600).catch((error: unknown) => {
      throw cannotWrite(path, error);
    });
    const own = process.geteuid?.();
    if (own !== undefined && (await file.stat()).uid !== own) {
      await file.close();
      throw anotherFile(path, "belongs to another user");
    }
    // A file that was there has a mode of its own.
    await file.chmod(0o600).catch(() => {});
    return new RecordingWriter(file, path, options);
  }

  add(entry: TraceEntry): void {
    const { server, at, ...rest } = entry;
    this.#begin(server, at);
    if (this.#unwritten > MOST_UNWRITTEN || this.#bytes > this.#largest) {
      this.counts.lost += entry.kind === "lost" ? entry.count : 1;
      return;
    }
    if (!this.#write({ at: at - (this.#started ?? at), ...rest })) return;
    if (entry.kind === "message") this.counts.messages += 1;
    if (entry.kind === "cut") this.counts.cut += 1;
    if (entry.kind === "lost") this.counts.lost += entry.count;
  }

  #begin(server: string, at: number): void {
    if (this.#started !== undefined) return;
    this.#started = at;
    const header: RecordingHeader = { server, recorded: this.#recorded };
    this.#write({ plugboard: FORMAT, version: VERSION, ...header, by: packageVersion() });
  }

  /**
   * Resolves when everything is on disk. Rejects with SYSTEM_ERROR if it could not be written. A file without anything in
   * it is removed.
   */
  async close(): Promise<void> {
    await this.#writing;
    const { size } = await this.#file.stat();
    await this.#file.close();
    if (size === 0) await unlink(this.#path);
    if (this.#failure !== undefined) throw this.#failure;
  }

  /** False for what would make the file too large. */
  #write(value: object): boolean {
    const line = `${JSON.stringify(value)}\n`;
    const bytes = Buffer.byteLength(line);
    if (this.#bytes + bytes > this.#largest) {
      this.#bytes = Infinity;
      this.counts.lost += 1;
      return false;
    }
    this.#bytes += bytes;
    this.#unwritten += line.length;
    this.#waiting.push(line);
    // One write after another, from the first one on.
    this.#writing ??= this.#writeAll().finally(() => {
      this.#writing = undefined;
    });
    return true;
  }

  async #writeAll(): Promise<void> {
    while (this.#waiting.length > 0 && this.#failure === undefined) {
      const text = this.#waiting.splice(0).join("");
      try {
        if (!this.#isReplaced) await this.#file.truncate(0);
        this.#isReplaced = true;
        await this.#file.appendFile(text);
      } catch (error) {
        this.#failure = cannotWrite(this.#path, error);
      }
      this.#unwritten -= text.length;
    }
  }
}

/** Rejects with INVALID_ARGUMENTS: the message names the line that is wrong. */
export async function readRecording(path: string): Promise<Recording> {
  const name = visible(path);
  const file = await openRegularFile(path).catch((error: unknown) => {
    throw cannotRead(name, error);
  });
  try {
    const { size } = await file.stat();
    if (size > LARGEST_FILE) throw damaged(name, `it has ${byteSize(size)}, which is too much`);
    const reader = new RecordingReader(name);
    const lines = new LineReader({
      maxBytes: LONGEST_LINE,
      onLine: (line) => reader.take(line),
      onOverflow: () => reader.overflow(),
    });
    for await (const chunk of file.createReadStream({ autoClose: false })) {
      lines.push(chunk as Buffer);
    }
    lines.end();
    return reader.end();
  } finally {
    await file.close();
  }
}

class RecordingReader {
  readonly #name: string;
  readonly #messages: Recording["messages"] = [];
  #header: RecordingHeader | undefined;
  #line = 0;

  constructor(name: string) {
    this.#name = name;
  }

  take(text: string): void {
    this.#line += 1;
    const value = tryParseJson(text);
    if (this.#header === undefined) {
      this.#header = this.#readHeader(value);
      return;
    }
    if (!isJsonObject(value)) throw this.#wrong("is not a JSON object", text);
    if (value["kind"] !== "message" && value["kind"] !== "cut") return;
    const { from, message, id } = value;
    if (from !== "board" && from !== "server") {
      throw this.#wrong('has no "from" that is "board" or "server"', text);
    }
    if (value["kind"] === "cut") {
      this.#messages.push({ line: this.#line, from, id });
      return;
    }
    if (!isJsonObject(message)) throw this.#wrong('has no "message" that is an object', text);
    if (isDeeperThan(DEEPEST, message)) throw this.#wrong("is nested too deeply", text);
    this.#messages.push({ line: this.#line, from, message });
  }

  overflow(): never {
    this.#line += 1;
    const message = `line ${this.#line} is longer than ${byteSize(LONGEST_LINE)}`;
    throw damaged(this.#name, message);
  }

  end(): Recording {
    if (this.#header === undefined) throw damaged(this.#name, "it is empty");
    return { ...this.#header, messages: this.#messages };
  }

  #readHeader(value: unknown): RecordingHeader {
    if (!isJsonObject(value) || value["plugboard"] !== FORMAT) {
      const message = `line 1 is not the beginning of a recording: {"plugboard":"${FORMAT}",…}`;
      throw damaged(this.#name, message);
    }
    const { version, server, recorded } = value;
    if (version !== VERSION) {
      const given = oneLine(JSON.stringify(version) ?? "none", 40);
      throw damaged(
        this.#name,
        `line 1 has version ${given}, and this Plugboard reads version ${VERSION}`,
        "update Plugboard, or record it again",
      );
    }
    return {
      server: typeof server === "string" ? server : "recording",
      recorded: typeof recorded === "string" ? recorded : "",
    };
  }

  #wrong(what: string, text: string): PlugboardError {
    const shown = visible(oneLine(text, 60));
    const hint = this.#line === 1 ? RECORD_AGAIN : `remove that line, or ${RECORD_AGAIN}`;
    return damaged(this.#name, `line ${this.#line} ${what}: ${shown}`, hint);
  }
}

const RECORD_AGAIN = "record it again: plugboard record --help";

function damaged(name: string, why: string, hint = RECORD_AGAIN): PlugboardError {
  return new PlugboardError("INVALID_ARGUMENTS", `${name} cannot be replayed: ${why}`, { hint });
}

function cannotRead(name: string, error: unknown): PlugboardError {
  const isMissing = errorCode(error) === "ENOENT";
  const message = isMissing
    ? `there is no file ${name}`
    : `the recording cannot be read: ${reasonOf(error)}`;
  const hint = "to make a recording: plugboard record <server> <file>";
  return new PlugboardError("INVALID_ARGUMENTS", message, { cause: error, hint });
}

function cannotWrite(path: string, error: unknown): PlugboardError {
  const name = visible(path);
  if (errorCode(error) === "EEXIST") {
    return new PlugboardError("INVALID_ARGUMENTS", `there is a file ${name} already`, {
      hint: "name another file, or replace it with --force",
    });
  }
  if (errorCode(error) === "ELOOP") return anotherFile(path, "is a link");
  const message = `the recording cannot be written to ${name}: ${reasonOf(error)}`;
  return new PlugboardError("SYSTEM_ERROR", message, { cause: error });
}

function anotherFile(path: string, why: string): PlugboardError {
  const message = `${visible(path)} ${why}, so nothing was recorded in it`;
  return new PlugboardError("INVALID_ARGUMENTS", message, { hint: "name another file" });
}
