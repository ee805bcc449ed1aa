// What the page shows of the audit: the calls on record in all of its files, the latest first, a page at a time.

import { type AuditQuery, auditFilter } from "../../../core/state/audit-filter.ts";
import type { AuditLine } from "../../../core/types/audit-entry.ts";
import type { AuditTrail } from "../../../core/types/shared-state.ts";
import { PlugboardError } from "../../../core/types/errors.ts";
import type { Visitor } from "./visitors.ts";
import type { WatchedCalls } from "./watched-calls.ts";
import type { AuditFound, AuditRow, Role } from "./wire.ts";

export interface AuditSearchOptions {
  /** The audits of all agents. Agents with the same file have one. */
  trails: () => Promise<readonly AuditTrail[]>;
  calls: Pick<WatchedCalls, "find">;
}

export interface AuditAsked extends AuditQuery {
  from: number;
  most: number;
}

export class AuditSearch {
  readonly #options: AuditSearchOptions;
  /** Reading all files takes a while: one search after another. */
  #last: Promise<unknown> = Promise.resolve();
  /** By the viewer: their search that has not begun. */
  readonly #waiting = new Map<string, object>();

  constructor(options: AuditSearchOptions) {
    this.#options = options;
  }

  /** Only the latest search of a viewer waits, so that nobody waits for all that a viewer asks for. */
  find(asked: AuditAsked, { role, nonce }: Pick<Visitor, "role" | "nonce">): Promise<AuditFound> {
    if (role === "viewer") this.#waiting.set(nonce, asked);
    const found = this.#last.then(() => {
      if (role === "viewer") {
        if (this.#waiting.get(nonce) !== asked) throw outdated();
        this.#waiting.delete(nonce);
      }
      return this.#find(asked, role);
    });
    this.#last = found.catch(() => {});
    return found;
  }

  async #find({ from, most, ...query }: AuditAsked, role: Role): Promise<AuditFound> {
    const isWanted = auditFilter(query);
    const trails = await this.#options.trails();
    let damaged = 0;
    const lines: AuditLine[] = [];
    for (const trail of trails) {
      const read = trail.read({
        last: from + most,
        filter: isWanted,
        onDamage: () => void (damaged += 1),
      });
      for await (const line of read) lines.push(line);
    }
    // Several files are one list.
    if (trails.length > 1) lines.sort((a, b) => a.time.localeCompare(b.time));
    const total = lines.length;
    const page = lines.slice(Math.max(0, total - from - most), Math.max(0, total - from));
    return {
      rows: page.toReversed().map((line) => this.#row(line, role)),
      hasMore: total >= from + most,
      where: role === "owner" ? trails.map(({ where }) => where) : [],
      damaged,
    };
  }

  #row(line: AuditLine, role: Role): AuditRow {
    if (line.type === "lost") return { type: "lost", time: line.time, count: line.count };
    if (line.type === "suspicious") {
      const { type, time, agent, server, tool, patterns } = line;
      return { type, time, agent, server, tool, patterns };
    }
    if (line.type === "decision") {
      const { type, time, agent, caller, server, tool, decided } = line;
      return { type, time, agent, caller, server, tool, decided };
    }
    const { type, time, agent, session, caller, server, tool } = line;
    const of = {
      type,
      time,
      agent,
      server,
      tool,
      ...(session !== undefined && { session }),
      ...(caller !== undefined && { caller }),
      ...(role === "owner" && line.arguments !== undefined && { arguments: line.arguments }),
    };
    if (line.type === "start") return of;
    const { decision, rule, durationMs, waitedMs, bytes, outcome } = line;
    const call = this.#options.calls.find(`${server}/${tool}`, Date.parse(time));
    return {
      ...of,
      decision,
      ...(rule !== undefined && { rule }),
      durationMs,
      ...(waitedMs !== undefined && { waitedMs }),
      bytes,
      outcome,
      ...(call !== undefined && { call }),
    };
  }
}

function outdated(): PlugboardError {
  return new PlugboardError("RATE_LIMITED", "you have searched for something else meanwhile", {
    hint: "wait for a search to end before you begin another one",
  });
}
