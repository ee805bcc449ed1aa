// What the page shows, kept up to date while somebody looks: servers, calls, what waits, what changed, who is there. It
// turns what the gateway knows into the facts of wire.ts; viewers get them cut.

import type { IncomingMessage, ServerResponse } from "node:http";
import { entriesIn } from "../../../core/board/pins.ts";
import type { PinEntry } from "../../../core/types/pin.ts";
import type { PendingApproval, SharedState } from "../../../core/types/shared-state.ts";
import type { ServerState } from "../../../core/types/server-state.ts";
import type { ServerStatus } from "../../../core/types/server-status.ts";
import type { ServerLine, ServerLines } from "../../../core/types/server-log.ts";
import { Shares } from "../../../util/shares.ts";
import type { Clock, Timer } from "../../../util/clock.ts";
import { shortHash } from "../../../util/short-hash.ts";
import type { ClientName } from "../monitoring/clients.ts";
import { type EventView, GatewayEvents } from "../monitoring/events.ts";
import type { Monitoring } from "../monitoring/monitoring.ts";
import { durationsOf, percentiles } from "../monitoring/tally.ts";
import type { Visitor } from "./visitors.ts";
import type {
  CallFacts,
  ChangedDefinition,
  ListedGateway,
  Minute,
  PageEvents,
  People,
  Role,
  ServerFacts,
  ServerLineFacts,
  Snapshot,
  WaitingCall,
} from "./wire.ts";
import { WatchedCalls } from "./watched-calls.ts";

/** How often the page hears of changed figures, and how often the stores are asked what waits. */
const REFRESH_MS = 500;
const MINUTE_MS = 60_000;
const MINUTES = 60;
/** How often the page hears of calls and of what servers write. */
const FLUSH_MS = 100;
/** Lines that are told at a time, and that a page begins with. */
const MOST_LINES = 50;
const FIRST_LINES = 200;
/** Pages that are open at a time: in all, of one visitor, of viewers. */
const MOST_PAGES = 32;
const MOST_PAGES_OF_ONE = 8;
const MOST_VIEWERS = 24;
const MOST_PEOPLE = 200;
/** A page whose connection was lost for less than this goes on where it stopped. */
const GRACE_MS = 60_000;

export interface LiveOptions {
  monitoring: Pick<Monitoring, "watchCalls" | "servers" | "status" | "tally" | "since">;
  /** What servers write. */
  logs: ServerLines;
  state: Pick<SharedState, "pending" | "pins" | "changes">;
  clock: Clock;
  /** Somebody looks. Returns what is called when they no longer do. */
  onReader?: () => (() => void) | undefined;
  /** Where MCP clients reach the default agent, once that is known. */
  url: () => string | undefined;
  /** Which gateway this is, where there are several. */
  replica?: string | undefined;
  /** Those that the page can look at, this one first. Absent where there is no other. */
  gateways?: (() => ListedGateway[]) | undefined;
  /** What names this one among them. */
  home?: string | undefined;
}

export class Live {
  readonly #options: LiveOptions;
  readonly #stream: GatewayEvents<PageView>;
  readonly calls: WatchedCalls;
  #newLines: ServerLine[] = [];
  #offLines: (() => void) | undefined;
  #flushTimer: Timer | undefined;
  readonly #minutes: Minute[] = [];
  /** As they were last sent, by what they are about. */
  readonly #sent = new Map<string, string>();
  #waiting: readonly PendingApproval[] = [];
  #changes: readonly ChangedDefinition[] = [];
  #arePinsRead = false;
  #isClosed = false;
  /** Pages that are open: of everybody, and of viewers. */
  #readers = 0;
  #viewers = 0;
  readonly #shares = new Shares(MOST_PAGES, MOST_PAGES_OF_ONE);
  #timer: Timer | undefined;
  #ending: Timer | undefined;
  #minuteTimer: Timer;
  readonly #offPins: () => void;
  /** When this minute began, and how many calls there were by then. */
  #counted: Minute = { at: 0, calls: 0, errors: 0 };

