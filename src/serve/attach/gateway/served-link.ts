// The gateway's side of one link: tells the command about the agent's servers, and runs its sessions. The guard runs here;
// questions go back to the command.

import { serversOf } from "../../../core/board/board.ts";
import type { AskApproval, AskElsewhere } from "../../../core/types/approval.ts";
import type { Board, SessionBoard } from "../../../core/types/board.ts";
import { invalidRequest, PlugboardError } from "../../../core/types/errors.ts";
import { type BoardInGateway, OPTIONS_IN_GATEWAY } from "../../../core/types/gateway-port.ts";
import { isJsonObject, type JsonObject } from "../../../core/types/json.ts";
import {
  SERVER_LOG_LEVELS,
  type ServerLine,
  type ServerLines,
} from "../../../core/types/server-log.ts";
import { isGivenUp } from "../../../core/types/server-state.ts";
import type { Tool } from "../../../core/types/tool.ts";
import type { TraceListener } from "../../../core/types/trace.ts";
import type { Clock } from "../../../util/clock.ts";
import { oneLine } from "../../../util/text.ts";
import type { CommandInfo } from "../greeting.ts";
import type { IncomingOptions, Link } from "../link.ts";
import { stateToWire } from "../wire.ts";
import { ToldServers } from "./told-servers.ts";

/** What a channel needs of its gateway. */
export interface ChannelHost {
  /** Opens the agent's board, if it is not open. Undefined for an agent that is not configured. */
  boardOf(agent: string): Promise<Board | undefined>;
  reload(): Promise<unknown>;
  /** Begins to stop the gateway, and returns. */
  stop(): void;
  /** A link that opens the gateway's page once. */
  pageLink(role: "owner" | "viewer"): Promise<string>;
  /** Asks whoever has the page open about a call. Undefined while nobody is there who could answer. */
  askElsewhere?(agent: string): AskElsewhere | undefined;
  /** What the gateway tells about itself. */
  status(): unknown;
  /** What its servers have written. */
  logs: ServerLines;
  /** Hears of every session of a command. Returns what is called when it closes. */
  watch?(agent: string, session: SessionBoard, command: CommandInfo): () => void;
  /** A command uses an agent's board from now on. Returns what is called when it does no longer. */
  attached(command: CommandInfo & { agent: string }): () => void;
}

/** What a command can ask, by name. */
export type Methods = ServedLink["methods"];
type Members = Record<string, (...args: unknown[]) => Promise<unknown>>;

/** Sessions of one command: more than an editor has open. */
const MOST_SESSIONS = 1000;
/** An example of an object. */
const ANY: JsonObject = {};

export class ServedLink {
  readonly #link: Link;
  readonly #info: CommandInfo;
  readonly #host: ChannelHost;
  readonly #clock: Clock;
  /** By the number that the command has given it; a command with one session may leave that out. */
  readonly #sessions = new Map<unknown, Promise<SessionBoard>>();
  #board: Board | undefined;
  #told: ToldServers | undefined;
  #agent = "";
  #isAttached = false;

  constructor(link: Link, info: CommandInfo, host: ChannelHost, clock: Clock) {
    this.#link = link;
    this.#info = info;
    this.#host = host;
    this.#clock = clock;
  }

