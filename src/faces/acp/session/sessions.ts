// All sessions of one client: opened, loaded, resumed, listed, closed and deleted, each under its own lock.

import { randomUUID } from "node:crypto";
import { RequestError, type SessionUpdate } from "@agentclientprotocol/sdk";
import type { Logger } from "../../../model/logger.ts";
import type { Endpoint } from "../../../model/server-definition.ts";
import { collectSecrets } from "../../../secrets/collect.ts";
import { Redactor } from "../../../secrets/redactor.ts";
import { canonicalJson } from "../../../util/canonical-json.ts";
import { endOfCalls } from "../history/interrupted-calls.ts";
import type { History, HistoryPage, Recorded } from "../history/history.ts";
import { readMcpServers } from "../servers/mcp-servers.ts";
import type { McpServerParams } from "../wire/params.ts";
import type { NewResponder } from "../ports.ts";
import { Session, type SessionContext } from "./session.ts";

export interface SessionsOptions extends Omit<SessionContext, "record" | "responder"> {
  newResponder: NewResponder | undefined;
  history: History | undefined;
  logger: Logger;
}

export interface Opening {
  cwd: string;
  additionalDirectories: readonly string[];
  mcpServers: readonly McpServerParams[];
}

interface Live {
  session: Session;
  /** What it was opened with, to tell whether a load asks for the same. */
  setup: string;
}

export class Sessions {
  readonly #options: SessionsOptions;
  readonly #live = new Map<string, Live>();
  readonly #locks = new Map<string, Promise<unknown>>();
  #isClosed = false;

  constructor(options: SessionsOptions) {
    this.#options = options;
  }

  /** Throws −32002 for a session that is not open. */
  get(sessionId: string): Session {
    const live = this.#live.get(sessionId);
    if (live === undefined) throw RequestError.sessionNotFound(sessionId);
    return live.session;
  }

  cancel(sessionId: string): void {
    this.#live.get(sessionId)?.session.cancel();
  }

  create(opening: Opening): Promise<Session> {
    const id = randomUUID();
    return this.#exclusive(id, async () => {
      try {
        return await this.#open(id, opening, undefined);
      } catch (error) {
        // A session that never was must not be listed.
        await this.#options.history?.delete(id);
        throw error;
      }
    });
  }

  /** With `replay`, tells the client everything that was said before it resolves. */
  reopen(sessionId: string, opening: Opening, replay: boolean): Promise<Session> {
    return this.#exclusive(sessionId, async () => {
      const live = this.#live.get(sessionId);
      const recorded = await this.#options.history?.read(sessionId);
      if (recorded === undefined && live === undefined)
        throw RequestError.sessionNotFound(sessionId);
      // What is wrong with them must not cost the session that is there.
      readMcpServers(opening.mcpServers);
      const past = recorded?.updates ?? [];
      const ended = live === undefined ? endOfCalls(past) : [];
      if (replay) {
        for (const update of [...past, ...ended]) {
          await this.#options.peer.update(sessionId, update);
        }
      }
      // The same servers in the same place: their connections go on.
      if (live !== undefined && live.setup === setupKey(opening)) return live.session;
      if (live === undefined) return this.#open(sessionId, opening, recorded, ended);
      await this.#close(sessionId);
      // The end of a turn that was under way is on record now.
      const whole = await this.#options.history?.read(sessionId);
      return this.#open(sessionId, opening, whole);
    });
  }

  async list(filter: {
    cwd?: string | undefined;
    cursor?: string | undefined;
  }): Promise<HistoryPage> {
    return (await this.#options.history?.list(filter)) ?? { sessions: [] };
  }

  close(sessionId: string): Promise<void> {
    return this.#exclusive(sessionId, async () => {
      this.get(sessionId);
      await this.#close(sessionId);
    });
  }

  /** Of a session that is not open too. */
  delete(sessionId: string): Promise<void> {
    return this.#exclusive(sessionId, async () => {
      await this.#close(sessionId);
      await this.#options.history?.delete(sessionId);
    });
  }

  /** Resolves when nothing of any session is left; what is still opening is closed as well. */
  async closeAll(): Promise<void> {
    this.#isClosed = true;
    await Promise.allSettled([...this.#live.keys()].map((id) => this.#close(id)));
    await Promise.allSettled(this.#locks.values());
  }

  /** `ended` is what has to be added to what is kept. */
  async #open(
    id: string,
    opening: Opening,
    recorded: Recorded | undefined,
    ended: readonly SessionUpdate[] = [],
  ): Promise<Session> {
    const { history, logger, newResponder, ...context } = this.#options;
    const { servers, includes, skipped } = readMcpServers(opening.mcpServers);
    const { cwd, additionalDirectories } = opening;
    const redactor = new Redactor();
    for (const secret of secretsOf(opening.mcpServers)) redactor.add(secret);
    const record = await history?.record(id, cwd, redactor).catch((error: unknown) => {
      logger.warn("the session's history cannot be kept", { reason: String(error) });
      return undefined;
    });
    const roots = [cwd, ...additionalDirectories];
    const past = [...(recorded?.updates ?? []), ...ended];
    const hasTitle = past.length > 0;
    const setup = { id, cwd, roots, servers, includes, skipped, hasTitle };
    let session: Session;
    try {
      session = await Session.open(setup, {
        ...context,
        responder: newResponder?.(past, recorded?.model),
        record,
      });
    } catch (error) {
      await record?.close();
      throw error;
    }
    for (const update of ended) record?.add(update);
    this.#live.set(id, { session, setup: setupKey(opening) });
    if (this.#isClosed) await this.#close(id);
    return session;
  }

  async #close(sessionId: string): Promise<void> {
    const live = this.#live.get(sessionId);
    this.#live.delete(sessionId);
    await live?.session.close();
  }

  /** One change of a session after the other. */
  async #exclusive<Result>(sessionId: string, task: () => Promise<Result>): Promise<Result> {
    const before = this.#locks.get(sessionId) ?? Promise.resolve();
    const mine = before.then(task, task);
    this.#locks.set(sessionId, mine);
    try {
      return await mine;
    } finally {
      if (this.#locks.get(sessionId) === mine) this.#locks.delete(sessionId);
    }
  }
}

function setupKey({ cwd, additionalDirectories, mcpServers }: Opening): string {
  return canonicalJson([cwd, additionalDirectories, mcpServers]);
}

/** What a history must not hold, among what the client sent. */
function secretsOf(servers: readonly McpServerParams[]): string[] {
  return servers.flatMap(({ command = "", args = [], env = [], url, headers = [] }) => {
    const endpoint: Endpoint =
      url === undefined
        ? { kind: "stdio", command, args, env: toRecord(env) }
        : {
            kind: "http",
            url,
            headers: toRecord(headers),
            allowInsecure: false,
            allowPrivate: false,
          };
    return collectSecrets(endpoint, endpoint);
  });
}

function toRecord(pairs: readonly { name: string; value: string }[]): Record<string, string> {
  const record: Record<string, string> = Object.create(null);
  for (const { name, value } of pairs) record[name] = value;
  return record;
}
