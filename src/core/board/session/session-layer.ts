// What a session lays over an agent's board: its options, the servers that it brings, and how many of them and of their tools
// there may be.

import { randomUUID } from "node:crypto";
import { isAbsolute } from "node:path";
import { parseSessionServers } from "../../config/session.ts";
import {
  processWarning,
  type Selection,
  selectServers,
  selectTools,
  type SessionLimits,
  sessionLimits,
} from "../../guard/session-limits.ts";
import { placedRules } from "../../guard/policy.ts";
import type { AgentConfig } from "../../types/agent-config.ts";
import type { BoardOptions, SessionOptions, SessionRules } from "../../types/board-options.ts";
import { PlugboardError } from "../../types/errors.ts";
import { isJsonObject } from "../../types/json.ts";
import {
  FLAG,
  FUNCTION,
  LIST,
  NUMBER,
  OBJECT,
  objectWith,
  readGiven,
  requireKind,
  requireKinds,
  ROOTS,
  TEXT,
  TEXTS,
  TIME,
  type Kind,
  type Kinds,
} from "../../types/kinds.ts";
import { loggerWith } from "../../types/logger.ts";
import type { SessionServerConfig } from "../../types/server-config.ts";
import { isPerUser, type ServerDefinition } from "../../types/server-definition.ts";
import type { BoardInGateway } from "../../types/gateway-port.ts";
import type { Tool } from "../../types/tool.ts";
import { requirePatterns } from "../../types/tool-pattern.ts";
import { oneLine } from "../../../util/text.ts";
import type { BoardBeneath, BoardCore, Configuration } from "../core.ts";
import { withMatchingServer } from "../matching-server.ts";
import type { HostTools } from "../native-tools.ts";

/** How long opening a session waits for its servers. Slower ones join later. */
const STARTUP_WAIT_MS = 2000;

export class SessionLayer {
  readonly id: string;
  readonly options: BoardOptions;
  /** What the configuration of the agent's board means for the session when it opens. */
  readonly first: Configuration;
  /** What was left out of the session, one sentence each. */
  readonly notices: readonly string[];
  readonly #given: SessionOptions;
  readonly #base: BoardCore;
  /** What the session has brought, as it was given. */
  readonly #brought: Map<string, SessionServerConfig>;
  #limits: SessionLimits;