  constructor(options: LiveOptions) {
    this.#options = options;
    const { clock, monitoring, state } = options;
    this.#stream = new GatewayEvents({
      clock,
      run: shortHash(`${monitoring.since} ${options.replica ?? ""}`),
      snapshot: (view) => (view === undefined ? {} : this.snapshot(view.visitor)),
    });
    this.calls = new WatchedCalls({ monitoring, clock, onChange: () => this.#flushSoon() });
    this.#offPins = state.changes.subscribe("pins", () => {
      this.#arePinsRead = false;
    });
    this.#minuteTimer = this.#beginMinute();
  }

  /** Answers a request with the stream of events. Resolves when it has begun. */
  async open(request: IncomingMessage, reply: ServerResponse, visitor: Visitor): Promise<void> {
    await this.#look();
    // A visitor who went away meanwhile will not say so again.
    if (reply.destroyed || this.#isClosed) return;
    const shortage = this.#shares.take(visitor.nonce);
    const isFull = visitor.role === "viewer" && this.#viewers >= MOST_VIEWERS;
    if (shortage === undefined && isFull) this.#shares.giveBack(visitor.nonce);
    if (shortage !== undefined || isFull) {
      reply.writeHead(503, { "Content-Type": "application/json", "Retry-After": "10" });
      const message = "too many pages are open already; close some of them";
      return void reply.end(JSON.stringify({ error: { code: "RATE_LIMITED", message } }));
    }
    const isViewer = visitor.role === "viewer" ? 1 : 0;
    const left = this.#options.onReader?.();
    const leftCalls = this.calls.look(visitor.role === "owner");
    this.#listen();
    this.#viewers += isViewer;
    this.#readers += 1;
    reply.once("close", () => {
      this.#shares.giveBack(visitor.nonce);
      this.#viewers -= isViewer;
      this.#readers -= 1;
      leftCalls();
      left?.();
      if (this.#readers === 0 && !this.#isClosed) {
        this.#ending = this.#options.clock.later(GRACE_MS, () => this.#stopListening());
      }
    });
    // What the snapshot has was told by then: otherwise something that goes back to what it was when it was last told
    // would never be told to this page, and what waits to be told would come twice.
    this.#flush();
    this.#refresh();
    this.#stream.open(request, reply, visitor.nonce, viewOf(visitor));
    this.#timer ??= this.#refreshLater();
  }

  /** Whether somebody has the page open who can answer. */
  get isOwnerThere(): boolean {
    return this.#readers > this.#viewers;
  }

  close(): void {
    this.#isClosed = true;
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#minuteTimer.cancel();
    this.#flushTimer?.cancel();
    this.#ending?.cancel();
    this.#offLines?.();
    this.calls.close();
    this.#offPins();
    this.#stream.close();
  }

  snapshot({ role, name, until }: Visitor): Snapshot {
    const { monitoring, url, replica, home, gateways } = this.#options;
    const status = monitoring.status();
    const { version, pid, since, config, state, agents, unappliedEdit } = status;
    const address = url();
    return {
      you: { role, name, until },
      gateway: {
        version,
        pid,
        since,
        state,
        ...(role === "owner" && config !== undefined && { config }),
        ...(address !== undefined && { url: address }),
        ...(replica !== undefined && { replica }),
        ...(home !== undefined && { home }),
      },
      gateways: gateways?.() ?? [],
      agents: agents.map(agentFacts),
      servers: this.#servers().map((server) => CUTS.server(role, server)),
      waiting: this.#waiting.map(waitingCall),
      changes: [...this.#changes],
      ...(unappliedEdit !== undefined && {
        edit: CUTS.edit(role, { unapplied: unappliedEdit }).unapplied,
      }),
      minutes: [...this.#minutes, this.#minute()],
      calls: this.calls.list().map((call) => callFor(role, call)),
      people: peopleFacts(status),
      ...(role === "owner" && {
        lines: this.#options.logs.lines().slice(-FIRST_LINES).map(lineFacts),
      }),
    };
  }

  /** With `about`, it says all about that thing: what was said before need not be kept. */
  #add<Name extends keyof PageEvents>(name: Name, is: PageEvents[Name], about?: string): void {
    if (!this.#stream.isKept) return;
    // A hundred calls, or what servers write: a few thousand of these would be hundreds of megabytes.
    const size = JSON.stringify(is).length;
    this.#stream.add(name, { is }, { size, ...(about !== undefined && { about }) });
  }

  /** Sends only what differs from what was sent before. */
  #tell<Name extends keyof PageEvents>(name: Name, key: string, is: PageEvents[Name]): void {
    const text = JSON.stringify(is);
    const about = `${name} ${key}`;
    if (this.#sent.get(about) === text) return;
    this.#sent.set(about, text);
    this.#add(name, is, about);
  }

  /** Until nobody looks any more. */
  #refreshLater(): Timer {
    return this.#options.clock.later(REFRESH_MS, () => {
      void this.#look().then(() => {
        if (this.#timer === undefined) return;
        this.#refresh();
        this.#timer = this.#readers > 0 ? this.#refreshLater() : undefined;
      });
    });
  }

  #refresh(): void {
    const servers = this.#servers();
    for (const server of servers) {
      this.#tell("server", `${server.agent}/${server.name}`, server);
    }
    const status = this.#options.monitoring.status();
    const { agents, unappliedEdit } = status;
    const present = new Set(servers.map(({ agent, name }) => `server ${agent}/${name}`));
    // One that comes back is told anew.
    for (const about of this.#sent.keys()) {
      if (about.startsWith("server ") && !present.has(about)) this.#sent.delete(about);
    }
    this.#tell("agents", "", { ids: agents.map(({ id }) => id) });
    for (const agent of agents) {
      this.#tell("agent", agent.id, agentFacts(agent));
      const names = servers.filter((each) => each.agent === agent.id).map(({ name }) => name);
      this.#tell("servers", agent.id, { agent: agent.id, names });
    }
    this.#tell("gateways", "", this.#options.gateways?.() ?? []);
    this.#tell("edit", "", { unapplied: unappliedEdit });
    this.#tell("waiting", "", this.#waiting.map(waitingCall));
    this.#tell("changes", "", [...this.#changes]);
    this.#tell("people", "", peopleFacts(status));
    this.#tellMinute(this.#minute());
  }

  /** A store that cannot be read shows nothing new. */
  async #look(): Promise<void> {
    const { pending, pins } = this.#options.state;
    this.#waiting = await pending.list().catch(() => this.#waiting);
    if (this.#arePinsRead) return;
    this.#arePinsRead = true;
    const all = await pins.list().catch(() => undefined);
    if (all !== undefined) this.#changes = all.flatMap(entriesIn).flatMap(changedDefinition);
  }

  /** Until nobody has looked for a while. */
  #listen(): void {
    this.#ending?.cancel();
    this.#ending = undefined;
    this.#offLines ??= this.#options.logs.listen((line) => {
      this.#newLines.push(line);
      if (this.#newLines.length > MOST_LINES) this.#newLines.shift();
      this.#flushSoon();
    });
  }

  #stopListening(): void {
    this.#ending = undefined;
    this.#offLines?.();
    this.#offLines = undefined;
    this.#stream.forget();
    this.#sent.clear();
  }

  /** Several calls at a time: each event costs as much as a call. */
  #flushSoon(): void {
    this.#flushTimer ??= this.#options.clock.later(FLUSH_MS, () => this.#flush());
  }

  #flush(): void {
    this.#flushTimer?.cancel();
    this.#flushTimer = undefined;
    const lines = this.#newLines.splice(0).map(lineFacts);
    const told = this.calls.take();
    if (told.calls.length > 0 || told.left > 0) this.#add("calls", told);
    if (lines.length > 0) this.#add("lines", { lines });
  }

  /** The minute that has not ended, so that a call shows at once. */
  #minute(): Minute {
    const { at, calls, errors } = this.#counted;
    const now = this.#count();
    return { at, calls: now.calls - calls, errors: now.errors - errors };
  }

  /** Each minute is a thing of its own: one that has ended is still told to a page that was away. */
  #tellMinute(minute: Minute): void {
    this.#tell("minute", String(minute.at), minute);
  }

  /** All calls so far. */
  #count(): Omit<Minute, "at"> {
    let calls = 0;
    let errors = 0;
    for (const tool of this.#options.monitoring.tally.tools) {
      calls += tool.calls;
      for (const count of tool.errors.values()) errors += count;
    }
    return { calls, errors };
  }

  #beginMinute(): Timer {
    const { clock } = this.#options;
    this.#counted = { at: clock.now(), ...this.#count() };
    return clock.later(MINUTE_MS, () => {
      const ended = this.#minute();
      this.#tellMinute(ended);
      this.#sent.delete(`minute ${ended.at}`);
      this.#minutes.push(ended);
      if (this.#minutes.length >= MINUTES) this.#minutes.shift();
      this.#minuteTimer = this.#beginMinute();
    });
  }

  #servers(): ServerFacts[] {
    const { monitoring } = this.#options;
    return monitoring.servers().map(({ agent, status }) => {
      const durations = durationsOf(monitoring.tally, agent, status.name);
      return serverFacts(agent, status, durations);
    });
  }
}

