// The agents that a gateway serves: opens their boards when they are first asked for, and decides which endpoint answers
// a caller.

import type { ClientBoard } from "../endpoint/client-board.ts";
import type { UsedEndpoint, Sender } from "../endpoint/http/sessions.ts";
import type { EndpointBoard, EndpointOptions } from "../endpoint/context.ts";
import { Endpoint } from "../endpoint/endpoint.ts";
import type { WaitingApprovals } from "../endpoint/questions/waiting-approvals.ts";
import { HOLD_MS } from "../endpoint/questions/held-calls.ts";
import { subscriptionShares } from "../endpoint/subscriptions.ts";
import { leftTo, signInsOf } from "../../core/board/board.ts";
import type { OwnTool } from "../../core/board/tools.ts";
import { listServers } from "../../core/board/search-request.ts";
import type { AgentConfig } from "../../core/types/agent-config.ts";
import type { Board, ReloadReport, SessionBoard } from "../../core/types/board.ts";
import type { SessionOptions, SessionPerson } from "../../core/types/board-options.ts";
import {
  type Caller,
  type CallerJwt,
  DEFAULT_TOKEN_CALLER,
  personOf,
  tokenOf,
  type TokenPolicy,
} from "../../core/types/caller.ts";
import { PlugboardError } from "../../core/types/errors.ts";
import { isJsonObject } from "../../core/types/json.ts";
import type { NativeToolFactory } from "../../core/types/tool.ts";
import { canonicalJson } from "../../util/canonical-json.ts";
import { Shares } from "../../util/shares.ts";
import { shortHash } from "../../util/short-hash.ts";
import type { Timer } from "../../util/clock.ts";
import type { AdmittedCaller } from "./access/admission.ts";
import { PresentedJwts, holderOf } from "./presented-jwts.ts";
import type { Quotas } from "./quotas.ts";

export interface GatewayAgentsOptions extends Omit<
  EndpointOptions,
  "board" | "agent" | "onApproval"
> {
  /** Undefined if there is no such agent. */
  open: (id: string) => Promise<ClientBoard | undefined>;
  /** Hears of every session board that is opened. Returns a function that is called when it closes. */
  onSession?: (
    agent: string,
    board: SessionBoard,
    person: PersonsServers | undefined,
  ) => () => void;
  /** Decides about calls where the client cannot ask its user. Absent: they are refused. */
  approvals?: Pick<WaitingApprovals, "askFor">;
  /** Clients are gateways, whose calls are those of many callers. */
  isForMany?: boolean;
  /** Milliseconds until the board for a policy that nobody uses any more is closed. */
  idleMs: number;
  /** How many sessions of one agent may have servers of their own. One caller has a quarter of them. */
  sessionServers: number;
  /** How many calls each caller may make. Absent: as many as they like. */
  quotas?: Pick<Quotas, "of">;
  /** How many people may have servers of their own at a time, of one agent. */
  people: number;
  /** Where somebody signs in to a server of an agent. */
  signInUrl: (agent: string, server: string) => string;
}

/** Whose board it is, and which of its servers nobody else sees. */
export interface PersonsServers {
  id: string;
  isTheirs: (server: string) => boolean;
}

/** The tool that says where to sign in. */
const SIGN_IN = "sign_in";
/** How many boards one person has at most, one for each set of rights. Beyond that, the person's unused ones are closed. */
const MOST_BOARDS_OF_ONE = 4;
const REST_AGAIN_MS = 10_000;

/** For clients of others than the owner, in place of the reason, which names files. */
const MISSING =
  "Plugboard does not offer every tool that is configured. Tell the user: whoever runs this gateway sees why with plugboard status.";

/** Somebody who does not see everything. */
export interface Viewer {
  /** The label of the caller. */
  caller: string;
  id: string;
  /** What they may use, by agent, of the agents that are open. */
  boards: ReadonlyMap<string, SessionBoard>;
  /** Gives the boards back. */
  release: () => void;
}

type Session = Parameters<Sender["endpointFor"]>[0];

