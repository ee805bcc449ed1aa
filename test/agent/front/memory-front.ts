// A front in memory: the client and the processes of the agent are the test's, and everything between them is real.

import { randomBytes, randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { onTestFinished } from "vitest";
import { openBoard } from "../../../src/core/board/board.ts";
import type { SessionEndpoint } from "../../../src/serve/endpoint/session-endpoint.ts";
import { SessionEndpoints } from "../../../src/serve/endpoint/session-endpoints.ts";
import type { AgentEnd, AgentProcess } from "../../../src/agent/front/agent-process.ts";
import { FrontSession } from "../../../src/agent/front/front-session.ts";
import { runFront } from "../../../src/agent/front/front.ts";
import {
  type HandOver,
  mcpServersHandOver,
  noServersHandOver,
} from "../../../src/agent/front/hand-over.ts";
import type { JsonObject } from "../../../src/core/types/json.ts";
import { PlugboardError } from "../../../src/core/types/errors.ts";
import type { ServerConfig } from "../../../src/core/types/server-config.ts";
import { systemClock, type Clock } from "../../../src/util/clock.ts";
import { deferred } from "../../../src/util/deferred.ts";
import { recordingLogger } from "../../support/logger.ts";
import { type Line, LineCutter } from "../../../src/util/line-reader.ts";

/** What a test looks into as it likes. */
export type Json = ReturnType<typeof JSON.parse>;
type Answer = (params: Json, agent: MemoryAgent, request: Json) => unknown;

/** What the agent answers to a method: a result, an Error, or SILENT for nothing. */
export type Script = Record<string, Answer>;

export const SILENT = Symbol("no answer");

/** One process of the agent. */
export class MemoryAgent {
  /** Each line it was sent, byte for byte. */
  readonly lines: string[] = [];
  readonly process: AgentProcess;
  readonly endpoint: SessionEndpoint | undefined;
  isStopped = false;
  readonly #script: Script;
  readonly #ended = deferred<AgentEnd>();
  readonly #words: string[] = [];
  #take: (line: Line) => Promise<void> | undefined = () => undefined;
  readonly #cutter = new LineCutter({ maxBytes: 32 * 1024 * 1024 });

  constructor(script: Script, endpoint: SessionEndpoint | undefined) {
    this.#script = script;
    this.endpoint = endpoint;
    this.process = {
      pid: 0,
      read: (take) => {
        this.#take = take;
        return new Promise(() => {});
      },
      send: (line) => this.#receive(line),
      keepWords: (line) => void this.#words.push(line.toString()),
      room: () => undefined,
      ended: this.#ended.promise,
      stop: async () => {
        this.isStopped = true;
        this.end({ code: 0 });
      },
    };
  }

  get received(): Json[] {
    return this.lines.map((line) => JSON.parse(line));
  }

  /** The requests and notifications of one method. */
  asked(method: string): Json[] {
    return this.received.filter((message) => message["method"] === method);
  }

  say(message: object | string): void {
    const text =
      typeof message === "string" ? message : JSON.stringify({ jsonrpc: "2.0", ...message });
    for (const line of this.#cutter.push(Buffer.from(`${text}\n`))) void this.#take(line);
  }

  end(how: Partial<AgentEnd>): void {
    this.#ended.resolve({ code: null, signal: null, stderr: this.#words, ...how });
  }

  #receive(line: Buffer): void {
    this.lines.push(line.toString());
    let message: Json;
    try {
      message = JSON.parse(line.toString());
    } catch {
      return;
    }
    const { id, method, params = {} } = message;
    const answer = this.#script[method];
    if (id === undefined || answer === undefined) return;
    setImmediate(() => {
      const result = answer(params, this, message);
      if (result === SILENT) return;
      if (result instanceof Error)
        this.say({ id, error: { code: (result as Json).code ?? -32603, message: result.message } });
      else this.say({ id, result });
    });
  }
}

export interface FrontOptions {
  script?: Script;
  capabilities?: JsonObject;
  /** The operator's. */
  servers?: Record<string, ServerConfig>;
  isPerSession?: boolean;
  takesAcpServers?: boolean;
  /** The way in which the agent gets the board, over the usual one. */
  handOver?: (usual: HandOver) => HandOver;
  clock?: Clock;
  /** The processes that cannot be started, by number. */
  missing?: number[];
  /** Leaves `initialize` to the test. */
  raw?: boolean;
}

export async function startFront(options: FrontOptions = {}) {
  const { capabilities = { mcpCapabilities: { http: true } }, clock = systemClock } = options;
  const { isPerSession = false, missing = [] } = options;
  const directory = mkdtempSync(join(tmpdir(), "plugboard-front-"));
  const logger = recordingLogger();
  const board = await openBoard(
    { servers: options.servers ?? {} },
    { logger, stateDir: directory },
  );
  const endpoints = new SessionEndpoints({
    clock: systemClock,
    logger,
    newId: randomUUID,
    random: randomBytes,
    program: { command: "plugboard", args: [], env: {} },
    directory,
  });
  const input = new PassThrough();
  const agents: MemoryAgent[] = [];
  const lines: string[] = [];
  let taken = 0;
  let heard = (): void => {};
  let sessions = 0;
  const script: Script = {
    initialize: () => ({ protocolVersion: 1, agentCapabilities: capabilities }),
    "session/new": () => ({ sessionId: `s${(sessions += 1)}` }),
    "session/load": () => ({}),
    "session/resume": () => ({}),
    "session/close": () => ({}),
    "session/prompt": () => ({ stopReason: "end_turn" }),
    ...options.script,
  };
  let starts = 0;
  const ending = new AbortController();
  const done = runFront({
    input,
    write: ((chunk: Buffer, written: () => void) => {
      lines.push(chunk.toString().slice(0, -1));
      written();
      heard();
      return true;
    }) as never,
    signal: ending.signal,
    onRefusal: async () => {},
    start: async (endpoint) => {
      starts += 1;
      if (missing.includes(starts)) {
        throw new PlugboardError("SPAWN_FAILED", "command 'agent' was not found on PATH");
      }
      const agent = new MemoryAgent(script, endpoint);
      agents.push(agent);
      return agent.process;
    },
    isPerSession,
    handOver: ({ takesHttp }) => {
      const usual = isPerSession
        ? noServersHandOver(endpoints)
        : mcpServersHandOver(endpoints, takesHttp);
      return options.handOver?.(usual) ?? usual;
    },
    openSession: (setup, given) =>
      FrontSession.open(setup, {
        ...given,
        openSession: (request) => board.openSession(request),
        clock,
        logger,
      }),
    takesAcpServers: options.takesAcpServers ?? false,
    command: "agent",
    clock,
    logger,
  });
  const close = async (): Promise<void> => {
    input.end();
    await done.catch(() => {});
  };
  onTestFinished(async () => {
    await close();
    await board.close();
    rmSync(directory, { recursive: true, force: true });
  });

  const send = (message: object | string): void => {
    const text =
      typeof message === "string" ? message : JSON.stringify({ jsonrpc: "2.0", ...message });
    input.write(`${text}\n`);
  };
  /** The next line for the client that passes, among those nobody has asked for yet. */
  const next = async (passes: (message: Json) => boolean = () => true): Promise<Json> => {
    for (;;) {
      while (taken < lines.length) {
        const message: Json = JSON.parse(lines[taken++] ?? "");
        if (passes(message)) return message;
      }
      await new Promise<void>((resolve) => (heard = resolve));
    }
  };
  let lastId = 1000;
  /** Resolves to the answer. */
  const request = async (method: string, params: object = {}): Promise<Json> => {
    lastId += 1;
    const id = lastId;
    send({ id, method, params });
    return next((message) => message["id"] === id && message["method"] === undefined);
  };
  const newSession = async (mcpServers: object[] = []): Promise<string> => {
    const { result } = await request("session/new", { cwd: "/", mcpServers });
    return result.sessionId as string;
  };
  if (options.raw !== true) await request("initialize", { protocolVersion: 1 });
  const agent = (number = agents.length): MemoryAgent => {
    const found = agents[number - 1];
    if (found === undefined) throw new Error(`there is no process ${number}`);
    return found;
  };
  return {
    send,
    next,
    request,
    newSession,
    agents,
    agent,
    lines,
    logger,
    close,
    done,
    input,
    ending,
  };
}

/** Lets everything go on that waits for promises only. */
export async function settled(): Promise<void> {
  for (let n = 0; n < 20; n += 1) await new Promise((resolve) => setImmediate(resolve));
}
