// All sessions of one client: opens, loads, lists, closes and deletes them, one change of a session at a time.

import { randomUUID } from "node:crypto";
import { RequestError, type SessionUpdate } from "@agentclientprotocol/sdk";
import { SessionRedactor } from "../../../core/board/session-redactor.ts";
import type { Logger } from "../../../core/types/logger.ts";
import { canonicalJson } from "../../../util/canonical-json.ts";
import { KeyedQueue } from "../../../util/keyed-queue.ts";
import { oneLine } from "../../../util/text.ts";
import {
  endInterruptedCalls,
  type History,
  type HistoryPage,
  type Recorded,
  type SessionFilter,
} from "../history/history.ts";
import type { NewResponder, Responder } from "../responder/responder.ts";
import { type AcceptedServers, readMcpServers, toTarget } from "../servers/mcp-servers.ts";
import type { ClientSystemPrompt, McpServerParams } from "../wire/params.ts";
import { Session, type SessionContext } from "./session.ts";
import { reopenedMode } from "./settings.ts";

const LONGEST_REASON = 300;
const LONGEST_ID = 100;
const UNSAVED = "This session cannot be saved, so you cannot load it later";

export interface AcpSessionsOptions extends Omit<
  SessionContext,
  "record" | "redactor" | "responder" | "learnSecrets"
> {
  newResponder: NewResponder | undefined;
  history: History | undefined;
  /** Values that the record of a session must not contain, beside the secrets that its board knows. */
  secrets: (() => Promise<Iterable<string>>) | undefined;
  logger: Logger;
}

export interface SessionParams {
  cwd: string;
  additionalDirectories: readonly string[];
  mcpServers: readonly McpServerParams[];
  _meta?: { systemPrompt?: ClientSystemPrompt } | null;
}

interface OpenedSession {
  session: Session;
  /** Tells whether a load asks for the same directories and servers. */
  setup: string;
  systemPrompt: ClientSystemPrompt | undefined;
}

export class AcpSessions {
  readonly #options: AcpSessionsOptions;
  readonly #opened = new Map<string, OpenedSession>();
  /** Changes of one session happen one after the other. */
  readonly #changes = new KeyedQueue();
  #isClosed = false;

  constructor(options: AcpSessionsOptions) {
    this.#options = options;
  }

  /** Throws −32002 for a session that is not open. */
  get(sessionId: string): Session {
    const opened = this.#opened.get(sessionId);
    if (opened === undefined) throw sessionNotFound(sessionId);
    return opened.session;
  }

  cancel(sessionId: string): void {
    this.#opened.get(sessionId)?.session.cancel();
  }

