// Looks at one server end to end: starts it on a board of its own, asks what it has, measures it, and stops it again. Or
// asks the gateway about a server that is ready there.

import { resolve } from "node:path";
import { openBoard, signInsOf } from "../../../core/board/board.ts";
import { type AgentConfig, templateFor } from "../../../core/types/agent-config.ts";
import type { Board } from "../../../core/types/board.ts";
import type { BoardOptions } from "../../../core/types/board-options.ts";
import { type PlugboardError, toPlugboardError } from "../../../core/types/errors.ts";
import { type LogFields, type Logger, silentLogger } from "../../../core/types/logger.ts";
import type { ServerDefinition } from "../../../core/types/server-definition.ts";
import type { ServerStatus } from "../../../core/types/server-status.ts";
import type { Tool } from "../../../core/types/tool.ts";
import { memoryOfTree } from "../../../core/process/tree-memory.ts";
import { expandHome } from "../../../util/home-path.ts";
import { isOnPath } from "../../../util/on-path.ts";
import { untilInterrupted } from "../../lifetime.ts";
import { isForEach } from "../../status/server-state.ts";
import { isAttended } from "../../questions/attended.ts";
import type { DoctorContext } from "../context.ts";
import { isCached, type PackagePlaces, type PackageRun, packageRunOf } from "./package-runner.ts";

type Surroundings = Pick<DoctorContext, "cli" | "home">;

export interface Examined {
  definition: ServerDefinition;
  /** Where it is configured, for a sentence: `its entry in plugboard.json`. */
  entry: string;
  status: ServerStatus;
  /** The tools that the rules let a caller see, under their names on the agent's board. */
  tools: readonly Tool[];
  /** Absent unless the server is ready. */
  content?: ExaminedContent;
  /** Of all its processes, in bytes. */
  memory?: number;
  /** What it wrote to stdout that is no message. Not known of a gateway's server. */
  noise?: { lines: number; first: string };
  /** Its command is a name that is not on PATH. */
  isCommandMissing?: true;
  /** If npx or uvx starts it: the package, and whether it was on this machine before. */
  package?: PackageRun & { wasCached: boolean };
  /** If each person has it for themselves: where they sign in or their tokens are exchanged, or why nobody can. */
  forEach?: { at: string } | { failure: PlugboardError };
  /** The gateway that runs has it too. `failure` is why it is not ready there. */
  gateway?: { failure?: PlugboardError };
}

interface ExaminedContent {
  resources: number;
  prompts: number;
  /** Why one of the lists could not be had. */
  failure?: PlugboardError;
}

/** Rejects with CANCELLED when the command must end. Nothing of the server is left then, nor after it. */
export async function examine(
  definition: ServerDefinition,
  agent: AgentConfig,
  doctor: Surroundings,
): Promise<SeenServer> {
  const { name, target } = definition;
  const noise = new Noise();
  const run = target.kind === "stdio" ? packageRunOf(target) : undefined;
  const wasCached = run && (await isCached(run, placesOf(definition, agent, doctor)));
  const options = boardOptions(agent, doctor, noise.logger);
  const board = await openBoard(alone(definition, agent), options);
  try {
    const seen = await untilInterrupted(startAndLook(board, name), doctor.cli.signal);
    const { lines, first } = noise;
    const isMissing = isCommandMissing(definition, doctor);
    return {
      definition,
      ...seen,
      ...(isMissing && { isCommandMissing: true as const }),
      ...(lines > 0 && { noise: { lines, first } }),
      ...(run !== undefined && wasCached !== undefined && { package: { ...run, wasCached } }),
    };
  } finally {
    await board.close();
  }
}

/** A server that is ready on the board of a gateway. */
export async function examineShared(
  definition: ServerDefinition,
  board: Board,
  { cli }: Surroundings,
): Promise<SeenServer> {
  const seen = await untilInterrupted(look(board, definition.name), cli.signal);
  return { definition, ...seen, gateway: {} };
}

type SeenServer = Omit<Examined, "entry">;

type Seen = Pick<Examined, "status" | "tools" | "content" | "memory" | "forEach">;

async function startAndLook(board: Board, server: string): Promise<Seen> {
  // Also starts one that is lazy, or that each session would have for itself.
  await board.restart(server);
  return look(board, server);
}