function peopleFacts({ clients, sessions, attached }: GatewayStatus): People {
  return {
    clients: clients.list.slice(0, MOST_PEOPLE).map(({ caller, agent, client, ...seen }) => ({
      name: nameOf(client),
      who: caller,
      agent,
      since: seen.firstSeen,
      lastSeen: seen.lastSeen,
      requests: seen.requests,
    })),
    sessions: sessions.list.slice(0, MOST_PEOPLE).map(({ caller, agent, client, lastSeen }) => ({
      name: nameOf(client),
      who: caller,
      agent,
      since: lastSeen,
      lastSeen,
    })),
    commands: attached.list.slice(0, MOST_PEOPLE).map(({ command, pid, agent, since, calls }) => ({
      name: `plugboard ${command}`,
      who: `process ${pid}`,
      agent: agent ?? "",
      since,
      calls,
    })),
  };
}

/** `claude-code 2.1.0` */
function nameOf({ name, version }: ClientName): string {
  return [name, version].filter(Boolean).join(" ");
}

function agentFacts({
  id,
  isOpen,
  toolSearch,
}: GatewayStatus["agents"][number]): Snapshot["agents"][number] {
  if (toolSearch === undefined) return { id, isOpen };
  const { mode, before, after } = toolSearch;
  return { id, isOpen, prompt: { mode, before, after } };
}

