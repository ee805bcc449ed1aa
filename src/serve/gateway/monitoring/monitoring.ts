// What an operator sees of a running gateway: watches its boards, sessions and requests, and has the routes that show
// them. Read this file first.

import type { Replicas, StateHealth } from "../../../core/types/shared-state.ts";
import type { IncomingMessage, ServerResponse } from "node:http";
import { planPrompt, summarisePlan } from "../../../core/board/prompt-plan.ts";
import type { Session, SessionChange } from "../../endpoint/http/sessions.ts";
import type { BoardBase } from "../../../core/types/board.ts";
import type { Caller } from "../../../core/types/caller.ts";
import type {
  CallEvent,
  CallStartEvent,
  CallWatcher,
  ServerEvent,
  WatchedCallEvent,
} from "../../../core/types/events.ts";
import type { Logger } from "../../../core/types/logger.ts";
import { stateToJson } from "../../../core/types/server-state.ts";
import type { ServerStatus } from "../../../core/types/server-status.ts";
import type { ToolSource } from "../../../core/types/tool.ts";
import type { Clock } from "../../../util/clock.ts";
import { Turns } from "../../../util/turns.ts";
import { oneLine } from "../../../util/text.ts";
import type { AdmittedCaller } from "../access/admission.ts";
import type { PersonsServers, Viewer } from "../agents.ts";
import type { AdmittedRoute, Route } from "../gateway.ts";
import { type ClientName, Clients } from "./clients.ts";
import { GatewayEvents } from "./events.ts";
import { ServerHistory } from "./server-history.ts";
import { type GatewayNumbers, Metrics } from "./metrics.ts";
import {
  type AttachedCommand,
  type GatewayStatus,
  gatewayStatus,
  type FleetStatus,
  type UnappliedEdit,
} from "./status.ts";
import { countDuration, newDurations, percentiles, Tally } from "./tally.ts";
import { View } from "./view.ts";
import { VisitLines } from "./visit-lines.ts";

/** The gateway itself, as status and metrics show it. */
export interface ShownGateway {
  /** How it stands with the engines of the shared state. */
  health?: () => StateHealth;
  isReady: () => boolean;
  /** Requests that are being answered. */
  inFlight: () => number;
  /** With HTTP. */
  traffic?: () => { connections: number; bytesIn: number; bytesOut: number };
  sessions?: { list(): readonly Session[]; readonly size: number };
  /** The gateways that share its state, and what is wrong with them. */
  replicas?: Pick<Replicas, "own" | "list" | "clockAhead">;
  problems?: () => readonly string[];
  /** Calls that wait for a person. */
  approvals: () => number;
  /** When its certificate ends, in milliseconds since the epoch. */
  certificate?: () => number;
  /** Somebody who does not see everything. Undefined for the owner. */
  viewerOf: (admitted: AdmittedCaller) => Promise<Viewer | undefined>;
}

export interface MonitoringOptions {
  version: string;
  pid: number;
  /** The configuration file, if there is one. */
  config?: string;
  agentIds: readonly string[];
  clock: Clock;
  logger: Logger;
}

type WatchedBoard = Pick<BoardBase, "on" | "watchCalls" | "status" | "tools" | "toolSearch">;

/** Where a call was made. */
export interface CallPlace {
  agent: string;
  /** The attached command that made it: `call-4711`. */
  command?: string;
}

/** Sees calls on all boards. */
export interface PlacedCallWatcher extends Pick<CallWatcher, "admits"> {
  started: (call: CallStartEvent, place: CallPlace) => void;
  ended: (call: WatchedCallEvent, place: CallPlace) => void;
}

/** Why a request was refused. */
type RequestRefusal =
  | "malformed"
  | "foreign"
  | "no-token"
  | "wrong-token"
  | "not-allowed"
  | "issuer"
  | "rate"
  | "connections";

/** Why a request or a call was refused. */
type RefusalKind = RequestRefusal | "policy" | "approval" | "pins" | "call-rate" | "quota";

/** Calls that the guard refused, by the code of their failure. */
export const GUARD_REFUSALS: Readonly<Record<string, RefusalKind>> = {
  REFUSED_BY_POLICY: "policy",
  NOT_APPROVED: "approval",
  CHANGED_TOOL: "pins",
  RATE_LIMITED: "call-rate",
};