  create(params: SessionParams): Promise<Session> {
    const id = randomUUID();
    return this.#changes.run(id, async () => {
      try {
        return await this.#open(id, params, undefined);
      } catch (error) {
        // A session that did not open must not be listed.
        await this.#options.history?.delete(id).catch(() => {});
        throw error;
      }
    });
  }

  /** With `replay`, the client is sent everything that was said in the session before this resolves. */
  reopen(sessionId: string, params: SessionParams, replay: boolean): Promise<Session> {
    return this.#changes.run(sessionId, async () => {
      const opened = this.#opened.get(sessionId);
      await opened?.session.catchUp();
      const recorded = await this.#options.history?.read(sessionId);
      if (recorded === undefined && opened === undefined) throw sessionNotFound(sessionId);
      // Throws for invalid servers before anything happens to the session that is open.
      this.#read(params);
      const past = recorded?.updates ?? [];
      const ended = opened === undefined ? endInterruptedCalls(past) : [];
      if (replay) {
        for (const update of [...past, ...ended]) {
          await this.#options.client.update(sessionId, update);
        }
      }
      // With the same directories and servers, their connections stay.
      if (opened !== undefined && isSame(opened, params)) {
        opened.session.repeatCommands();
        return opened.session;
      }
      if (opened === undefined) return this.#open(sessionId, params, recorded, ended);
      await this.#close(sessionId);
      // By now the record has the end of the prompt that was being answered.
      const whole = await this.#options.history?.read(sessionId);
      return this.#open(sessionId, params, whole);
    });
  }

  async list(filter: SessionFilter): Promise<HistoryPage> {
    return (await this.#options.history?.list(filter)) ?? { sessions: [] };
  }

  close(sessionId: string): Promise<void> {
    return this.#changes.run(sessionId, async () => {
      this.get(sessionId);
      await this.#close(sessionId);
    });
  }

  /** The session need not be open. */
  delete(sessionId: string): Promise<void> {
    return this.#changes.run(sessionId, async () => {
      await this.#close(sessionId);
      await this.#options.history?.delete(sessionId);
    });
  }

  /** Resolves when nothing of any session is left, including sessions that are still opening. */
  async closeAll(): Promise<void> {
    this.#isClosed = true;
    await Promise.allSettled([...this.#opened.keys()].map((id) => this.#close(id)));
    await this.#changes.settled();
  }

  /** `ended` are updates that the record does not have yet. */
  async #open(
    id: string,
    params: SessionParams,
    recorded: Recorded | undefined,
    ended: readonly SessionUpdate[] = [],
  ): Promise<Session> {
    const { history, logger, newResponder, secrets, ...context } = this.#options;
    const { servers, skipped } = this.#read(params);
    const { cwd, additionalDirectories } = params;
    const redactor = new SessionRedactor();
    redactor.hide(params.mcpServers.map(toTarget));
    const learnSecrets = async (): Promise<void> => {
      for (const secret of (await secrets?.()) ?? []) redactor.add(secret);
    };
    await learnSecrets();
    const warnUnsaved = (error: unknown): undefined => {
      const reason = oneLine(String(error), LONGEST_REASON);
      logger.warn("the session cannot be saved", { session: id, reason });
    };
    const record = await history?.record(id, cwd, redactor, warnUnsaved).catch(warnUnsaved);
    const isUnsaved = history !== undefined && record === undefined;
    const past = [...(recorded?.updates ?? []), ...ended];
    const hasTitle = past.length > 0;
    const mode = reopenedMode(recorded?.modes ?? []);
    const systemPrompt = params._meta?.systemPrompt ?? recorded?.systemPrompt;
    const responder = await newResponder?.(past, { model: recorded?.model, systemPrompt });
    const notices = [
      ...skipped,
      ...(isUnsaved ? [UNSAVED] : []),
      ...ignoredPrompt(systemPrompt, responder),
    ];
    const setup = { id, cwd, additionalDirectories, servers, notices, mode, hasTitle };
    let session: Session;
    try {
      session = await Session.open(setup, {
        ...context,
        responder,
        record,
        redactor,
        learnSecrets,
      });
    } catch (error) {
      await record?.close();
      throw error;
    }
    for (const update of ended) record?.add(update);
    if (params._meta?.systemPrompt !== undefined) record?.write({ systemPrompt });
    this.#opened.set(id, { session, setup: setupKey(params), systemPrompt });
    if (this.#isClosed) await this.#close(id);
    return session;
  }

  /** Throws −32602. */
  #read({ mcpServers }: SessionParams): AcceptedServers {
    return readMcpServers(mcpServers, { overAcp: this.#options.sendMcpMessage !== undefined });
  }

  async #close(sessionId: string): Promise<void> {
    const opened = this.#opened.get(sessionId);
    this.#opened.delete(sessionId);
    await opened?.session.close();
  }
}

function isSame({ setup, systemPrompt }: OpenedSession, params: SessionParams): boolean {
  const asked = params._meta?.systemPrompt ?? systemPrompt;
  return setup === setupKey(params) && canonicalJson(asked) === canonicalJson(systemPrompt);
}

/** What a client sends for an id may be anything. */
function sessionNotFound(sessionId: string): RequestError {
  return RequestError.sessionNotFound(oneLine(sessionId, LONGEST_ID));
}

/** A client that has set a system prompt must not believe that it holds if it does not. */
function ignoredPrompt(
  systemPrompt: ClientSystemPrompt | undefined,
  responder: Responder | undefined,
): string[] {
  if (systemPrompt === undefined) return [];
  if (responder === undefined) return ["The client's system prompt is ignored: there is no model"];
  return responder.ignoresPrompt === undefined ? [] : [responder.ignoresPrompt];
}

function setupKey({ cwd, additionalDirectories, mcpServers }: SessionParams): string {
  return canonicalJson([cwd, additionalDirectories, mcpServers]);
}
