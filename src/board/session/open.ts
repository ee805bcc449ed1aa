// What a session asks for, checked and cut to its limits, before anything starts.

import { isAbsolute } from "node:path";
import { randomUUID } from "node:crypto";
import { parseSessionServers } from "../../config/session.ts";
import { selectServers, sessionLimits } from "../../guard/session-limits.ts";
import type { AgentConfig } from "../../model/agent-config.ts";
import type { BoardOptions } from "../../model/board-options.ts";
import { PlugboardError } from "../../model/errors.ts";
import { loggerWith } from "../../model/logger.ts";
import type { SessionOptions } from "../../model/session-board.ts";
import { oneLine } from "../../util/text.ts";
import type { BoardCore } from "../core.ts";
import { withLender } from "../lender.ts";
import { LiveSession } from "./live-session.ts";

/** Whoever opens a session waits for it: a server that takes longer comes later. */
const STARTUP_WAIT_MS = 2000;

/** Throws CONFIG_INVALID or INVALID_ARGUMENTS. Nothing has started yet. */
export function openSession(
  given: SessionOptions,
  over: BoardCore,
  onClosed: () => void,
): LiveSession {
  const { cwd, servers = {}, id = randomUUID(), startupWait = STARTUP_WAIT_MS } = given;
  if (typeof cwd !== "string" || !isAbsolute(cwd)) throw isNoDirectory(cwd);
  const { env = process.env } = over.options;
  const limits = sessionLimits(over.agent.guard, env);
  const { definitions, warnings } = parseSessionServers(servers, over.agent.session, cwd);
  const names = definitions.map(({ name }) => name);
  const { kept, notice } = selectServers(names, limits);
  const agent = agentFor(given, over.agent);
  const brought = definitions
    .filter(({ name }) => kept.includes(name))
    .map((each) => withLender(each, agent, env));
  return new LiveSession({
    id,
    cwd,
    over,
    agent,
    options: optionsFor(given, over.options, id),
    brought,
    limits,
    startupWait,
    notices: [...warnings, ...(notice === undefined ? [] : [notice])],
    onClosed,
  });
}

function isNoDirectory(cwd: unknown): PlugboardError {
  const given = typeof cwd === "string" ? `'${oneLine(cwd, 200)}'` : typeof cwd;
  const message = `cwd of a session must be an absolute path, not ${given}`;
  return new PlugboardError("INVALID_ARGUMENTS", message);
}

function agentFor({ approval }: SessionOptions, agent: AgentConfig): AgentConfig {
  if (approval === undefined || agent.guard?.approval !== undefined) return agent;
  return { ...agent, guard: { ...agent.guard, approval } };
}

/** Of the board's, what is not about its own servers and listeners. */
function optionsFor(given: SessionOptions, board: BoardOptions, session: string): BoardOptions {
  const { onToolsChanged: _, signal: _signal, start: _start, ...inherited } = board;
  const { cwd, onApproval, onElicitation, onSampling, owner, roots = [cwd] } = given;
  return {
    ...inherited,
    native: [...(board.native ?? []), ...(given.native ?? [])],
    workspaceDir: cwd,
    roots,
    ...(board.logger !== undefined && { logger: loggerWith({ session }, board.logger) }),
    ...(onApproval !== undefined && { onApproval }),
    ...(onElicitation !== undefined && { onElicitation }),
    ...(onSampling !== undefined && { onSampling }),
    ...(owner !== undefined && { owner }),
  };
}