const LONGEST_PATH = 100;

/** Callers beyond this are counted together: every one of them costs a line in `/metrics`. */
const MOST_CALLERS = 200;
/** No caller is called so: the name of a token has no space, and that of a person ends in the issuer. */
const OTHER_CALLERS = "other callers";

/** An idle session has no line: for its client it goes on. */
const SESSION_LINES: Readonly<Record<SessionChange, string | undefined>> = {
  begun: "session begins",
  resumed: "session goes on",
  ended: "session ends",
  idle: undefined,
};

/** What the log says; the client is told more. */
const REFUSAL_LINES: Readonly<Record<RequestRefusal, string>> = {
  malformed: "the request is malformed",
  foreign: "its Host or Origin is not allowed",
  "no-token": "it has no token",
  "wrong-token": "its token is not valid",
  "not-allowed": "its token is not for what it asks for",
  issuer: "the issuer of its token cannot be reached",
  rate: "too many requests",
  connections: "too many connections",
};

export class Monitoring {
  readonly tally = new Tally();
  readonly clients: Clients;
  readonly events: GatewayEvents<View>;
  readonly routes: ReadonlyMap<string, AdmittedRoute>;
  readonly since: number;
  readonly #options: MonitoringOptions;
  readonly #lines: VisitLines;
  readonly #metrics: Metrics;
  /** An answer for readers takes milliseconds: calls, and other readers, wait for one of them and not for all of a caller's. */
  readonly #turns = new Turns();
  /** The boards of agents, without those of sessions. */
  readonly #boards = new Map<string, WatchedBoard>();
  /** The boards whose calls are watched while somebody wants that, with what ends it. */
  readonly #callBoards = new Map<WatchedBoard, { place: CallPlace; off?: () => void }>();
  #callWatcher: PlacedCallWatcher | undefined;
  readonly history: ServerHistory;
  readonly #attached = new Set<CountedCommand>();
  #unappliedEdit: UnappliedEdit | undefined;
  readonly #responses = new Map<string, { route: string; status: number; count: number }>();
  readonly #refusals = new Map<string, number>();
  /** Calls, reads and prompts, by the label of the caller. */
  readonly #callers = new Map<string, number>();
  #gateway: ShownGateway | undefined;

  constructor(options: MonitoringOptions) {
    const { clock, logger, version } = options;
    this.#options = options;
    this.since = clock.now();
    this.#lines = new VisitLines(clock, logger);
    this.clients = new Clients(clock);
    this.history = new ServerHistory(clock);
    this.events = new GatewayEvents({
      clock,
      run: this.since.toString(36),
      snapshot: (view) => this.#statusFor(view),
    });
    this.#metrics = new Metrics(this.tally, () => ({
      version,
      startedAt: this.since / 1000,
      servers: this.servers(),
      sessions: this.#gateway?.sessions?.size ?? 0,
      clients: this.clients.present,
      attached: this.#attached.size,
      inFlight: this.#gateway?.inFlight() ?? 0,
      ...(this.#gateway?.traffic?.() ?? { connections: 0, bytesIn: 0, bytesOut: 0 }),
      responses: [...this.#responses.values()],
      refusals: this.#refusals,
      health: this.#gateway?.health?.(),
      fleet: this.#fleetNumbers(),
      approvals: this.#gateway?.approvals() ?? 0,
      callers: this.#callers,
      certificate: this.#certificate(),
    }));
    this.routes = new Map<string, AdmittedRoute>([
      ["/metrics", this.#forReaders((_, reply, view) => this.#answerMetrics(reply, view))],
      ["/api/status", this.#forReaders((_, reply, view) => json(reply, this.#statusFor(view)))],
      [
        "/api/events",
        this.#forReaders((request, reply, view, caller) =>
          this.events.open(request, reply, caller, view),
        ),
      ],
    ]);
  }

  /** Says what to show. The gateway and its sessions are made after this object. */
  show(gateway: ShownGateway): void {
    this.#gateway = gateway;
  }

  /** An edit of the configuration is not applied; or, with undefined, all are. */
  showEdit(edit: UnappliedEdit | undefined): void {
    this.#unappliedEdit = edit;
  }

