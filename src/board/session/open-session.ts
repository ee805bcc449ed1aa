// Checks the options of a session and applies its limits, before anything starts.

import { isAbsolute } from "node:path";
import { randomUUID } from "node:crypto";
import { parseSessionServers } from "../../config/session.ts";
import { selectServers, sessionLimits } from "../../guard/session-limits.ts";
import type { AgentConfig } from "../../model/agent-config.ts";
import type { BoardOptions, SessionOptions } from "../../model/board-options.ts";
import { PlugboardError } from "../../model/errors.ts";
import { loggerWith } from "../../model/logger.ts";
import { oneLine } from "../../util/text.ts";
import type { BoardCore } from "../core.ts";
import { withMatchingServer } from "../matching-server.ts";
import { LiveSession } from "./session.ts";

/** How long opening a session waits for its servers. Slower ones join later. */
const STARTUP_WAIT_MS = 2000;

/** Throws CONFIG_INVALID or INVALID_ARGUMENTS. Starts nothing. */
export function openSession(
  given: SessionOptions,
  base: BoardCore,
  onClosed: () => void,
): LiveSession {
  const { cwd, servers = {}, id = randomUUID(), startupWait = STARTUP_WAIT_MS } = given;
  if (typeof cwd !== "string" || !isAbsolute(cwd)) throw notAbsolute(cwd);
  const { env = process.env } = base.options;
  const limits = sessionLimits(base.agent.guard, env);
  const { definitions, warnings } = parseSessionServers(servers, base.agent.session, cwd);
  const names = definitions.map(({ name }) => name);
  const { kept, notice } = selectServers(names, limits);
  const agent = agentFor(given, base.agent);
  const brought = definitions
    .filter(({ name }) => kept.includes(name))
    .map((each) => withMatchingServer(each, agent, env));
  return new LiveSession({
    id,
    cwd,
    base,
    agent,
    options: optionsFor(given, base.options, id),
    brought,
    limits,
    startupWait,
    notices: [...warnings, ...(notice === undefined ? [] : [notice])],
    onClosed,
  });
}

function notAbsolute(cwd: unknown): PlugboardError {
  const given = typeof cwd === "string" ? `'${oneLine(cwd, 200)}'` : typeof cwd;
  const message = `the cwd of a session must be an absolute path, not ${given}`;
  return new PlugboardError("INVALID_ARGUMENTS", message);
}

function agentFor({ approval }: SessionOptions, agent: AgentConfig): AgentConfig {
  if (approval === undefined || agent.guard?.approval !== undefined) return agent;
  return { ...agent, guard: { ...agent.guard, approval } };
}

/** The board's options, without those that are about its own servers and listeners, and with the session's. */
function optionsFor(given: SessionOptions, board: BoardOptions, session: string): BoardOptions {
  const { onToolsChanged: _, signal: _signal, start: _start, ...inherited } = board;
  const { cwd, roots = [cwd] } = given;
  return {
    ...inherited,
    native: [...(board.native ?? []), ...(given.native ?? [])],
    workspaceDir: cwd,
    roots,
    logger: board.logger && loggerWith({ session }, board.logger),
    onApproval: given.onApproval ?? board.onApproval,
    onElicitation: given.onElicitation ?? board.onElicitation,
    onSampling: given.onSampling ?? board.onSampling,
    owner: given.owner ?? board.owner,
  };
}
