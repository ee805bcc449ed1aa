// `plugboard serve`: the board as one MCP server on stdio, until the client disconnects.

import { randomBytes } from "node:crypto";
import type { Readable, Writable } from "node:stream";
import { loadCallPathSoon } from "../../core/board/call-path.ts";
import { plugboardHome } from "../../core/config/home.ts";
import { openClientBoard } from "../../serve/endpoint/client-board.ts";
import { WaitingApprovals } from "../../serve/endpoint/questions/waiting-approvals.ts";
import { PlugboardError } from "../../core/types/errors.ts";
import { openFileState } from "../../core/state/files/open.ts";
import { COOKIE_VARIABLE } from "../../util/environment.ts";
import { oneLine } from "../../util/text.ts";
import { serveMcp } from "../../serve/mcp.ts";
import { attachAgent } from "../attach/attach.ts";
import { claimStdout } from "../claim-stdout.ts";
import type { CliContext } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import { LiveConfig, onceEach } from "../live-config.ts";
import { findLoginPath, isSystemPath } from "../login-path.ts";
import type { ServeRequest } from "./command.ts";

const FOR_CLIENTS =
  "This command is for MCP clients: they start it and talk to it here. Press Ctrl-C to stop. " +
  "To see your servers yourself: plugboard";

export async function runServe(command: ServeRequest, context: CliContext): Promise<number> {
  const { search, session: sessionId } = command;
  const { io, logger, clock, signal, screen, options } = context;
  // `command.ts` has seen to the plain form of it.
  if (sessionId !== undefined) {
    const { env, stderr } = io;
    const stdin = io.stdin as Readable;
    const { runSessionProgram } = await import("./session-program.ts");
    return runSessionProgram(sessionId, { env, stdin, stdout: io.stdout as Writable, stderr });
  }
  refuseInsideBoard(io);
  const write = claimStdout(io.stdout, io.stderr);
  const input = io.stdin as Readable;
  if (io.stdin.isTTY) screen.note(FOR_CLIENTS);
  const ending = new AbortController();
  // A client that was started from a desktop. Elsewhere the shell would only cost time.
  const programPath = isSystemPath(io.env["PATH"])
    ? findLoginPath({ env: io.env, clock, logger, signal: ending.signal })
    : undefined;
  try {
    await using config = await LiveConfig.open(context);
    const agent = await config.readAgent();
    const stateDir = plugboardHome(io.env, io.homedir);
    const state = openFileState(stateDir, { clock, logger });
    const attachment = await attachAgent(agent, config.source, context, { programPath });
    const opened = await openClientBoard(agent, {
      ...(attachment && { open: attachment.open }),
      owner: options.owner,
      stateDir,
      state,
      cwd: io.cwd,
      env: io.env,
      programPath,
      restartHint: () => "to start it again, restart the application that uses Plugboard",
      serverLogLevel: options.logLevel === "silent" ? undefined : options.logLevel,
      clock,
      logger,
    });
    await using board = opened.board;
    loadCallPathSoon(logger);
    const { workspace, sessionServers, roots, about, keepsApps } = opened;
    const approvals = new WaitingApprovals({
      pending: state.pending,
      clock,
      logger,
      random: randomBytes,
      waitMs: (await config.readGateway()).settings.approvalWait,
    });
    // The one client has one session.
    const session =
      sessionServers.length > 0
        ? await board.openSession({
            cwd: workspace,
            rateLimit: false,
            // The client is answered at once; its first list waits for the servers.
            startupWait: 0,
            // Servers hear at once that there are roots; which ones, only the client knows.
            ...(roots === undefined && { roots: [] }),
          })
        : undefined;
    const tellLater = onceEach((names) =>
      logger.warn(`${names} will be started when this command is started again`),
    );
    config.follow({
      apply: async () => {
        const report = await opened.reload(await config.readAgent());
        const isNew = session === undefined && opened.sessionServers.length > 0;
        tellLater(isNew ? ['servers of scope "session"'] : []);
        return report;
      },
    });
    context.onHangup(() => config.reload());
    let client: string | undefined;
    await serveMcp(session ?? board, {
      input,
      output: { write },
      signal,
      clock,
      logger,
      about,
      keepsApps,
      ...(search && { search }),
      onClient({ name, version }) {
        const named = oneLine([name, version].filter(Boolean).join(" "), 100);
        client = named || "a client without a name";
        logger.info(`session begins: ${client}`, { visit: "session" });
      },
      onApproval: approvals.askFor(agent.agentId),
      onRoots: roots === false ? undefined : session && ((given) => session.setRoots(given)),
    });
    if (client !== undefined) logger.info(`session ends: ${client}`, { visit: "session" });
    approvals.close();
    return EXIT.ok;
  } finally {
    ending.abort();
    // A client that keeps the pipe open would otherwise keep the process alive.
    input.destroy();
  }
}

/** A board among the servers of a board would start itself again, and that one the next. Throws CONFIG_INVALID. */
function refuseInsideBoard({ env }: Pick<CliContext["io"], "env">): void {
  // Every process of a server has it.
  if (!env[COOKIE_VARIABLE]) return;
  throw new PlugboardError(
    "CONFIG_INVALID",
    "a server of Plugboard has started Plugboard again, and that would never end",
    {
      hint: `take plugboard out of the servers of its own configuration; where you do mean it, remove ${COOKIE_VARIABLE} from its environment`,
    },
  );
}