  /** Watches an agent's board. Returns a function that ends it. */
  watch(agent: string, board: WatchedBoard): () => void {
    this.#boards.set(agent, board);
    this.#recall(agent, board.status());
    const off = this.#watch(agent, board, () => true);
    return () => {
      this.#boards.delete(agent);
      off();
    };
  }

  /**
   * Watches the board of a session, which tells of its agent's servers too. `command` is the attached one that has it.
   * What happens on servers that one person has for themselves is for nobody else to see but the owner.
   */
  watchSession(
    agent: string,
    board: WatchedBoard,
    { command, person }: { command?: CommandOfSession; person?: PersonsServers } = {},
  ): () => void {
    const isOwn = (server: string): boolean =>
      board.status().some(({ name, origin }) => name === server && origin === "session");
    this.#recall(
      agent,
      board.status().filter(({ origin }) => origin === "session"),
    );
    const off = this.#watch(agent, board, isOwn, { command: command?.session, person });
    if (command === undefined) return off;
    const offCalls = board.on("call", ({ durationMs, isError }) => {
      for (const entry of this.#attached) {
        if (entry.pid !== command.pid || entry.agent !== agent) continue;
        entry.calls.total += 1;
        if (isError) entry.calls.failed += 1;
        countDuration(entry.durations, durationMs);
      }
    });
    return () => {
      off();
      offCalls();
    };
  }

  /** One at a time. The calls that it admits pay for it until the returned function is called. */
  watchCalls(watcher: PlacedCallWatcher): () => void {
    this.#callWatcher = watcher;
    for (const [board, entry] of this.#callBoards) entry.off = onCalls(board, entry.place, watcher);
    return () => {
      this.#callWatcher = undefined;
      for (const entry of this.#callBoards.values()) {
        entry.off?.();
        delete entry.off;
      }
    };
  }

  servers(): { agent: string; status: ServerStatus }[] {
    return [...this.#boards].flatMap(([agent, board]) =>
      board.status().map((status) => ({ agent, status })),
    );
  }

  status(): GatewayStatus {
    const { version, pid, config, agentIds, clock } = this.#options;
    const ids = new Set([...agentIds, ...this.#boards.keys()]);
    return gatewayStatus(
      {
        version,
        pid,
        since: this.since,
        config,
        unappliedEdit: this.#unappliedEdit,
        isReady: this.#gateway?.isReady() ?? true,
        agents: [...ids].map((id) => {
          const board = this.#boards.get(id);
          const plan = board && planPrompt(board.tools(), { toolSearch: board.toolSearch });
          return { id, servers: board?.status(), toolSearch: plan && summarisePlan(plan) };
        }),
        clients: this.clients.list(),
        present: this.clients.present,
        sessions: this.#gateway?.sessions?.list() ?? [],
        attached: [...this.#attached].map(commandStatus),
        fleet: this.#fleet(),
      },
      clock,
    );
  }

  #fleetNumbers(): GatewayNumbers["fleet"] {
    const { replicas } = this.#gateway ?? {};
    if (replicas === undefined) return undefined;
    const known = replicas.list().flatMap(({ configuration }) => configuration ?? []);
    return { configurations: new Set(known).size, clockAhead: replicas.clockAhead / 1000 };
  }

  #certificate(): GatewayNumbers["certificate"] {
    const endsAt = this.#gateway?.certificate?.();
    return endsAt === undefined ? undefined : { endsAt, now: this.#options.clock.now() };
  }

  #fleet(): FleetStatus | undefined {
    const { replicas, problems } = this.#gateway ?? {};
    if (replicas?.own === undefined) return undefined;
    const { id: own } = replicas.own;
    return {
      replicas: replicas.list().map(({ id, name, url, configuration }) => ({
        name,
        url,
        configuration,
        ...(id === own && { isOwn: true as const }),
      })),
      problems: [...(problems?.() ?? [])],
    };
  }

  /** A client has sent a request. A client with a session is logged when its session begins. */
  asked(caller: Caller, agent: string, client: ClientName | undefined, isInSession: boolean): void {
    const isNew = this.clients.seen(caller, agent, client);
    if (!isNew || isInSession) return;
    this.#lines.say("client", `new client: ${nameOf(client)}`, { caller: caller.label, agent });
  }

  session(change: SessionChange, { client, agent }: Session): void {
    const { info = {} } = client.profile;
    const caller = client.caller.label;
    this.events.add("session", { change, caller, agent, client: info });
    const said = SESSION_LINES[change];
    if (said !== undefined)
      this.#lines.say("session", `${said}: ${nameOf(info)}`, { caller, agent });
  }

  /** A command has attached. Returns what is to be called when it goes. */
  attached({ command, pid, cwd, agent }: AttachingCommand): () => void {
    const since = this.#options.clock.now();
    const calls = { total: 0, failed: 0 };
    const entry = { command, pid, cwd, agent, since, calls, durations: newDurations() };
    const say = (change: "attached" | "left"): void => {
      this.events.add("command", { change, command, pid, agent });
      this.#lines.say("command", `command ${change}: ${oneLine(command, 50)}`, { pid, agent });
    };
    this.#attached.add(entry);
    say("attached");
    return () => {
      if (this.#attached.delete(entry)) say("left");
    };
  }

  /** A request was answered. */
  answered(route: string, status: number): void {
    const key = `${route} ${status}`;
    const known = this.#responses.get(key);
    if (known === undefined) this.#responses.set(key, { route, status, count: 1 });
    else known.count += 1;
  }

  /** A request was refused before it was read; `stage` says by which check. */
  refused(
    { socket, url = "" }: IncomingMessage,
    refusal: { status: number; headers: Record<string, string>; caller?: string },
    stage: "source" | "caller",
  ): void {
    const kind = refusalKind(refusal, stage);
    this.#refuse(kind);
    const path = oneLine(url.split("?")[0] ?? "", LONGEST_PATH);
    const from = socket.remoteAddress ?? "";
    const who = { ...(refusal.caller !== undefined && { caller: refusal.caller }), path, from };
    this.events.add("refusal", { kind, status: refusal.status, ...who });
    this.#lines.say("refusal", `refused: ${REFUSAL_LINES[kind]}`, who);
  }

  /** A caller asks for a call, a read or a prompt. */
  called({ label }: Caller): void {
    const isKept = this.#callers.has(label) || this.#callers.size < MOST_CALLERS;
    const name = isKept ? label : OTHER_CALLERS;
    this.#callers.set(name, (this.#callers.get(name) ?? 0) + 1);
  }

  /** A caller has used up a quota. */
  refusedCall(): void {
    this.#refuse("quota");
  }

  /** A connection was refused before there was a request. */
  refusedConnection(kind: "malformed" | "connections"): void {
    this.#refuse(kind);
    this.#lines.say("refusal", `refused: ${REFUSAL_LINES[kind]}`, {});
  }

  /** Ends the streams of events, and logs what was held back. */
  close(): void {
    this.events.close();
    this.#lines.close();
  }

  #refuse(kind: RefusalKind): void {
    this.#refusals.set(kind, (this.#refusals.get(kind) ?? 0) + 1);
  }

  /** A server may have failed before anybody could listen. */
  #recall(agent: string, servers: readonly ServerStatus[]): void {
    for (const { name: server, state } of servers) this.history.add(agent, { server, state });
  }

  #watch(
    agent: string,
    board: WatchedBoard,
    isOwn: (server: string) => boolean,
    { command, person }: { command?: string | undefined; person?: PersonsServers | undefined } = {},
  ): () => void {
    const { events } = this;
    const onlyFor = (source: ToolSource): { only?: string } =>
      person !== undefined && source.kind === "mcp" && person.isTheirs(source.server)
        ? { only: person.id }
        : {};
    const place = { agent, ...(command !== undefined && { command }) };
    const watcher = this.#callWatcher;
    this.#callBoards.set(board, { place, ...(watcher && { off: onCalls(board, place, watcher) }) });
    const offs = [
      () => {
        this.#callBoards.get(board)?.off?.();
        this.#callBoards.delete(board);
      },
      this.tally.watch(agent, board, isOwn),
      // Sessions are watched one by one.
      board.on("callStart", ({ callId, tool, source, session }) => {
        if (!events.isKept || session !== undefined) return;
        events.add("callStart", { agent, callId, tool, source }, onlyFor(source));
      }),
      board.on("call", (event) => {
        if (event.session === undefined) this.#called(agent, event, onlyFor);
      }),
      board.on("server", (event) => {
        if (!isOwn(event.server)) return;
        this.history.add(agent, event);
        events.add("server", serverData(agent, event));
      }),
      // The board beneath tells the others what they share.
      board.on("tools", (event) =>
        events.add("tools", { agent, ...event }, person && { only: person.id }),
      ),
      board.on("notice", (event) => events.add("notice", { agent, ...event })),
    ];
    return () => offs.forEach((off) => off());
  }

  #called(
    agent: string,
    { callId, tool, source, durationMs, waitedMs, isError, failure }: CallEvent,
    onlyFor: (source: ToolSource) => { only?: string },
  ): void {
    const refusal = failure && GUARD_REFUSALS[failure.code];
    if (refusal !== undefined) this.#refuse(refusal);
    if (!this.events.isKept) return;
    const data = {
      agent,
      callId,
      tool,
      source,
      durationMs,
      ...(waitedMs !== undefined && { waitedMs }),
      isError,
      // Not what the server sent with it: that is the caller's.
      ...(failure && { failure: { code: failure.code, message: failure.message } }),
    };
    this.events.add("call", data, onlyFor(source));
  }

  #statusFor(view: View | undefined): object {
    return view?.status(this.status()) ?? this.status();
  }

  async #answerMetrics(reply: ServerResponse, view: View | undefined): Promise<void> {
    const { type, text } = await this.#metrics.text(view);
    reply.writeHead(200, { "Content-Type": type }).end(text);
  }

  #forReaders(
    answer: (
      ...asked: [...Parameters<Route>, View | undefined, caller: string]
    ) => void | Promise<void>,
  ): AdmittedRoute {
    return async (request, reply, admitted) => {
      if (request.method !== "GET" && request.method !== "HEAD") {
        reply.writeHead(405, { Allow: "GET, HEAD", "Content-Type": "text/plain" });
        return void reply.end("this can only be read\n");
      }
      const viewer = await this.#gateway?.viewerOf(admitted);
      const { id } = admitted.caller;
      await this.#turns.run(id, () => {
        const view = viewer && new View(viewer);
        if (view !== undefined) reply.once("close", () => view.close());
        if (reply.destroyed) return view?.close();
        return answer(request, reply, view, id);
      });
    };
  }
}

