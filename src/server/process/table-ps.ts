// The process table of macOS and the BSDs, as `ps` prints it. On macOS the environment of the system's
// own programs (/bin/sh, /usr/bin/…) is hidden even from their owner, so those have no cookie here.

import type { Clock } from "../../util/clock.ts";
import { systemClock } from "../../util/clock.ts";
import { COOKIE_VARIABLE } from "./cookie.ts";
import type { PsLine } from "./ps.ts";
import { columns, FULL_COLUMNS, parseLine, parseShortLine, ps, psOf, SHORT_COLUMNS } from "./ps.ts";
import type { ProcessEntry, ProcessRef, ProcessTable } from "./table.ts";
import { below } from "./tree.ts";

const COOKIE = new RegExp(String.raw`(?:^| )${COOKIE_VARIABLE}=(\S+)`);
/** Where `ps` computes start times from the uptime, as on Linux, they waver by a second. */
const START_TOLERANCE = 1;

export interface PsTableOptions {
  platform?: NodeJS.Platform;
  uid?: number;
  clock?: Clock;
}

export class PsTable implements ProcessTable {
  /** All processes, lines of any length, environments. */
  readonly #selection: string;
  readonly #uid: number;
  readonly #clock: Clock;

  constructor(options: PsTableOptions = {}) {
    const { platform = process.platform } = options;
    this.#selection = platform === "darwin" ? "-axwwE" : "axeww";
    this.#uid = options.uid ?? process.geteuid?.() ?? 0;
    this.#clock = options.clock ?? systemClock;
  }

  async list(): Promise<ProcessEntry[]> {
    const lines = await ps([this.#selection, ...FULL_COLUMNS]);
    const found = lines.flatMap((line) => parseLine(line, this.#clock.now()) ?? []);
    const cookies = await this.#cookies(found);
    return found.map(({ entry }) => {
      const cookie = cookies.get(entry.pid);
      return cookie === undefined ? entry : { ...entry, cookie };
    });
  }

  async descendants(pid: number): Promise<ProcessRef[]> {
    return below(await this.list(), pid);
  }

  async living<Ref extends ProcessRef>(refs: readonly Ref[]): Promise<Ref[]> {
    if (refs.length === 0) return [];
    const pids = refs.map(({ pid }) => pid);
    const lines = await psOf(pids, SHORT_COLUMNS);
    const now = new Map(
      lines.flatMap((line) => parseShortLine(line) ?? []).map((entry) => [entry.pid, entry]),
    );
    return refs.filter(({ pid, start }) => {
      const entry = now.get(pid);
      if (!entry || entry.zombie) return false;
      return Math.abs(Number(entry.start) - Number(start)) <= START_TOLERANCE;
    });
  }

  /**
   * `ps` prints arguments and environment as one text, and an argument may look like a variable. So
   * the candidates are listed again without their environment: only what is gone then was in it.
   */
  async #cookies(lines: readonly PsLine[]): Promise<Map<number, string>> {
    const candidates = lines.filter(
      ({ entry, command }) => entry.uid === this.#uid && !entry.zombie && COOKIE.test(command),
    );
    const cookies = new Map<number, string>();
    if (candidates.length === 0) return cookies;
    const plain = await this.#argumentsOf(candidates);
    for (const { entry, command } of candidates) {
      const args = plain.get(entry.pid);
      if (args === undefined || !command.startsWith(args)) continue;
      const cookie = COOKIE.exec(command.slice(args.length))?.[1];
      if (cookie !== undefined) cookies.set(entry.pid, cookie);
    }
    return cookies;
  }

  async #argumentsOf(candidates: readonly PsLine[]): Promise<Map<number, string>> {
    const pids = candidates.map(({ entry }) => entry.pid);
    const lines = await psOf(pids, ["-ww", ...columns("pid", "command")]);
    return new Map(
      lines.map((line) => {
        const text = line.trimStart();
        const end = text.indexOf(" ");
        return [Number(text.slice(0, end)), text.slice(end).trimStart()];
      }),
    );
  }
}
