// What was said and done in each session: a file of lines per session, appended as it happens, so that a
// crash costs at most the line that was being written.

import { constants } from "node:fs";
import { mkdir, open, readdir, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { SessionInfo, SessionUpdate } from "@agentclientprotocol/sdk";
import { isJsonObject } from "../../../model/json.ts";
import { type Clock, systemClock } from "../../../util/clock.ts";
import type { Redactor } from "../../../secrets/redactor.ts";
import { promptText } from "../wire/content.ts";
import { parseLines, readHead, repair } from "./lines.ts";
import { isKept, SessionRecord } from "./record.ts";
import { isMode, type Mode } from "../session/mode.ts";
import { titleOf } from "../session/title.ts";

const VERSION = 1;
const SUFFIX = ".jsonl";
const PAGE = 50;
/** Files that are open at once for a list. */
const READERS = 16;
/** As session ids are made here. Anything else is no name of a file. */
const ID = /^[A-Za-z0-9-]{1,64}$/;

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
  mode?: Mode;
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

  /**
   * The record of a session, made where there is none. A torn last line is cut off first. `onFailure` is called
   * once, when something cannot be written, and nothing is from then on.
   */
  async record(
    sessionId: string,
    cwd: string,
    redactor: Redactor,
    onFailure: (error: unknown) => void = () => {},
  ): Promise<SessionRecord> {
    await mkdir(this.#directory, { recursive: true, mode: 0o700 });
    const { O_RDWR, O_CREAT, O_APPEND } = constants;
    const file = await open(this.#path(sessionId), O_RDWR | O_CREAT | O_APPEND, 0o600);
    try {
      const length = await repair(file);
      const record = new SessionRecord(file, { redactor, clock: this.#clock, onFailure });
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
    const model = rest.flatMap((line) => settingIn(line, "model") ?? []).at(-1);
    const mode = rest.flatMap((line) => settingIn(line, "mode") ?? []).findLast(isMode);
    return {
      cwd: first.cwd,
      updates,
      ...(model !== undefined && { model }),
      ...(mode !== undefined && { mode }),
    };
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
    return sessions.length > PAGE && last !== undefined
      ? { sessions: page, nextCursor: keyOf(last) }
      : { sessions: page };
  }

  /** A few at a time: there may be more of them than files that can be open. */
  async #infos(ids: readonly string[]): Promise<SessionInfo[]> {
    const infos: SessionInfo[] = [];
    const left = ids.values();
    const reader = async (): Promise<void> => {
      for (const id of left) {
        const info = await this.#info(id);
        if (info !== undefined) infos.push(info);
      }
    };
    await Promise.all(Array.from({ length: READERS }, reader));
    return infos;
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

function isHeader(line: unknown): line is Header {
  return isJsonObject(line) && line["version"] === VERSION && typeof line["cwd"] === "string";
}

function toUpdate(line: unknown): SessionUpdate | undefined {
  const update = isJsonObject(line) ? line["update"] : undefined;
  if (!isJsonObject(update) || typeof update["sessionUpdate"] !== "string") return undefined;
  // Written by `add`, and nothing else.
  return isKept(update["sessionUpdate"]) ? (update as SessionUpdate) : undefined;
}

function settingIn(line: unknown, key: "model" | "mode"): string | undefined {
  const value = isJsonObject(line) ? line[key] : undefined;
  return typeof value === "string" ? value : undefined;
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
