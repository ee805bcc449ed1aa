// The sessions on disk: one file of JSON lines each, appended as things happen, so that a crash costs at most the line
// that was being written.

import { constants } from "node:fs";
import { type FileHandle, open, readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { SessionInfo, SessionUpdate } from "@agentclientprotocol/sdk";
import type { SessionRedactor } from "../../../core/board/session-redactor.ts";
import { isJsonObject, type JsonObject, tryParseJson } from "../../../core/types/json.ts";
import { boundedMap, READERS } from "../../../util/bounded-map.ts";
import { type Clock, systemClock } from "../../../util/clock.ts";
import { oneLine } from "../../../util/text.ts";
import { makeDirectory } from "../../../util/make-directory.ts";
import { openRegularFile, readRegularFile } from "../../../util/regular-file.ts";
import { replaceFile } from "../../../util/replace-file.ts";
import { hasEnded, promptText, replacedBy, textContent } from "../wire/content.ts";
import type { ClientSystemPrompt } from "../wire/params.ts";
import { isKept, SessionRecord } from "./record.ts";

const VERSION = 1;
const SUFFIX = ".jsonl";
const PAGE = 50;
/** Enough for the first line and the first prompt, which is all that a list shows. */
const HEAD_BYTES = 64 * 1024;
const NEWLINE = 0x0a;
const LONGEST_TITLE = 80;
const INTERRUPTED = "The agent ended before this call did, so its result is unknown.";
/** The form of the ids we make. Anything else must not become a file name. */
const ID = /^[A-Za-z0-9-]{1,64}$/;

interface Header {
  version: number;
  sessionId: string;
  cwd: string;
}

export interface Recorded {
  cwd: string;
  updates: SessionUpdate[];
  /** The model that was chosen last. */
  model?: string;
  /** The last system prompt that the client gave. */
  systemPrompt?: ClientSystemPrompt;
  /** Every mode that was set, the oldest first. They are as the file has them: not all need to exist. */
  modes: string[];
}

export interface SessionFilter {
  cwd?: string;
  cursor?: string;
}

export interface HistoryPage {
  sessions: SessionInfo[];
  nextCursor?: string;
}

export class History {
  readonly #directory: string;
  readonly #clock: Clock;

  /** Writes nothing before the first session. */
  constructor(directory: string, clock: Clock = systemClock) {
    this.#directory = directory;
    this.#clock = clock;
  }

  /**
   * Opens a session's file, or creates it; from now on the session is listed under `cwd`. An incomplete last line is cut off.
   * `onFailure` is called once, when a write fails; nothing is written after that.
   */
  async record(
    sessionId: string,
    cwd: string,
    redactor: SessionRedactor,
    onFailure: (error: unknown) => void = () => {},
  ): Promise<SessionRecord> {
    await makeDirectory(this.#directory);
    const path = this.#path(sessionId);
    const header: Header = { version: VERSION, sessionId, cwd };
    const listed = await directoryIn(path);
    if (listed !== undefined && listed !== cwd) {
      await replaceHeader(path, await redactor.everywhere(header));
    }
    const { O_RDWR, O_CREAT, O_APPEND } = constants;
    const file = await openRegularFile(path, O_RDWR | O_CREAT | O_APPEND, 0o600);
    try {
      const length = await cutIncompleteLine(file);
      const record = new SessionRecord(file, { redactor, clock: this.#clock, onFailure });
      if (length === 0) record.write(header);
      return record;
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  /** Undefined if there is no such session. */
  async read(sessionId: string): Promise<Recorded | undefined> {
    if (!ID.test(sessionId)) return undefined;
    let text: string;
    try {
      text = await readRegularFile(this.#path(sessionId), Infinity);
    } catch {
      return undefined;
    }
    const [first, ...rest] = parseLines(text);
    if (!isHeader(first)) return undefined;
    return {
      cwd: first.cwd,
      updates: withoutReplaced(rest.flatMap((line) => toUpdate(line) ?? [])),
      model: rest.flatMap(({ model }) => (typeof model === "string" ? model : [])).at(-1),
      systemPrompt: rest.flatMap(({ systemPrompt }) => toSystemPrompt(systemPrompt) ?? []).at(-1),
      modes: rest.flatMap(({ mode }) => (typeof mode === "string" ? mode : [])),
    };
  }

  async delete(sessionId: string): Promise<void> {
    if (ID.test(sessionId)) await rm(this.#path(sessionId), { force: true });
  }

  /** The latest first. The cursor names the last session of the previous page, so new sessions do not shift pages. */
  async list(filter: SessionFilter): Promise<HistoryPage> {
    const names = await readdir(this.#directory).catch(() => []);
    const ids = names
      .filter((name) => name.endsWith(SUFFIX))
      .map((name) => name.slice(0, -SUFFIX.length))
      .filter((id) => ID.test(id));
    const after = filter.cursor;
    const sessions = (await this.#infos(ids))
      .filter(({ cwd }) => filter.cwd === undefined || cwd === filter.cwd)
      .sort((a, b) => (keyOf(a) < keyOf(b) ? 1 : -1))
      .filter((info) => after === undefined || keyOf(info) < after);
    const page = sessions.slice(0, PAGE);
    const last = page.at(-1);
    return { sessions: page, nextCursor: sessions.length > PAGE && last ? keyOf(last) : undefined };
  }

  async #infos(ids: readonly string[]): Promise<SessionInfo[]> {
    const infos = await boundedMap(ids, READERS, (id) => this.#info(id));
    return infos.filter((info) => info !== undefined);
  }

  async #info(sessionId: string): Promise<SessionInfo | undefined> {
    try {
      const path = this.#path(sessionId);
      const [text, { mtime }] = await Promise.all([readHead(path), stat(path)]);
      const [first, ...rest] = parseLines(text);
      if (!isHeader(first)) return undefined;
      const updatedAt = mtime.toISOString();
      return { sessionId, cwd: first.cwd, updatedAt, title: titleIn(rest) };
    } catch {
      return undefined;
    }
  }

  #path(sessionId: string): string {
    return join(this.#directory, `${sessionId}${SUFFIX}`);
  }
}

function isHeader(line: JsonObject | undefined): line is JsonObject & Header {
  return line !== undefined && line["version"] === VERSION && typeof line["cwd"] === "string";
}

/** Undefined if there is no file with a header. */
async function directoryIn(path: string): Promise<string | undefined> {
  const [first] = parseLines(await readHead(path).catch(() => ""));
  return isHeader(first) ? first.cwd : undefined;
}

/** Lists are made from the first line alone, so that is where the directory has to be. */
async function replaceHeader(path: string, header: object): Promise<void> {
  const text = await readRegularFile(path, Infinity);
  const written = `${path}.new`;
  const file = await open(written, "w", 0o600);
  try {
    await file.writeFile(`${JSON.stringify(header)}\n${text.slice(text.indexOf("\n") + 1)}`);
  } finally {
    await file.close();
  }
  await replaceFile(written, path);
}

function toUpdate({ update }: JsonObject): SessionUpdate | undefined {
  if (!isJsonObject(update) || typeof update["sessionUpdate"] !== "string") return undefined;
  // Only `SessionRecord.add` writes these lines, so their shape is known.
  return isKept(update["sessionUpdate"]) ? (update as SessionUpdate) : undefined;
}

function toSystemPrompt(given: unknown): ClientSystemPrompt | undefined {
  if (typeof given === "string") return given;
  const append = isJsonObject(given) ? given["append"] : undefined;
  return typeof append === "string" ? { append } : undefined;
}

/** Leaves out answers that broke off and were given again. */
function withoutReplaced(updates: SessionUpdate[]): SessionUpdate[] {
  const replaced = new Set(updates.flatMap(replacedBy));
  if (replaced.size === 0) return updates;
  return updates.filter(
    (update) => !("messageId" in update && replaced.has(update.messageId ?? "")),
  );
}

/** A session's title: the beginning of its first prompt. Undefined if that has no words in it. */
export function titleOf(prompt: string): string | undefined {
  return oneLine(prompt, LONGEST_TITLE) || undefined;
}

function titleIn(lines: readonly JsonObject[]): string | undefined {
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

/**
 * Updates that end the calls an agent was making when it was killed. Without them an editor would show these calls as
 * running forever.
 */
export function endInterruptedCalls(past: readonly SessionUpdate[]): SessionUpdate[] {
  const running = new Set<string>();
  for (const update of past) {
    if (update.sessionUpdate === "tool_call") running.add(update.toolCallId);
    if (update.sessionUpdate !== "tool_call_update") continue;
    if (hasEnded(update.status)) running.delete(update.toolCallId);
  }
  return [...running].map((toolCallId) => ({
    sessionUpdate: "tool_call_update",
    toolCallId,
    status: "failed",
    content: [textContent(INTERRUPTED)],
  }));
}

/** Cuts off what follows the last line break: a crash may have left half a line. Resolves to the length that is left. */
async function cutIncompleteLine(file: FileHandle): Promise<number> {
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
  const file = await openRegularFile(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    return buffer.toString("utf8", 0, bytesRead);
  } finally {
    await file.close();
  }
}

/** Skips lines that are not JSON: one bad line must not cost the others. */
function parseLines(text: string): JsonObject[] {
  return text.split("\n").map(tryParseJson).filter(isJsonObject);
}