type GatewayStatus = ReturnType<Monitoring["status"]>;

function serverFacts(
  agent: string,
  status: ServerStatus,
  durations: ArrayLike<number>,
): ServerFacts {
  const { name, transport, target, state, tools, hiddenByRules = 0 } = status;
  const { promptTokens, restarts, calls, pid } = status;
  const refused = refusedBy(status);
  return {
    agent,
    name,
    transport,
    target,
    ...stateFacts(state),
    ...(pid !== undefined && { pid }),
    tools,
    hiddenByRules,
    promptTokens,
    restarts,
    calls: {
      total: calls.total,
      failed: calls.failed,
      inFlight: calls.inFlight,
      ...(calls.waitedMs !== undefined && { waitedMs: calls.waitedMs }),
      ...percentiles(durations),
    },
    ...(refused !== undefined && { refused }),
  };
}

function refusedBy({ diagnostics }: ServerStatus): ServerFacts["refused"] {
  const all = diagnostics.map(({ refused }) => refused);
  return all.find((each) => each === "lost") ?? all.find((each) => each !== undefined);
}

type StateFacts = Pick<ServerFacts, "state" | "at" | "why" | "code" | "remedy">;

function stateFacts(state: ServerState): StateFacts {
  switch (state.kind) {
    case "ready":
    case "starting":
      return { state: state.kind, at: state.since };
    case "backoff":
    case "failed": {
      const { message, code, hint } = state.error;
      const again = state.kind === "failed" ? state.remedy : undefined;
      const remedy = [hint, again].filter((each) => each !== undefined).join("; ") || undefined;
      const at = state.kind === "backoff" ? state.retryAt : undefined;
      return { state: state.kind, at, why: message, code, remedy };
    }
    case "needs-auth":
      return {
        state: state.kind,
        why: "it needs a sign-in",
        remedy: state.remedy,
        ...(state.perUser && { perUser: state.perUser }),
      };
    default:
      return { state: state.kind };
  }
}

/** A visitor, and what an event looks like for them. */
interface PageView extends EventView {
  visitor: Visitor;
}

function viewOf(visitor: Visitor): PageView {
  const { role } = visitor;
  const event = (name: string, data: object): object | undefined => {
    if (name === "lines" && role !== "owner") return undefined;
    const cut = CUTS[name as keyof typeof CUTS] as ((role: Role, is: never) => object) | undefined;
    return cut === undefined ? data : { is: cut(role, (data as { is: never }).is) };
  };
  return { visitor, event };
}

/** What viewers do not see is left out. */
const CUTS = {
  server: (role: Role, server: ServerFacts): ServerFacts => {
    if (role === "owner") return server;
    // A reason may quote stderr, and name variables.
    const { target: _, why: __, remedy: ___, ...rest } = server;
    return rest;
  },
  calls: (role: Role, { calls, left }: PageEvents["calls"]): PageEvents["calls"] => ({
    calls: calls.map((call) => callFor(role, call)),
    left,
  }),
  /** It names servers and files. */
  edit: (role: Role, edit: PageEvents["edit"]): PageEvents["edit"] =>
    role === "owner" || edit.unapplied === undefined
      ? edit
      : { unapplied: { kind: edit.unapplied.kind, message: "the owner sees which" } },
};

function waitingCall(question: PendingApproval): WaitingCall {
  const { id, agent, caller, request, createdAt, expiresAt } = question;
  const { tool, server, title, description, hints, trusted, reason, rule, always } = request;
  return {
    id,
    agent,
    caller: caller.label,
    tool,
    server,
    title,
    description,
    hints,
    trusted,
    reason,
    ...(rule !== undefined && { rule }),
    always,
    call: request.callId,
    since: createdAt,
    until: expiresAt,
  };
}

function changedDefinition({ pin, pins, ...entry }: PinEntry): ChangedDefinition[] {
  if (pin.kind === "pinned") return [];
  const { server, key } = pins;
  const tool = entry.kind === "tool" ? { tool: entry.tool } : {};
  return [{ server, key, ...tool, kind: pin.kind, at: pin.pending.seen, hash: pin.pending.hash }];
}

export function callFor(role: Role, call: CallFacts): CallFacts {
  if (role === "owner") return call;
  const { message: _, ...rest } = call;
  return rest;
}

const LONGEST_LINE = 1000;

function lineFacts({ server, at, level, text }: ServerLine): ServerLineFacts {
  return { server, at, level, text: text.slice(0, LONGEST_LINE) };
}
