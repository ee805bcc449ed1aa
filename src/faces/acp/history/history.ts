// What was said and done in each session: a file of lines per session, appended as it happens, so that a
// crash costs at most the line that was being written.

import { constants } from "node:fs";
import { type FileHandle, mkdir, open, readdir, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { SessionInfo, SessionUpdate } from "@agentclientprotocol/sdk";
import { isJsonObject } from "../../../model/json.ts";
import { type Clock, systemClock } from "../../../util/clock.ts";
import type { Redactor } from "../../../secrets/redactor.ts";
import { promptText } from "../content.ts";
import { isKept, SessionRecord } from "./record.ts";
import { titleOf } from "../session/title.ts";

const VERSION = 1;
const SUFFIX = ".jsonl";
const PAGE = 50;
/** Enough for the first line and the first prompt, which is all that a list shows. */
const HEAD_BYTES = 64 * 1024;
/** As session ids are made here. Anything else is no name of a file. */
const ID = /^[A-Za-z0-9-]{1,64}$/;
const NEWLINE = 0x0a;

interface Header {
  version: number;
  sessionId: string;
  cwd: string;
}

export interface Recorded {
  cwd: string;
  updates: SessionUpdate[];
  /** The last that was chosen. */
  model?: string;
}

export interface HistoryPage {
  sessions: SessionInfo[];
  nextCursor?: string;
}

export class History {
  readonly #directory: string;
  readonly #clock: Clock;

  /** Nothing is written before the first session. */
  constructor(directory: string, clock: Clock = systemClock) {
    this.#directory = directory;
    this.#clock = clock;
  }

  /** The record of a session, made where there is none. A torn last line is cut off first. */
  async record(sessionId: string, cwd: string, redactor: Redactor): Promise<SessionRecord> {
    await mkdir(this.#directory, { recursive: true, mode: 0o700 });
    const { O_RDWR, O_CREAT, O_APPEND } = constants;
    const file = await open(this.#path(sessionId), O_RDWR | O_CREAT | O_APPEND, 0o600);
    try {
      const length = await repair(file);
      const record = new SessionRecord(file, redactor, this.#clock);
      if (length === 0) record.write({ version: VERSION, sessionId, cwd } satisfies Header);
      return record;
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  /** Undefined where there is no such session. */
  async read(sessionId: string): Promise<Recorded | undefined> {
    if (!ID.test(sessionId)) return undefined;
    let text: string;
    try {
      text = await readFile(this.#path(sessionId), "utf8");
    } catch {
      return undefined;
    }
    const [first, ...rest] = parseLines(text);
    if (!isHeader(first)) return undefined;
    const updates = rest.flatMap((line) => toUpdate(line) ?? []);
    const model = rest.flatMap((line) => toModel(line) ?? []).at(-1);
    return { cwd: first.cwd, updates, ...(model !== undefined && { model }) };
  }

  async delete(sessionId: string): Promise<void> {
    if (ID.test(sessionId)) await rm(this.#path(sessionId), { force: true });
  }

  /** The latest first. The cursor is the last of the page before: sessions that come between change nothing. */
  async list(filter: {
    cwd?: string | undefined;
    cursor?: string | undefined;
  }): Promise<HistoryPage> {
    const names = await readdir(this.#directory).catch(() => []);
    const all = await Promise.all(
      names
        .filter((name) => name.endsWith(SUFFIX) && ID.test(name.slice(0, -SUFFIX.length)))
        .map((name) => this.#info(name.slice(0, -SUFFIX.length))),
    );
    const after = filter.cursor;
    const sessions = all
      .flatMap((info) => info ?? [])
      .filter(({ cwd }) => filter.cwd === undefined || cwd === filter.cwd)
      .sort((a, b) => (keyOf(a) < keyOf(b) ? 1 : -1))
      .filter((info) => after === undefined || keyOf(info) < after);
    const page = sessions.slice(0, PAGE);
    const last = page.at(-1);
    return sessions.length > PAGE && last !== undefined
      ? { sessions: page, nextCursor: keyOf(last) }
      : { sessions: page };
  }

  async #info(sessionId: string): Promise<SessionInfo | undefined> {
    try {
      const path = this.#path(sessionId);
      const [text, { mtime }] = await Promise.all([readHead(path), stat(path)]);
      const [first, ...rest] = parseLines(text);
      if (!isHeader(first)) return undefined;
      const title = titleIn(rest);
      const updatedAt = mtime.toISOString();
      return { sessionId, cwd: first.cwd, updatedAt, ...(title !== undefined && { title }) };
    } catch {
      return undefined;
    }
  }

  #path(sessionId: string): string {
    return join(this.#directory, `${sessionId}${SUFFIX}`);
  }
}

/** Cuts off what follows the last line break. Resolves to the length that is left. */
async function repair(file: FileHandle): Promise<number> {
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

async function readHead(path: string): Promise<string> {
  const file = await open(path, "r");
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    return buffer.toString("utf8", 0, bytesRead);
  } finally {
    await file.close();
  }
}

/** A line that is no JSON is passed over: one bad line must not cost the others. */
function parseLines(text: string): unknown[] {
  return text.split("\n").flatMap((line): unknown[] => {
    try {
      return line === "" ? [] : [JSON.parse(line)];
    } catch {
      return [];
    }
  });
}

function isHeader(line: unknown): line is Header {
  return isJsonObject(line) && line["version"] === VERSION && typeof line["cwd"] === "string";
}

function toUpdate(line: unknown): SessionUpdate | undefined {
  const update = isJsonObject(line) ? line["update"] : undefined;
  if (!isJsonObject(update) || typeof update["sessionUpdate"] !== "string") return undefined;
  // Written by `add`, and nothing else.
  return isKept(update["sessionUpdate"]) ? (update as SessionUpdate) : undefined;
}

function toModel(line: unknown): string | undefined {
  const model = isJsonObject(line) ? line["model"] : undefined;
  return typeof model === "string" ? model : undefined;
}

function titleIn(lines: readonly unknown[]): string | undefined {
  for (const line of lines) {
    const update = toUpdate(line);
    if (update?.sessionUpdate !== "user_message_chunk") continue;
    const title = titleOf(promptText([update.content]));
    if (title !== undefined) return title;
  }
  return undefined;
}

function keyOf({ updatedAt, sessionId }: SessionInfo): string {
  return `${updatedAt ?? ""} ${sessionId}`;
}
