// Opens the board a command works with and closes it when the command is done.

import { openBoard } from "../core/board/board.ts";
import type { ConfigSource } from "../core/config/find.ts";
import { plugboardHome } from "../core/config/home.ts";
import { parseAgentConfig } from "../core/config/parse.ts";
import { type AgentConfig, DEFAULT_AGENT } from "../core/types/agent-config.ts";
import type { Board } from "../core/types/board.ts";
import type { BoardOptions } from "../core/types/board-options.ts";
import { PlugboardError, unknownServer } from "../core/types/errors.ts";
import type { Logger } from "../core/types/logger.ts";
import { isGivenUp } from "../core/types/server-state.ts";
import { withoutTold } from "./told-warnings.ts";
import { attach, type Attachment } from "./attach/attach.ts";
import type { CliContext } from "./context.ts";
import { demoConfig } from "./demo-config.ts";
import { findSource } from "./find-source.ts";
import { approvalPrompt } from "./questions/approve.ts";
import { elicitationPrompt } from "./questions/elicit.ts";
import { isKeptAlive } from "./background/kept-alive.ts";
import { loadTrusted, type TrustedConfig } from "./trust/load-trusted.ts";

/** Without `onApproval` the person at the terminal is asked; where there is none, the call is refused. */
export interface OpenOptions extends Pick<
  BoardOptions,
  "onApproval" | "onAuthorization" | "onElicitation" | "onSampling" | "resourceTools" | "state"
> {
  start: NonNullable<BoardOptions["start"]>;
  /** Use the demo, whatever is configured. */
  demo?: boolean;
  /** Use only this server. Throws UNKNOWN_SERVER where it is not configured. */
  server?: string | undefined;
  /** A word that somebody typed: if it is the name of a server, the command is about this server alone. */
  word?: string | undefined;
  /** The command shows the rules that match nothing, so they are not logged too. */
  showsRules?: boolean;
  /** The command shows in its own words what waits for trust. */
  showsUntrusted?: boolean;
  /** The server that the command is about: warnings about other servers are left out. Default: `server`. */
  about?: string | undefined;
  /** Start servers again that crash, because the command runs for long. */
  restarts?: boolean;
  /** Milliseconds that a call may take without progress, whatever the configuration says. */
  toolTimeout?: number | undefined;
  /** If a server that it uses is to be kept alive and no gateway runs, one is started in the background. */
  keepAlive?: boolean;
  /** The configuration, where the command has read it already. */
  loaded?: TrustedConfig;
  /** Do not use the servers of a gateway. */
  standalone?: boolean;
  /** Changes the configuration for this command. */
  adjust?: (agent: AgentConfig) => AgentConfig | Promise<AgentConfig>;
}

export interface OpenedBoard {
  board: Board;
  agent: AgentConfig;
  source: ConfigSource;
  /** If these are the servers of a gateway. */
  attachment?: Attachment;
}

export async function withBoard<Result>(
  context: CliContext,
  open: OpenOptions,
  use: (opened: OpenedBoard) => Promise<Result>,
): Promise<Result> {
  const { io, options, logger, clock } = context;
  const { env, cwd, homedir } = io;
  const { start, showsRules, toolTimeout, adjust = (agent) => agent } = open;
  const { typed } = options;
  const { source, loaded } = await loadFor(open, context);
  const named = loaded.servers.find(({ name }) => name === open.word)?.name;
  const { server = named, about = server } = open;
  const home = plugboardHome(env, homedir);
  const agent = await withoutTold(
    withoutOtherWarnings(
      about,
      await adjust(server === undefined ? loaded : onlyServer(server, loaded)),
    ),
    home,
  );
  const keepAlive = open.keepAlive === true && isKeptAlive(loaded, about);
  const isAlone = open.standalone === true || typed !== undefined;
  const attachment = isAlone
    ? undefined
    : await attach(source, context, { keepAlive, toolTimeout });
  // The command waits for the servers itself, so that it can show what it waits for.
  const config = { ...agent, startupWait: 0, servers: serversFor(agent, open) };
  const boardOptions: BoardOptions = {
    start,
    // A server that you name is tried, and so are all when you ask how they are.
    skipFailed:
      server === undefined && (start === "unknown" || start === "none") && typed === undefined,
    env,
    clock,
    // Rules are for the configured servers: that they match no tool of a typed one is no mistake.
    logger: withoutWarnings(logger, { about, showsRules: showsRules ?? typed !== undefined }),
    stateDir: home,
    restartHint: () => "the next command starts it again",
    workspaceDir: agent.workspace ?? cwd,
    owner: options.owner,
    onApproval: open.onApproval ?? approvalPrompt(context),
    onAuthorization: open.onAuthorization,
    // Every command advertises the same, so that what one of them lists another one can call.
    onElicitation: open.onElicitation ?? elicitationPrompt(context),
    onSampling: open.onSampling,
    ...(open.state && { state: open.state }),
    ...(open.resourceTools !== undefined && { resourceTools: open.resourceTools }),
    // Servers need not send log messages that would not be shown.
    serverLogLevel: options.logLevel === "silent" ? undefined : options.logLevel,
  };
  const board = await (attachment === undefined
    ? openBoard(config, boardOptions)
    : attachment.open(config, boardOptions));
  try {
    const down = board.status().find(({ name, state }) => name === about && isGivenUp(state));
    // A command of yours that uses the server tries it again, where the gateway has given it up.
    if (down !== undefined && open.keepAlive) await board.restart(down.name);
    return await use({ board, agent, source, ...(attachment && { attachment }) });
  } finally {
    await board.close();
  }
}

