// `plugboard serve`: the board as one MCP server on stdio, until the client disconnects.

import { randomBytes } from "node:crypto";
import type { Readable } from "node:stream";
import { openBoard } from "../../../board.ts";
import { declineUnattributed } from "../../../board/decline-unattributed.ts";
import { plugboardHome } from "../../../config/home.ts";
import { ApprovalDesk } from "../../../endpoint/questions/approval-desk.ts";
import type { AgentConfig } from "../../../model/agent-config.ts";
import { openFileState } from "../../../state/files/open.ts";
import { serveMcp } from "../../mcp/serve.ts";
import { aboutBoard, whyEmpty } from "./about-board.ts";
import { claimStdout } from "../claim-stdout.ts";
import type { CliContext } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import { readAgent } from "../read-agent.ts";
import { readGateway } from "../read-gateway.ts";

const FOR_CLIENTS =
  "This command is for MCP clients: they start it and talk to it here. Press Ctrl-C to stop. " +
  "To see your servers yourself: plugboard";

export async function runServe(context: CliContext): Promise<number> {
  const { io, logger, clock, signal, screen, options } = context;
  const write = claimStdout(io.stdout, io.stderr);
  const input = io.stdin as Readable;
  if (io.stdin.isTTY) screen.note(FOR_CLIENTS);
  try {
    const agent = forClients(await readAgent(context));
    const isEmpty = whyEmpty(agent, io);
    if (isEmpty !== undefined) logger.warn(isEmpty);
    const stateDir = plugboardHome(io.env, io.homedir);
    const state = openFileState(stateDir, { clock, logger });
    const workspace = agent.workspace ?? io.cwd;
    await using board = await openBoard(
      // The client is answered at once; its first list waits for the servers.
      { ...agent, startupWait: 0 },
      {
        start: "eager",
        env: io.env,
        clock,
        logger,
        stateDir,
        state,
        workspaceDir: workspace,
        onlyInSessions: true,
        // The person who started the client is the owner.
        owner: true,
        defaultToolTimeout: CLIENT_TOOL_TIMEOUT,
        showsApps: true,
        // Questions caused by a client's calls go to that client instead.
        ...declineUnattributed(logger),
        serverLogLevel: options.logLevel === "silent" ? undefined : options.logLevel,
      },
    );
    const desk = new ApprovalDesk({
      pending: state.pending,
      clock,
      logger,
      random: randomBytes,
      waitMs: (await readGateway(context)).settings.approvalWait,
    });
    // The one client has one session.
    const session = hasSessionServers(agent)
      ? await board.openSession({
          cwd: workspace,
          rateLimit: false,
          // Servers hear at once that there are roots; which ones, only the client knows.
          ...(agent.roots === undefined && { roots: [] }),
        })
      : undefined;
    await serveMcp(session ?? board, {
      input,
      output: { write },
      signal,
      clock,
      logger,
      ...aboutBoard(agent, io),
      onApproval: desk.askFor(agent.agentId),
      onRoots: agent.roots === false ? undefined : session && ((roots) => session.setRoots(roots)),
    });
    desk.close();
    return EXIT.ok;
  } finally {
    // A client that keeps the pipe open would otherwise keep the process alive.
    input.destroy();
  }
}

/** MCP clients have no way to say how long a call may take, and long ones are common. */
export const CLIENT_TOOL_TIMEOUT = 600_000;

/** Whether every session of a client has servers of its own. */
export function hasSessionServers({ servers }: AgentConfig): boolean {
  return servers.some(({ scope, enabled }) => scope === "session" && enabled);
}

/** MCP clients put a prefix of their own before every name. */
export function forClients(agent: AgentConfig): AgentConfig {
  return {
    ...agent,
    toolNames: agent.hasToolNames ? agent.toolNames : "{server}__{tool}",
    toolNameLength: 48,
  };
}