  /** Throws CONFIG_INVALID or INVALID_ARGUMENTS. */
  constructor(given: SessionOptions, base: BoardCore) {
    checkOptions(given);
    const { servers = {}, id = randomUUID() } = given;
    const { agent, native } = base.configuration;
    this.id = id;
    this.#given = given;
    this.#base = base;
    this.#limits = this.#limitsOf(agent);
    this.options = optionsFor(given, base.options, id);
    const { definitions, warnings } = this.#parse(servers, agent);
    const { kept, notice } = selectServers(
      definitions.map(({ name }) => name),
      this.#limits,
    );
    const isKept = (name: string): boolean => kept.includes(name);
    this.#brought = new Map(Object.entries(servers).filter(([name]) => isKept(name)));
    this.notices = notice === undefined ? warnings : [...warnings, notice];
    const brought = definitions.filter(({ name }) => isKept(name));
    this.first = this.#over(agent, this.#matched(brought, agent), [
      ...native,
      ...(given.native ?? []),
    ]);
  }

  /** Whether the servers run in it that the configuration starts for each session. */
  get hasPerSession(): boolean {
    return this.#given.perSession ?? true;
  }

  get beneath(): BoardBeneath {
    const { cwd, additionalDirectories = [], tools, rateLimit, sendMcpMessage } = this.#given;
    const { hidesRefused = false, person, isNamed = true } = this.#given;
    return {
      core: this.#base,
      sessionId: this.id,
      session: { id: isNamed ? this.id : undefined, approval: tools?.approval, rateLimit },
      directories: [cwd, ...additionalDirectories],
      timeoutOf: timeoutOf(this.#given),
      sendMcpMessage,
      hidesRefused,
      person,
    };
  }

  /** What a gateway is told of the session, in addition to what it is told of any board. */
  get sharing(): Pick<BoardInGateway, "id" | "approval" | "tools" | "rateLimit" | "toolTimeout"> {
    const { approval, tools, rateLimit, toolTimeout } = this.#given;
    return { id: this.id, approval, tools, rateLimit, toolTimeout };
  }

  /** Starts the servers of the agent's board that the session wants to be started with it. */
  startShared(): void {
    this.#base.servers.startIdle(this.#given.startShared ?? "none");
  }

  /**
   * What another configuration of the agent means for the session. `core` is its board as it is, and `native` are the
   * native tools of the agent's board.
   */
  next(agent: AgentConfig, native: HostTools, core: BoardCore): Configuration {
    const isSame = native === this.#base.configuration.native;
    return this.#over(
      agent,
      this.#broughtUnder(agent, core),
      isSame ? core.configuration.native : [...native, ...(this.#given.native ?? [])],
    );
  }

  /** From now on another configuration applies. */
  follow(agent: AgentConfig): void {
    this.#limits = this.#limitsOf(agent);
  }

  /** What the configuration starts for each session under a name. */
  configured(name: string, { base }: Configuration): ServerDefinition | undefined {
    return this.#perSession(base?.servers ?? []).find((each) => each.name === name);
  }

  /** Takes one more server. `others` has the names of those that it has. Throws CONFIG_INVALID or INVALID_ARGUMENTS. */
  bring(
    name: string,
    config: SessionServerConfig,
    others: readonly string[],
    agent: AgentConfig,
  ): ServerDefinition {
    const [definition] = this.#parse({ [name]: config }, agent).definitions;
    if (definition === undefined || others.includes(name)) {
      const message = `the session already has a server '${name}'`;
      throw new PlugboardError("INVALID_ARGUMENTS", message, {
        server: name,
        hint: "remove it first, or choose another name",
      });
    }
    const { notice } = selectServers([...others, name], this.#limits);
    if (notice !== undefined) throw new PlugboardError("INVALID_ARGUMENTS", notice);
    this.#brought.set(name, config);
    const [matched = definition] = this.#matched([definition], agent);
    return matched;
  }

  forget(name: string): void {
    this.#brought.delete(name);
  }

  /** Which tools of brought servers are within the limit. `areFound`: a model finds the others by search. */
  selectTools(tools: readonly Tool[], areFound: boolean): Selection<Tool> {
    return selectTools(tools, this.#limits, areFound);
  }

  /** What the user should know about a session that starts so many programs. */
  warningOf(programs: number): string | undefined {
    return processWarning(programs);
  }

  #parse(
    servers: Readonly<Record<string, SessionServerConfig>>,
    { session }: AgentConfig,
  ): ReturnType<typeof parseSessionServers> {
    const { cwd, sendMcpMessage } = this.#given;
    const takesAcp = sendMcpMessage !== undefined;
    return readGiven("servers", () => parseSessionServers(servers, session, cwd, takesAcp));
  }

  #matched(definitions: readonly ServerDefinition[], agent: AgentConfig): ServerDefinition[] {
    const { env = process.env } = this.#base.options;
    const { rateLimit } = this.#given;
    return definitions.map((each) =>
      withMatchingServer(each, this.#laidOver(agent), env, rateLimit),
    );
  }

  /** The definitions of what the session brought, with the agent's settings for such servers. */
  #broughtUnder(agent: AgentConfig, { servers }: BoardCore): ServerDefinition[] {
    try {
      const { definitions } = this.#parse(Object.fromEntries(this.#brought), agent);
      return this.#matched(definitions, agent);
    } catch {
      // The new settings do not fit what the session brought. Its servers keep those that they have.
      const own = servers.own().map(({ definition }) => definition);
      return own.filter(({ origin }) => origin === "session");
    }
  }

  #limitsOf({ guard }: AgentConfig): SessionLimits {
    return sessionLimits(guard, this.#base.options.env ?? process.env);
  }

  /** Those that are not shared. Without `scope`: in the session they are servers like any other. */
  #perSession(servers: readonly ServerDefinition[]): ServerDefinition[] {
    return servers.flatMap(({ scope, ...definition }) => {
      const isPersons = this.#isPersons(definition);
      if (isPersons && this.#given.person === false) return [];
      return (scope === "session" ? this.hasPerSession : isPersons) ? [definition] : [];
    });
  }

  /** Whether people have it for themselves, and not the agent's own user. */
  #isPersons(definition: Pick<ServerDefinition, "target">): boolean {
    return this.#given.person !== undefined && isPerUser(definition);
  }

  /** The session's own servers and, for the names of tools, those of the agent that it shares. */
  #over(
    agent: AgentConfig,
    brought: readonly ServerDefinition[],
    native: HostTools,
  ): Configuration {
    const names = new Set(brought.map(({ name }) => name));
    const isFree = ({ name }: ServerDefinition): boolean => !names.has(name);
    const shared = agent.servers.filter(
      (each) => each.scope !== "session" && !this.#isPersons(each),
    );
    const definitions = [...this.#perSession(agent.servers).filter(isFree), ...brought];
    const servers = [...shared.filter(isFree), ...definitions];
    const { cwd } = this.#given;
    return {
      agent: { ...this.#laidOver(agent), servers },
      definitions,
      cwd,
      native,
      base: agent,
    };
  }

  /** The agent with the session's settings. */
  #laidOver(agent: AgentConfig): AgentConfig {
    const { approval, framing, tools, toolNames, startupWait = STARTUP_WAIT_MS } = this.#given;
    const { guard } = agent;
    return {
      ...(toolNames === undefined ? agent : named(agent, toolNames)),
      startupWait,
      ...((approval ?? framing ?? tools) !== undefined && {
        guard: {
          ...guard,
          approval: guard?.approval ?? approval,
          framing: guard?.framing ?? framing,
          // One more layer, and a tool must pass each.
          rules: [...(guard?.rules ?? []), ...(tools === undefined ? [] : [placedRules(tools)])],
        },
      }),
    };
  }
}