  serve(): void {
    for (const [method, { examples, run }] of Object.entries(this.methods)) {
      this.#link.handle(method, (args, options) => {
        // One more would take the place of the options.
        if (!areLike(args, examples)) throw invalidRequest(`${method} is not well formed`);
        return run(...(args as never[]), options as never);
      });
    }
  }

  readonly methods = {
    "gateway/status": takes([], () => this.#host.status()),
    "gateway/reload": takes([], () => this.#host.reload()),
    "gateway/stop": takes([], () => this.#host.stop()),
    // A link that opens the page, for the owner or a viewer.
    "gateway/page": takes([""], (role) =>
      this.#host.pageLink(role === "viewer" ? "viewer" : "owner"),
    ),
    // Lines of one server, or of all if the name is empty. With `onLine`, new lines are sent from then on.
    "gateway/logs": takes([""], (server, { onLine, atEnd }) => {
      const { logs } = this.#host;
      const isMeant = (line: ServerLine): boolean => server === "" || line.server === server;
      if (typeof onLine === "function") {
        atEnd(logs.listen((line) => void (isMeant(line) && !this.#link.isFull && onLine(line))));
      }
      return logs.lines().filter(isMeant);
    }),
    // With `onServers`, the agent's servers are told before the answer and from then on.
    "agent/attach": takes([""], async (agent, options) => {
      this.#board = await this.#use(agent);
      this.#attach();
      if (typeof options.onServers !== "function") return;
      this.#told ??= new ToldServers(this.#board, this.#link, this.#clock, options);
      this.#told.tell();
    }),
    // Traces one server, or all if the name is empty. A `maxSize` of 0 stands for the default.
    "agent/trace": takes(["", 0], (server, maxSize, options) =>
      this.#trace(server, maxSize, options),
    ),
    // `texts` without the secrets of the agent's servers, which the command does not get. In the same order.
    "agent/redact": takes([ANY], ({ texts }) => {
      const redactor = serversOf(this.#attachedTo()).redactor();
      if (!Array.isArray(texts)) throw invalidRequest("agent/redact is not well formed");
      return texts.map((text) => redactor.text(String(text)));
    }),
    // For a text that comes in pieces: as `RedactorElsewhere` has it.
    "agent/redactBeginning": takes(["", 0, false], (text, covered, isEnd) =>
      serversOf(this.#attachedTo()).redactor().beginning(text, covered, isEnd),
    ),
    "server/start": takes(["", false], (server, onlyToList) =>
      this.#change((board) => serversOf(board).supervisor(server).start(onlyToList)),
    ),
    "server/acquire": takes([""], (server, { signal }) =>
      this.#change(
        async (board) => void (await serversOf(board).supervisor(server).acquire(signal)),
      ),
    ),
    "server/refresh": takes([""], (server) =>
      this.#change((board) => serversOf(board).supervisor(server).refresh()),
    ),
    "server/stop": takes([""], (server) =>
      this.#change((board) => serversOf(board).supervisor(server).stop()),
    ),
    "server/restart": takes([""], (server) =>
      this.#change(async (board) => {
        const { state, tools } = await board.restart(server);
        return { state: stateToWire(state), tools };
      }),
    ),
    "session/open": takes([""], async (agent, options) => {
      const { lasting, atEnd } = options;
      if (this.#sessions.has(lasting)) throw invalidRequest("this number is in use");
      if (this.#sessions.size >= MOST_SESSIONS) {
        throw invalidRequest(`the command has ${MOST_SESSIONS} sessions already`);
      }
      const opening = this.#open(agent, options);
      this.#sessions.set(lasting, opening);
      // A session that could not be opened has nothing to close.
      atEnd(() => opening.then((session) => session.close()).catch(() => {}));
      atEnd(() => this.#sessions.delete(lasting));
      await opening;
    }),
    // An empty text asks for no log messages.
    "session/logLevel": takes([""], async (level, { session }) =>
      (await this.#opened(session)).setLogLevel(SERVER_LOG_LEVELS.find((each) => each === level)),
    ),
    "session/find": takes([""], async (name, { signal, session: number }) => {
      const session = await this.#opened(number);
      const tool: Omit<Tool, "execute"> = await session.find(name, { signal });
      await tryAgain(tool, session);
      return { tool, isListed: session.tools({ all: true }).some((each) => each === tool) };
    }),
    // These are members of the session's board. A tool is called as `server/tool` or `native/tool`.
    "session/call": this.#member("call", "", ANY),
    "session/resources/list": this.#member("resources/list", ""),
    "session/resources/templates": this.#member("resources/templates", ""),
    "session/resources/read": this.#member("resources/read", ""),
    "session/resources/readForPrompt": this.#member("resources/readForPrompt", ""),
    "session/resources/complete": this.#member("resources/complete", "", "", ""),
    "session/resources/subscribe": this.#member("resources/subscribe", ""),
    "session/resources/unsubscribe": this.#member("resources/unsubscribe", ""),
    "session/prompts/list": this.#member("prompts/list", ""),
    "session/prompts/get": this.#member("prompts/get", "", ANY),
    "session/prompts/complete": this.#member("prompts/complete", "", "", ""),
  };

  async #use(agent: string): Promise<Board> {
    const board = await this.#host.boardOf(agent);
    if (board === undefined)
      throw invalidRequest(`the gateway has no agent '${oneLine(agent, 100)}'`);
    if (!this.#link.isOpen) throw invalidRequest("the command is gone");
    this.#agent = agent;
    return board;
  }

  #attachedTo(): Board {
    if (this.#board === undefined) throw invalidRequest("the command is not attached");
    return this.#board;
  }

  /** Does something with the servers. The command hears of the change before it gets the answer. */
  async #change<Done>(change: (board: Board) => Promise<Done>): Promise<Done> {
    try {
      return await change(this.#attachedTo());
    } finally {
      this.#told?.tell();
    }
  }

  /** A command is attached once, as soon as it uses servers. */
  #attach(): void {
    if (this.#isAttached) return;
    this.#isAttached = true;
    this.#link.atEnd(this.#host.attached({ ...this.#info, agent: this.#agent }));
  }

  async #open(agent: string, options: IncomingOptions): Promise<SessionBoard> {
    const board = await this.#use(agent);
    const { command, pid } = this.#info;
    // The board checks what it gets.
    const given = Object.fromEntries(
      OPTIONS_IN_GATEWAY.map((name) => [name, options[name]]),
    ) as unknown as BoardInGateway;
    const id = given.id ?? `${command}-${pid}`;
    const { onApproval } = given;
    const session = await board.openSession({
      ...given,
      ...(onApproval && { onApproval: this.#askedHereOrThere(agent, id, onApproval) }),
      // So that the audit says which command made a call.
      id,
      // On this channel the command says so: whoever can open it is the owner.
      owner: given.owner === true,
      // The command's own board has tools for resources and the servers of each session.
      resourceTools: false,
      perSession: false,
      startupWait: 0,
    });
    const { onEvent } = options;
    for (const event of ["resources", "prompts", "log", "notice"] as const) {
      session.on(event, (value) => {
        // A flood of log messages must not pile up where nobody reads.
        const isLeftOut = event === "log" && this.#link.isFull;
        if (typeof onEvent === "function" && !isLeftOut) onEvent(event, value);
      });
    }
    // What is approved of a tool can change what the session's rules allow, although the agent's board is the same.
    session.on("tools", () => this.#told?.soon());
    options.atEnd(this.#host.watch?.(agent, session, this.#info) ?? (() => {}));
    return session;
  }

  /**
   * The command asks its person. One without a terminal says so by an error; then the call waits in the page, if somebody
   * is there.
   */
  #askedHereOrThere(agent: string, id: string, ask: AskApproval): AskApproval {
    return async (request, signal) => {
      const elsewhere = this.#host.askElsewhere?.(agent);
      const mayWait = elsewhere === undefined ? {} : { mayWait: true };
      try {
        return await ask({ ...request, ...mayWait }, signal);
      } catch (error) {
        const isUnasked = error instanceof PlugboardError && error.code === "NOT_APPROVED";
        if (elsewhere === undefined || !isUnasked) throw error;
        const caller = { id: `command:${id}`, label: id };
        return elsewhere(request, signal, { caller, tell: () => {} });
      }
    };
  }

  /** A command need not wait for the answer to `session/open`. */
  #opened(session: unknown): Promise<SessionBoard> {
    const opened = this.#sessions.get(session);
    if (opened !== undefined) return opened;
    throw new PlugboardError("SERVER_UNAVAILABLE", "the session is closed", { hasNotRun: true });
  }

  /** A method that uses a member of a session's board. */
  #member<Examples extends unknown[]>(member: string, ...examples: Examples) {
    const [part = "", name] = member.split("/");
    return takes(examples, async (...given): Promise<unknown> => {
      const { session, onUpdate: tell, ...options } = given.pop() as IncomingOptions;
      const board = (await this.#opened(session)) as unknown as Members & Record<string, Members>;
      this.#attach();
      const onUpdate =
        typeof tell === "function" && ((update: unknown) => this.#link.isFull || tell(update));
      const asked: Members | undefined = name === undefined ? board : board[part];
      try {
        return await asked?.[name ?? part]?.(...given, {
          ...options,
          ...(onUpdate && { onUpdate }),
        });
      } finally {
        this.#told?.soon();
      }
    });
  }

  /**
   * Sends the messages of a server from now on. Whoever can open the channel owns the servers. What the command does not
   * read in time is left out and counted: no call waits for it. No request stays open meanwhile, because a gateway that
   * stops would wait for it.
   */
  #trace(server: string, maxSize: number, { onEntry, atEnd }: IncomingOptions): void {
    const board = this.#attachedTo();
    if (typeof onEntry !== "function") return;
    const send = onEntry as TraceListener;
    const lost = new Map<string, number>();
    const tellLost = (at: number): void => {
      for (const [name, count] of lost) send({ kind: "lost", server: name, at, count });
      lost.clear();
    };
    const listener: TraceListener = (entry) => {
      if (this.#link.isFull) {
        const count = entry.kind === "lost" ? entry.count : 1;
        return void lost.set(entry.server, (lost.get(entry.server) ?? 0) + count);
      }
      tellLost(entry.at);
      send(entry);
    };
    const options = { ...(server && { server }), ...(maxSize > 0 && { maxSize }) };
    const end = board.trace(listener, options);
    atEnd(() => end().then(() => tellLost(this.#clock.now())));
  }
}

/** A method, with examples of its arguments. Others of the same kinds are accepted. */
function takes<Examples extends [] | unknown[], Result>(
  examples: Examples,
  run: (...given: [...Examples, IncomingOptions]) => Result,
): { examples: Examples; run: typeof run } {
  return { examples, run };
}

/** A person names the tool on a command line, so its server is tried again, also where calls no longer start it. */
async function tryAgain({ source }: Pick<Tool, "source">, session: SessionBoard): Promise<void> {
  const server = source.kind === "mcp" ? source.server : undefined;
  const status = session.status().find(({ name }) => name === server);
  if (status !== undefined && isGivenUp(status.state)) await session.restart(status.name);
}

function areLike(args: readonly unknown[], examples: readonly unknown[]): boolean {
  return (
    args.length === examples.length &&
    args.every((each, at) =>
      typeof each === "object"
        ? isJsonObject(each) && isJsonObject(examples[at])
        : typeof each === typeof examples[at],
    )
  );
}