export class GatewayAgents {
  readonly #options: GatewayAgentsOptions;
  readonly #agents = new Map<string, ServedAgent | undefined>();
  readonly #opening = new Map<string, Promise<ServedAgent | undefined>>();
  /** Agents that are no longer configured. */
  readonly #closing = new Set<Promise<void>>();

  constructor(options: GatewayAgentsOptions) {
    this.#options = options;
  }

  /** Undefined for an agent that is not configured. The first request for an agent opens its board. */
  find(id: string): ServedAgent | undefined | Promise<ServedAgent | undefined> {
    return this.#agents.get(id) ?? this.#opening.get(id) ?? this.#open(id);
  }

  /** The agents whose boards are open. */
  list(): readonly ServedAgent[] {
    return [...this.#agents.values()].filter((agent) => agent !== undefined);
  }

  /** What a caller may use of the agents that are open; undefined for whoever may see everything. */
  async viewerOf(admitted: AdmittedCaller): Promise<Viewer | undefined> {
    if (isUnrestricted(admitted)) return undefined;
    const used = await Promise.all(
      this.list().map(async (agent) => [agent.id, await agent.useBoard(admitted)] as const),
    );
    return {
      caller: admitted.caller.label,
      id: admitted.caller.id,
      boards: new Map(used.map(([id, { board }]) => [id, board])),
      release: () => used.forEach(([, { release }]) => release()),
    };
  }

  /** Somebody has signed in to a server or out of it, here or elsewhere. */
  signInsChanged(): void {
    for (const agent of this.list()) agent.signInsChanged();
  }

  /** Ends the streams of changes, so that clients know that nothing more comes. */
  endStreams(): void {
    for (const agent of this.list()) agent.endStreams();
  }

  /**
   * Another configuration applies to the agents that are open. One that is not among `ids` is closed. Rejects if it
   * cannot be read, before anything has changed.
   */
  async reload(
    ids: readonly string[],
    readAgent: (id: string) => Promise<AgentConfig>,
  ): Promise<Map<string, ReloadReport>> {
    // One that is being opened may have the configuration before.
    await Promise.allSettled(this.#opening.values());
    const kept = this.list().filter(({ id }) => ids.includes(id));
    const gone = this.list().filter(({ id }) => !ids.includes(id));
    const configs = await Promise.all(kept.map(({ id }) => readAgent(id)));
    for (const agent of gone) {
      this.#agents.delete(agent.id);
      agent.endStreams();
      const closing = agent.close().finally(() => this.#closing.delete(closing));
      this.#closing.add(closing);
    }
    const reports = await Promise.all(
      configs.map(async (config, at) => {
        const agent = kept[at];
        return agent && ([agent.id, await agent.reload(config)] as const);
      }),
    );
    return new Map(reports.flatMap((each) => (each === undefined ? [] : [each])));
  }

  async close(): Promise<void> {
    await Promise.all(this.#opening.values());
    await Promise.all(this.#closing);
    await Promise.all(this.list().map((agent) => agent.close()));
  }

  #open(id: string): Promise<ServedAgent | undefined> {
    const opening = this.#options
      .open(id)
      .then((opened) => {
        const agent = opened && new ServedAgent(id, opened, this.#options);
        if (agent !== undefined) this.#agents.set(id, agent);
        return agent;
      })
      .finally(() => this.#opening.delete(id));
    this.#opening.set(id, opening);
    return opening;
  }
}

/**
 * One agent. Its board answers the agent's own user. Other callers get a session board on top of it, with their policy: one
 * for each person where people sign in to servers for themselves, and one for each client's session where servers of
 * `scope: "session"` are configured.
 */
export class ServedAgent {
  readonly id: string;
  readonly board: Board;
  /** Serves the board itself. */
  readonly endpoint: Endpoint;
  readonly #options: GatewayAgentsOptions;
  readonly #opened: ClientBoard;
  readonly #ownUse: UsedEndpoint;
  /** By the policy, and by the person where people have servers of their own. */
  readonly #policyBoards = new Map<string, PolicyBoard>();
  /** The sessions that have servers of their own. */
  readonly #sessionShares: Shares;
  /** All boards of the agent have the same servers. */
  readonly #subscriptionShares: Shares;
  /** All session boards, and the endpoints that serve them. */
  readonly #sessionBoards = new Set<ServedSession>();
  readonly #closing = new Set<Promise<void>>();
  /** Sign-ins have changed since it began to look which of them have ended. */
  #isDropDue = false;
  #isDropping = false;
  readonly #jwts: PresentedJwts;
  /** The boards for which JWTs are exchanged, by holder. */
  readonly #boardsOf = new Map<string, Set<ServedSession>>();

  constructor(id: string, opened: ClientBoard, options: GatewayAgentsOptions) {
    this.id = id;
    this.board = opened.board;
    this.#opened = opened;
    this.#options = options;
    this.#sessionShares = new Shares(options.sessionServers);
    this.#subscriptionShares = subscriptionShares(options.isForMany);
    this.#jwts = new PresentedJwts(options.clock, (holder) => this.#rest(holder));
    this.endpoint = this.#serve(this.board);
    this.#ownUse = { endpoint: this.endpoint, release: () => {} };
  }

  /** Without a session: for a request that stands for itself. */
  endpointFor(admitted: AdmittedCaller, session: Session): UsedEndpoint | Promise<UsedEndpoint> {
    if (session !== undefined && this.#hasSessionServers && this.#takeShare(admitted)) {
      return this.#useSessionBoard(admitted, session);
    }
    // What the agent's own user is signed in to is for nobody else.
    const isOwnUser = personOf(admitted.caller) === undefined;
    return isUnrestricted(admitted) && isOwnUser ? this.#ownUse : this.useBoard(admitted);
  }

  /** Keeps the JWT with which a caller comes, and returns it; undefined if the agent has no server that it is exchanged for. */
  present({ caller, jwt }: AdmittedCaller): CallerJwt | undefined {
    const person = personOf(caller);
    if (jwt === undefined || person === undefined || !this.#exchanges) return undefined;
    const holder = holderOf(person, jwt);
    this.#jwts.present(holder, jwt);
    for (const { board } of this.#boardsOf.get(holder) ?? []) void signInsOf(board).retry();
    return jwt;
  }

  /** The JWT has expired, and with it the tokens that it was exchanged for. Calls that began before may finish. */
  #rest(holder: string): void {
    const boards = [...(this.#boardsOf.get(holder) ?? [])];
    if (this.#jwts.find(holder) !== undefined) return;
    if (boards.map(({ board }) => signInsOf(board).rest()).every(Boolean)) return;
    this.#options.clock.later(REST_AGAIN_MS, () => this.#rest(holder));
  }

  /** Where a caller signs in. */
  async signInBoard(
    admitted: AdmittedCaller,
  ): Promise<{ board: SignInBoard; release: () => void }> {
    if (personOf(admitted.caller) === undefined) return { board: this.board, release: () => {} };
    const used = await this.useBoard(admitted);
    if (used.isPersons) return used;
    used.release();
    const what = "too many people use servers of their own now (gateway.limits.people)";
    throw new PlugboardError("RATE_LIMITED", what, { hint: "try again later" });
  }

  /** For a person with the rights of the agent's own user, who is signed in to servers as themselves. */
  async ownersBoard(caller: Caller): Promise<{ board: SignInBoard; release: () => void }> {
    if (!this.#hasUserServers) return { board: this.board, release: () => {} };
    return this.signInBoard({ caller, policy: { owner: true } });
  }

  /** Whether each person has the server for themselves. */
  isPerUser(server: string): boolean {
    return this.#opened.userServers.includes(server);
  }

  /** Whether people sign in to it for themselves. */
  isSignedInTo(server: string): boolean {
    return this.#signInServers.includes(server);
  }

  signInsChanged(): void {
    void this.#dropSignIns();
    void signInsOf(this.board).retry();
    for (const board of this.#policyBoards.values()) {
      // A board that nobody uses now tries again when somebody does.
      if (board.users === 0) board.mayBeSignedIn = true;
      else void retrySignIns(board);
    }
    for (const { board, isOfSession } of this.#sessionBoards) {
      if (isOfSession) void signInsOf(board).retry();
    }
  }

  /** Also of boards that nobody uses now. One after another: each asks the store, and there may be many. */
  async #dropSignIns(): Promise<void> {
    this.#isDropDue = true;
    if (this.#isDropping) return;
    this.#isDropping = true;
    while (this.#isDropDue) {
      this.#isDropDue = false;
      await signInsOf(this.board).drop();
      for (const { board } of this.#sessionBoards) await signInsOf(board).drop();
    }
    this.#isDropping = false;
  }

  get #hasSessionServers(): boolean {
    return this.#opened.sessionServers.length > 0;
  }

  get #hasUserServers(): boolean {
    return this.#opened.userServers.length > 0;
  }

  get #signInServers(): readonly string[] {
    const { userServers, exchangedServers } = this.#opened;
    return userServers.filter((each) => !exchangedServers.includes(each));
  }

  /** Whether there is a server for which JWTs are exchanged. */
  get #exchanges(): boolean {
    return this.#opened.exchangedServers.length > 0;
  }

  reload(config: AgentConfig): Promise<ReloadReport> {
    return this.#opened.reload(config);
  }

  endStreams(): void {
    this.endpoint.close();
    for (const { endpoint } of this.#sessionBoards) endpoint.close();
  }

  /** Resolves when no process is left. */
  async close(): Promise<void> {
    for (const { timer } of this.#policyBoards.values()) timer?.cancel();
    this.#jwts.close();
    await this.board.close();
    await Promise.all(this.#closing);
  }

  /** Every session starts programs, and anybody with a token can begin one after another. */
  #takeShare({ caller }: AdmittedCaller): boolean {
    const shortage = this.#sessionShares.take(caller.id);
    if (shortage === undefined) return true;
    const { each, most } = this.#sessionShares;
    const what =
      shortage === "own"
        ? `${each} sessions of ${caller.label} have servers of their own already, a quarter of gateway.limits.sessionServers`
        : `${most} sessions have servers of their own already (gateway.limits.sessionServers)`;
    this.#options.logger.warn(`${what}; another one begins without them`, { agent: this.id });
    return false;
  }

  async #useSessionBoard(
    admitted: AdmittedCaller,
    session: NonNullable<Session>,
  ): Promise<UsedEndpoint> {
    const offersRoots = isJsonObject(session.profile.capabilities["roots"]);
    const giveBack = once(() => this.#sessionShares.giveBack(admitted.caller.id));
    const served = await this.#open(admitted, this.#personIn(admitted), {
      id: session.nonce,
      // Servers hear at once that there are roots; which ones, only the client knows.
      ...(offersRoots && this.#opened.roots === undefined && { roots: [] }),
    }).catch((error: unknown) => {
      giveBack();
      throw error;
    });
    const release = once(() => {
      giveBack();
      this.#close(served);
    });
    return { endpoint: served.endpoint, ownServers: this.#opened.sessionServers, release };
  }

  /**
   * The board for a caller who is not the agent's own user. Callers with equal rights share one, unless each person has
   * servers of their own. It is closed when nobody uses it.
   */
  async useBoard(
    admitted: AdmittedCaller,
  ): Promise<UsedEndpoint & { board: SessionBoard; isPersons: boolean }> {
    const terms = {
      tools: admitted.policy?.tools ?? {},
      owner: isOwner(admitted),
      ...quotaIn(admitted),
    };
    const person = this.#hasUserServers ? personOf(admitted.caller) : undefined;
    const rights = this.#exchanges ? admitted.jwt?.rights : undefined;
    let key = canonicalJson({ ...terms, ...(person !== undefined && { person, rights }) });
    let board = this.#policyBoards.get(key);
    if (board === undefined) {
      const isPersons = person !== undefined && this.#hasRoomFor(admitted);
      if (person !== undefined && !isPersons) key = canonicalJson(terms);
      board =
        this.#policyBoards.get(key) ??
        this.#openShared(key, admitted, isPersons ? this.#personIn(admitted) : undefined);
    }
    const shared = board;
    shared.timer?.cancel();
    shared.users += 1;
    if (shared.mayBeSignedIn) void retrySignIns(shared);
    const leave = once(() => {
      shared.users -= 1;
      if (shared.users === 0) this.#closeLater(key, shared);
    });
    try {
      const { endpoint, board: served } = await shared.served;
      return { endpoint, board: served, isPersons: shared.person !== undefined, release: leave };
    } catch (error) {
      this.#policyBoards.delete(key);
      throw error;
    }
  }

  #openShared(
    key: string,
    admitted: AdmittedCaller,
    person: SessionPerson | undefined,
  ): PolicyBoard {
    const id = `policy-${shortHash(key)}`;
    const served = this.#open(admitted, person, { id, isNamed: false, perSession: false });
    const board = { served, users: 0, person: person?.id, mayBeSignedIn: false };
    this.#policyBoards.set(key, board);
    return board;
  }

  /** Makes room by closing boards that nobody uses. One person has only a few, so that nobody takes what others need. */
  #hasRoomFor({ caller }: AdmittedCaller): boolean {
    const { people, logger } = this.#options;
    const all = [...this.#policyBoards].filter(([, { person }]) => person !== undefined);
    const own = all.filter(([, { person }]) => person === personOf(caller));
    const theirs = own.length >= MOST_BOARDS_OF_ONE ? own : all;
    if (theirs === all && all.length < people) return true;
    // The one that was used longest ago comes first: a board that is used again is put at the end.
    const unused = theirs.find(([, { users }]) => users === 0);
    if (unused === undefined && theirs === own) {
      const what = `${caller.label} uses JWTs with ${own.length} different rights at a time`;
      logger.warn(`${what}; with another they go on without servers of their own`, {
        agent: this.id,
      });
      return false;
    }
    if (unused === undefined) {
      const what = `${people} people have servers of their own already (gateway.limits.people)`;
      logger.warn(`${what}; ${caller.label} goes on without them`, { agent: this.id });
      return false;
    }
    this.#closeNow(...unused);
    return true;
  }

  #closeLater(key: string, board: PolicyBoard): void {
    const { clock, idleMs } = this.#options;
    if (this.#policyBoards.delete(key)) this.#policyBoards.set(key, board);
    // A call that waits for its client's answers is held by the board meanwhile.
    board.timer = clock.later(Math.max(idleMs, HOLD_MS), () => this.#closeNow(key, board));
  }

  #closeNow(key: string, board: PolicyBoard): void {
    board.timer?.cancel();
    this.#policyBoards.delete(key);
    void board.served.then((served) => this.#close(served)).catch(() => {});
  }

  /** Without a person, several people may share it. */
  async #open(
    admitted: AdmittedCaller,
    person: SessionPerson | undefined,
    options: Partial<SessionOptions>,
  ): Promise<ServedSession> {
    const { tools } = admitted.policy ?? {};
    const isOwnUser = personOf(admitted.caller) === undefined;
    const isLeft = (server: string): boolean =>
      isUnrestricted(admitted) || leftTo(this.board, { tools, owner: isOwner(admitted) })(server);
    const board = await this.board.openSession({
      cwd: this.#opened.workspace,
      owner: isOwner(admitted),
      // Whoever may use only some tools does not learn the names of the others.
      hidesRefused: !isUnrestricted(admitted),
      // Requests are limited where they come in.
      rateLimit: false,
      // Clients are answered at once; their first list waits for the servers.
      startupWait: 0,
      ...(tools !== undefined && { tools: { ...tools, place: "the token's tools" } }),
      ...(!isOwnUser && { person: person ?? false }),
      ...(person !== undefined &&
        this.#signInServers.some(isLeft) && { native: [this.#signInTool(isLeft)] }),
      ...options,
    });
    const onRoots = (roots: readonly string[]): void => board.setRoots(roots);
    const takesRoots = options.perSession !== false && this.#opened.roots !== false;
    const isShared = (server: string): boolean =>
      board.status().every(({ name, origin }) => name !== server || origin !== "session");
    const endpoint = this.#serve(board, {
      about: () => this.#aboutFor(isOwner(admitted), isLeft, options.perSession !== false, board),
      onRoots: takesRoots ? onRoots : undefined,
      isForOthers: !isOwner(admitted),
      ...quotaIn(admitted),
      // Whoever may do everything may also read everything.
      mayLogForOthers: isUnrestricted(admitted) ? undefined : isShared,
    });
    const theirs = person && { id: person.id, isTheirs: this.#isTheirs };
    const unwatch = this.#options.onSession?.(this.id, board, theirs);
    const holder = person?.subjectToken && admitted.jwt && holderOf(person.id, admitted.jwt);
    const isOfSession = options.perSession !== false;
    const served = { board, endpoint, unwatch, isOfSession, holder };
    this.#sessionBoards.add(served);
    if (holder !== undefined) {
      const boards = this.#boardsOf.get(holder) ?? new Set();
      this.#boardsOf.set(holder, boards.add(served));
    }
    return served;
  }

  readonly #isTheirs = (server: string): boolean => this.isPerUser(server);

  /** Undefined for the agent's own user. */
  #personIn({ caller, jwt }: AdmittedCaller): SessionPerson | undefined {
    const { signInUrl } = this.#options;
    const id = personOf(caller);
    if (id === undefined) return undefined;
    const signInHint = (server: string): string =>
      `to sign in, open ${signInUrl(this.id, server)} in a browser`;
    const holder = jwt && this.#exchanges ? holderOf(id, jwt) : undefined;
    const subjectToken = holder === undefined ? undefined : () => this.#jwts.find(holder);
    return { id, signInHint, ...(subjectToken && { subjectToken }) };
  }

  /**
   * Without a sign-in, a server lists no tools, and a model would not know that there are any. Names the servers of which the
   * rules leave something.
   */
  readonly #signInTool =
    (isLeft: (server: string) => boolean): NativeToolFactory =>
    ({ has }) => {
      const userServers = this.#signInServers.filter(isLeft);
      if (has(SIGN_IN) || userServers.length === 0) return undefined;
      const tool: OwnTool = {
        name: SIGN_IN,
        label: "Sign in",
        description: `Gives the address at which the user signs in to one of these servers: ${userServers.join(", ")}. Its tools are there after that. Use it if they are missing, or if a call says that a sign-in is needed.`,
        parameters: {
          type: "object",
          properties: { server: { type: "string", enum: [...userServers] } },
          required: ["server"],
          additionalProperties: false,
        },
        annotations: { readOnlyHint: true },
        passesAllowLists: true,
        execute: (_, { server }) => {
          const name = userServers.find((each) => each === server);
          const text =
            name === undefined
              ? `There is no such server. Those to sign in to: ${userServers.join(", ")}.`
              : `Ask the user to open this address in a browser, and to sign in to ${name} there: ${this.#options.signInUrl(this.id, name)}`;
          return { content: [{ type: "text", text }] };
        },
      };
      return tool;
    };

  #close(served: ServedSession): void {
    this.#sessionBoards.delete(served);
    const boards = this.#boardsOf.get(served.holder ?? "");
    if (boards?.delete(served) && boards.size === 0) this.#boardsOf.delete(served.holder ?? "");
    served.endpoint.close();
    served.unwatch?.();
    const closing = served.board.close().finally(() => this.#closing.delete(closing));
    this.#closing.add(closing);
  }

  /**
   * What the clients of a board are told about it. A client cannot see which servers it does not get without a session.
   * Only the owner is told about files, and nobody of servers of which the rules leave them nothing.
   */
  #aboutFor(
    isForOwner: boolean,
    isLeft: (server: string) => boolean,
    isInSession: boolean,
    board?: SessionBoard,
  ): string | undefined {
    const { about, sessionServers } = this.#opened;
    const missing = about();
    const words = [missing === undefined || isForOwner ? missing : MISSING];
    const notOffered = isInSession ? [] : sessionServers.filter(isLeft);
    if (notOffered.length > 0) {
      const which = listServers(notOffered);
      words.push(
        `The tools of these MCP servers are not offered: ${which}. These servers run once for each session, and this client has no session: no client of MCP 2026-07-28 has ` +
          "one, and others have none with servers of their own beyond gateway.limits.sessionServers. " +
          'Tell the user: to get the tools, set "scope": "shared" for the servers in the configuration, or use plugboard serve.',
      );
    }
    const waiting = board?.status().filter(({ name, state }) => {
      return state.kind === "needs-auth" && this.isPerUser(name);
    });
    for (const { name } of waiting ?? []) {
      if (!this.isSignedInTo(name)) {
        words.push(
          `The tools of ${name} are missing: the gateway got no token for it in the user's name. A call of one of them says why.`,
        );
        continue;
      }
      const url = this.#options.signInUrl(this.id, name);
      words.push(
        `The tools of ${name} are there once the user has signed in to it. Tell the user: open ${url} in a browser.`,
      );
    }
    const said = words.filter((each) => each !== undefined);
    return said.length === 0 ? undefined : said.join("\n\n");
  }

  #serve(
    board: EndpointBoard,
    ofSession: Partial<
      Pick<EndpointOptions, "about" | "onRoots" | "mayLogForOthers" | "isForOthers">
    > &
      Pick<TokenPolicy, "quota" | "quotaOf"> = {},
  ): Endpoint {
    const { quota, quotaOf, ...more } = ofSession;
    const { sealer, home, newId, clock, logger } = this.#options;
    const { approvals, spans, search, isForMany, quotas } = this.#options;
    return new Endpoint({
      board,
      agent: this.id,
      sealer,
      home,
      newId,
      clock,
      logger,
      spans,
      search,
      onApproval: approvals?.askFor(this.id),
      about: () => this.#aboutFor(true, () => true, false),
      keepsApps: this.#opened.keepsApps,
      subscriptionShares: this.#subscriptionShares,
      ...(quotas && { countCall: quotas.of(this.id, { quota, quotaOf }) }),
      ...(isForMany && { isForMany }),
      ...more,
    });
  }
}

interface ServedSession {
  board: SessionBoard;
  /** Only one session of one client uses it. */
  isOfSession: boolean;
  endpoint: Endpoint;
  /** Ends what `onSession` began. */
  unwatch: (() => void) | undefined;
  /** The holder whose JWTs are exchanged for it. */
  holder: string | undefined;
}

interface PolicyBoard {
  served: Promise<ServedSession>;
  users: number;
  /** The one person who uses it, with servers of their own. Undefined: everybody with these rights does. */
  person: string | undefined;
  /** Somebody has signed in somewhere since it was last used. */
  mayBeSignedIn: boolean;
  timer?: Timer;
}

async function retrySignIns(shared: PolicyBoard): Promise<void> {
  shared.mayBeSignedIn = false;
  const served = await shared.served.catch(() => undefined);
  if (served !== undefined) await signInsOf(served.board).retry();
}

/** The part of a board that signs people in. */
export type SignInBoard = Board | SessionBoard;

/** Whoever can read the token that the gateway made is the owner; for other tokens their policy says so. */
function isOwner({ caller, policy }: AdmittedCaller): boolean {
  return policy?.owner ?? caller.id === DEFAULT_TOKEN_CALLER;
}

/** What the right of a JWT gives. That of a token is looked up with each call: it can change. */
function quotaIn({ caller, policy }: AdmittedCaller): Pick<TokenPolicy, "quota" | "quotaOf"> {
  if (tokenOf(caller.id) !== undefined || policy?.quota === undefined) return {};
  const { quota, quotaOf } = policy;
  return { quota, ...(quotaOf !== undefined && { quotaOf }) };
}

function isUnrestricted(admitted: AdmittedCaller): boolean {
  return isOwner(admitted) && admitted.policy?.tools === undefined;
}

function once(task: () => void): () => void {
  let isDone = false;
  return () => {
    if (isDone) return;
    isDone = true;
    task();
  };
}