/** The configuration of a command. */
async function loadFor(
  { demo, server, about = server, showsUntrusted, loaded: given }: OpenOptions,
  context: CliContext,
): Promise<{ source: ConfigSource; loaded: AgentConfig }> {
  if (given !== undefined) return { source: given.source, loaded: given.agent };
  const { typed } = context.options;
  if (typed !== undefined && server !== undefined) throw oneServer(server);
  const found = demo ? ({ kind: "demo" } as const) : findSource(context);
  const onlyRules = typed !== undefined;
  const trusted =
    found.kind === "file"
      ? await loadTrusted(found, context, { onlyRules, showsUntrusted, about })
      : undefined;
  const { source, agent: loaded } = trusted ?? {
    source: { kind: "demo" as const },
    agent: withoutFile(context, onlyRules ? () => parseAgentConfig({ servers: {} }) : demoConfig),
  };
  if (typed === undefined) return { source, loaded };
  // Loaded here: other commands do not need it.
  const { typedAgent } = await import("./typed/typed-agent.ts");
  return { source, loaded: typedAgent(typed, loaded, context) };
}

function oneServer(server: string): PlugboardError {
  return new PlugboardError(
    "INVALID_ARGUMENTS",
    `--server ${server} is for a configured server, and you typed another one`,
    { server, hint: "leave out --server, or the command or URL" },
  );
}

/** Leaves out warnings about rules that the command shows itself, and about other servers: `status` shows those. */
function withoutWarnings(
  logger: Logger,
  { about, showsRules }: Pick<OpenOptions, "about" | "showsRules">,
): Logger {
  return {
    ...logger,
    warn(message, fields) {
      const { server, setting } = fields ?? {};
      const isOfOther = about !== undefined && server !== undefined && server !== about;
      const isShown = showsRules === true && setting !== undefined;
      if (!isOfOther && !isShown) logger.warn(message, fields);
    },
  };
}

function withoutOtherWarnings(about: string | undefined, agent: AgentConfig): AgentConfig {
  if (about === undefined) return agent;
  return { ...agent, warnings: agent.warnings.filter(({ path }) => mayConcern(path, about)) };
}

/** Whether a mistake at this place of a file may matter to the server: it is not about another server. */
export function mayConcern(path: string, server: string): boolean {
  const [, place] = /(?:^|\.|_)(?:mcpS|s)ervers\.(.+)$/.exec(path) ?? [];
  return place === undefined || place === server || place.startsWith(`${server}.`);
}

/** The configuration where there is no file. Throws CONFIG_INVALID for an agent that only a file could have. */
export function withoutFile(
  { options }: Pick<CliContext, "options">,
  config: () => AgentConfig,
): AgentConfig {
  // Every configuration has this one, also none at all.
  if (options.agent === undefined || options.agent === DEFAULT_AGENT) return config();
  throw new PlugboardError(
    "CONFIG_INVALID",
    `there is no agent '${options.agent}', because there is no configuration`,
    { hint: "name a configuration with --config <file>" },
  );
}

/** A command is over before a restart would help, so a server that it could not start is down. */
function serversFor(
  { servers }: AgentConfig,
  { restarts, toolTimeout }: Pick<OpenOptions, "restarts" | "toolTimeout">,
): AgentConfig["servers"] {
  return servers.map((each) => ({
    ...each,
    ...(!restarts && { restartOnCrash: false }),
    ...(toolTimeout !== undefined && { toolTimeout }),
  }));
}

/** The server that a name such as `files/read_file` begins with. */
export function serverIn(name = ""): string | undefined {
  const slash = name.indexOf("/");
  return slash <= 0 || name.startsWith("native/") ? undefined : name.slice(0, slash);
}

function onlyServer(name: string, agent: AgentConfig): AgentConfig {
  const servers = agent.servers.filter((server) => server.name === name);
  const others = agent.servers.filter((server) => server.name !== name);
  const leftOut = [...others, ...(agent.leftOut ?? [])];
  if (servers.length > 0) return { ...agent, servers, leftOut };
  const unused = agent.untrusted?.find((file) => file.servers.some((each) => each.name === name));
  if (unused !== undefined) {
    throw new PlugboardError("UNTRUSTED", `server '${name}' is not started: ${unused.remedy}`, {
      server: name,
    });
  }
  throw unknownServer(
    name,
    agent.servers.map((server) => server.name),
  );
}