type AttachingCommand = Omit<AttachedCommand, "since" | "calls">;

interface CountedCommand extends AttachedCommand {
  durations: Float64Array;
}

function commandStatus({ durations, calls, ...command }: CountedCommand): AttachedCommand {
  return { ...command, calls: { ...calls, ...percentiles(durations) } };
}

/** The attached command that has a session. */
interface CommandOfSession {
  pid: number;
  /** The id of the session. */
  session: string;
}

function onCalls(board: WatchedBoard, place: CallPlace, watcher: PlacedCallWatcher): () => void {
  return board.watchCalls({
    admits: (now) => watcher.admits(now),
    started: (call) => watcher.started(call, place),
    ended: (call) => watcher.ended(call, place),
  });
}

function refusalKind(
  { status, headers }: { status: number; headers: Record<string, string> },
  stage: "source" | "caller",
): RequestRefusal {
  if (stage === "source") return status === 400 ? "malformed" : "foreign";
  if (status === 429) return "rate";
  if (status === 503) return "issuer";
  if (status !== 401) return "not-allowed";
  return headers["WWW-Authenticate"]?.includes("invalid_token") ? "wrong-token" : "no-token";
}

function serverData(agent: string, { server, state, previous }: ServerEvent): object {
  return { agent, server, state: stateToJson(state), previous: previous.kind };
}

/** `claude-code 2.1.0` */
function nameOf({ name, version }: ClientName = {}): string {
  const text = oneLine([name, version].filter(Boolean).join(" "), 100);
  return text === "" ? "a client without a name" : text;
}

function json(reply: ServerResponse, value: object): void {
  reply
    .writeHead(200, { "Content-Type": "application/json", "Cache-Control": "no-store" })
    .end(JSON.stringify(value));
}