async function look(board: Board, server: string): Promise<Seen> {
  const { pid, state } = statusOf(board, server);
  if (isForEach(state)) {
    const forEach = await signInsOf(board)
      .look(server)
      .then(
        (at) => ({ at }),
        (error: unknown) => ({ failure: toPlugboardError(error, "NEEDS_AUTH") }),
      );
    return { status: statusOf(board, server), tools: [], forEach };
  }
  if (state.kind !== "ready") return { status: statusOf(board, server), tools: [] };
  const memory = pid === undefined ? undefined : await memoryOfTree(pid);
  const content = await contentOf(board, server);
  const tools = board
    .tools()
    .filter(({ source }) => source.kind === "mcp" && source.server === server);
  // Now with what was noticed about its resources and prompts.
  return {
    status: statusOf(board, server),
    tools,
    content,
    ...(memory !== undefined && { memory }),
  };
}

async function contentOf(board: Board, server: string): Promise<ExaminedContent> {
  const [resources, templates, prompts] = await Promise.allSettled([
    board.resources.list(server),
    board.resources.templates(server),
    board.prompts.list(server),
  ]);
  const count = (list: PromiseSettledResult<unknown[]>): number =>
    list.status === "fulfilled" ? list.value.length : 0;
  const failed = [resources, prompts].find(({ status }) => status === "rejected");
  return {
    resources: count(resources) + count(templates),
    prompts: count(prompts),
    ...(failed?.status === "rejected" && { failure: toPlugboardError(failed.reason, "PROTOCOL") }),
  };
}

function statusOf(board: Board, server: string): ServerStatus {
  const found = board.status().find(({ name }) => name === server);
  // oxlint-disable-next-line no-non-null-assertion -- the board was opened with it
  return found!;
}

/** The agent's configuration with this server alone. Its tools have the names that they have among the others. */
function alone(definition: ServerDefinition, agent: AgentConfig): AgentConfig {
  const { nativeModules: _modules, untrusted: _untrusted, servers, ...rest } = agent;
  const others = servers.filter(({ name }) => name !== definition.name);
  const enabled = servers.filter((each) => each.enabled).length;
  return {
    ...rest,
    toolNames: templateFor(agent.toolNames, enabled),
    // The doctor wants to see a failed start, and not a second one.
    servers: [{ ...definition, restartOnCrash: false }],
    leftOut: [...others, ...(agent.leftOut ?? [])],
    warnings: [],
    startupWait: 0,
  };
}

function boardOptions(
  agent: AgentConfig,
  { cli, home }: Surroundings,
  logger: Logger,
): BoardOptions {
  const { io, clock, options } = cli;
  return {
    start: "none",
    skipFailed: false,
    env: io.env,
    clock,
    logger,
    stateDir: home,
    workspaceDir: agent.workspace ?? io.cwd,
    owner: options.owner,
    // Nobody is asked anything: it only looks.
    onApproval: () => "refuse",
    ...(isAttended(cli) && { onElicitation: () => Promise.resolve({ action: "cancel" as const }) }),
  };
}

function isCommandMissing({ target }: ServerDefinition, { cli }: Surroundings): boolean {
  if (target.kind !== "stdio" || /[/\\$~]/.test(target.command)) return false;
  const { command, env } = target;
  return !isOnPath(command, { ...cli.io.env, ...env }, process.platform);
}

function placesOf(
  { target }: ServerDefinition,
  agent: AgentConfig,
  { cli }: Surroundings,
): PackagePlaces {
  const { homedir, cwd } = cli.io;
  const usual = agent.workspace ?? cwd;
  if (target.kind !== "stdio") return { homedir, cwd: usual, env: {} };
  const { env, cwd: own, baseDir = usual } = target;
  return {
    homedir,
    env,
    cwd: own === undefined ? usual : resolve(baseDir, expandHome(own, homedir)),
  };
}

/** Hears in the log of a board what a server writes to stdout that is no message. */
class Noise {
  lines = 0;
  first = "";
  readonly logger: Logger = {
    ...silentLogger,
    debug: (_message, { stream, line }: LogFields = {}) => {
      if (stream !== "stdout") return;
      if (this.lines === 0) this.first = String(line);
      this.lines += 1;
    },
  };
}