function notAbsolute(cwd: string): PlugboardError {
  const message = `the cwd of a session must be an absolute path, not '${oneLine(cwd, 200)}'`;
  return new PlugboardError("INVALID_ARGUMENTS", message);
}

const MODE: Kind = [
  "never, ask or destructive",
  (value) => ["never", "ask", "destructive"].includes(value as string),
];

const KINDS: Kinds<SessionOptions> = {
  sendMcpMessage: FUNCTION,
  additionalDirectories: TEXTS,
  perSession: FLAG,
  person: [
    "an object with an id and signInHint, or false",
    (value) =>
      value === false ||
      (isJsonObject(value) &&
        typeof value.id === "string" &&
        typeof value.signInHint === "function"),
  ],
  id: TEXT,
  isNamed: FLAG,
  native: LIST,
  approval: MODE,
  tools: OBJECT,
  rateLimit: [
    "a number of calls, or false",
    (value) => value === false || (typeof value === "number" && value >= 0),
  ],
  toolNames: [
    "a template, and perhaps a length",
    (value) =>
      isJsonObject(value) &&
      typeof value.template === "string" &&
      (value.length === undefined || (typeof value.length === "number" && value.length > 0)),
  ],
  owner: FLAG,
  hidesRefused: FLAG,
  roots: ROOTS,
  startupWait: NUMBER,
  defaultToolTimeout: TIME,
  toolTimeout: TIME,
  onApproval: FUNCTION,
  onElicitation: FUNCTION,
  onSampling: objectWith("an object with a handler", "handler"),
};
const KINDS_OF_RULES: Kinds<SessionRules> = {
  allow: ["a list of patterns", TEXTS[1]],
  deny: ["a list of patterns", TEXTS[1]],
  approval: MODE,
};

/** Throws INVALID_ARGUMENTS. */
function checkOptions(given: SessionOptions): void {
  requireKind("the options of a session", given, OBJECT);
  const { cwd, tools } = given;
  requireKind("the cwd of a session", cwd, TEXT);
  if (!isAbsolute(cwd)) throw notAbsolute(cwd);
  requireKinds(given, KINDS, (key) => `${key} of a session`);
  if (tools === undefined) return;
  requireKinds(tools, KINDS_OF_RULES, (key) => `tools.${key} of a session`);
  requirePatterns(tools, (rule) => `tools.${rule} of a session`);
}

function named(
  configured: AgentConfig,
  { template, length }: NonNullable<SessionOptions["toolNames"]>,
): AgentConfig {
  const { toolNameLength: _, ...agent } = configured;
  return { ...agent, toolNames: template, ...(length !== undefined && { toolNameLength: length }) };
}

function timeoutOf({
  toolTimeout: forced,
  defaultToolTimeout,
}: SessionOptions): NonNullable<BoardBeneath["timeoutOf"]> {
  return ({ toolTimeout, hasToolTimeout }) =>
    forced ?? (hasToolTimeout ? toolTimeout : (defaultToolTimeout ?? toolTimeout));
}

/** The board's options, without those that are about its own servers and listeners, and with the session's. */
function optionsFor(given: SessionOptions, board: BoardOptions, session: string): BoardOptions {
  const { onToolsChanged: _, signal: _signal, start: _start, ...inherited } = board;
  const {
    cwd,
    roots,
    defaultToolTimeout = board.defaultToolTimeout,
    resourceTools = board.resourceTools,
    isNamed = true,
  } = given;
  return {
    ...inherited,
    ...(defaultToolTimeout !== undefined && { defaultToolTimeout }),
    ...(resourceTools !== undefined && { resourceTools }),
    workspaceDir: cwd,
    roots,
    logger: isNamed ? board.logger && loggerWith({ session }, board.logger) : board.logger,
    onApproval: given.onApproval ?? board.onApproval,
    onElicitation: given.onElicitation ?? board.onElicitation,
    onSampling: given.onSampling ?? board.onSampling,
    owner: given.owner ?? board.owner,
  };
}
