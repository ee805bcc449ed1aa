// All sessions of one client: opened, loaded, resumed, listed, closed and deleted, each under its own lock.

import { randomUUID } from "node:crypto";
import { RequestError, type SessionUpdate } from "@agentclientprotocol/sdk";
import type { Logger } from "../../../model/logger.ts";
import { Redactor } from "../../../secrets/redactor.ts";
import { canonicalJson } from "../../../util/canonical-json.ts";
import { OneByOne } from "../../../util/one-by-one.ts";
import { oneLine } from "../../../util/text.ts";
import { endOfCalls } from "../history/interrupted-calls.ts";
import type { History, HistoryPage, Recorded } from "../history/history.ts";
import { readMcpServers } from "../servers/mcp-servers.ts";
import { secretsOf } from "../servers/secrets.ts";
import type { McpServerParams } from "../wire/params.ts";
import type { NewResponder } from "../responder/responder.ts";
import { modeAgain } from "./mode.ts";
import { Session, type SessionContext } from "./session.ts";

const LONGEST_REASON = 300;
const UNKEPT = "This session cannot be kept: it is not there to be loaded later";

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
  /** One change of a session after the other. */
  readonly #changes = new OneByOne();
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
    return this.#changes.run(id, async () => {
      try {
        return await this.#open(id, opening, undefined);
      } catch (error) {
        // A session that never was must not be listed.
        await this.#options.history?.delete(id).catch(() => {});
        throw error;
      }
    });
  }

  /** With `replay`, tells the client everything that was said before it resolves. */
  reopen(sessionId: string, opening: Opening, replay: boolean): Promise<Session> {
    return this.#changes.run(sessionId, async () => {
      const live = this.#live.get(sessionId);
      await live?.session.catchUp();
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
      if (live !== undefined && live.setup === setupKey(opening)) {
        live.session.reintroduce();
        return live.session;
      }
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
    return this.#changes.run(sessionId, async () => {
      this.get(sessionId);
      await this.#close(sessionId);
    });
  }

  /** Of a session that is not open too. */
  delete(sessionId: string): Promise<void> {
    return this.#changes.run(sessionId, async () => {
      await this.#close(sessionId);
      await this.#options.history?.delete(sessionId);
    });
  }

  /** Resolves when nothing of any session is left; what is still opening is closed as well. */
  async closeAll(): Promise<void> {
    this.#isClosed = true;
    await Promise.allSettled([...this.#live.keys()].map((id) => this.#close(id)));
    await this.#changes.settled();
  }

  /** `ended` is what has to be added to what is kept. */
  async #open(
    id: string,
    opening: Opening,
    recorded: Recorded | undefined,
    ended: readonly SessionUpdate[] = [],
  ): Promise<Session> {
    const { history, logger, newResponder, ...context } = this.#options;
    const { servers, skipped } = readMcpServers(opening.mcpServers);
    const { cwd, additionalDirectories } = opening;
    const redactor = new Redactor();
    for (const secret of secretsOf(opening.mcpServers)) redactor.add(secret);
    const unkept = (error: unknown): undefined => {
      const reason = oneLine(String(error), LONGEST_REASON);
      logger.warn("the session's history cannot be kept", { session: id, reason });
    };
    const record = await history?.record(id, cwd, redactor, unkept).catch(unkept);
    const isLost = history !== undefined && record === undefined;
    const roots = [cwd, ...additionalDirectories];
    const past = [...(recorded?.updates ?? []), ...ended];
    const hasTitle = past.length > 0;
    const mode = modeAgain(recorded?.mode);
    const notices = isLost ? [...skipped, UNKEPT] : skipped;
    const setup = { id, cwd, roots, servers, notices, mode, hasTitle };
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
}

function setupKey({ cwd, additionalDirectories, mcpServers }: Opening): string {
  return canonicalJson([cwd, additionalDirectories, mcpServers]);
}
