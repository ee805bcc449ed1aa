// A gateway over real sockets with the boards of a test. Headers say who calls and with which policy, in place of
// tokens. Everything is closed at the end of each test.

import { randomBytes, randomUUID } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { tmpdir } from "node:os";
import { onTestFinished } from "vitest";
import { openBoard } from "../../../src/core/board/board.ts";
import type { BoardConfig } from "../../../src/core/types/agent-config.ts";
import { parseAgentConfig } from "../../../src/core/config/parse.ts";
import { McpEntry } from "../../../src/serve/endpoint/http/entry.ts";
import { Sessions } from "../../../src/serve/endpoint/http/sessions.ts";
import { WaitingApprovals } from "../../../src/serve/endpoint/questions/waiting-approvals.ts";
import type { AdmittedCaller } from "../../../src/serve/gateway/access/admission.ts";
import { GatewayAgents } from "../../../src/serve/gateway/agents.ts";
import { Gateway, LAST_REQUEST_MS } from "../../../src/serve/gateway/gateway.ts";
import type { BoardOptions } from "../../../src/core/types/board-options.ts";
import type { Board } from "../../../src/core/types/board.ts";
import type { TokenPolicy } from "../../../src/core/types/caller.ts";
import { isPerUser } from "../../../src/core/types/server-definition.ts";
import { silentLogger } from "../../../src/core/types/logger.ts";
import { PendingApprovalFiles } from "../../../src/core/state/files/pending-approval-files.ts";
import { type Clock, systemClock } from "../../../src/util/clock.ts";
import { type Kept, newKept } from "../endpoint/harness.ts";
import { MovableClock } from "../../support/movable-clock.ts";
import { expectNoProcesses } from "../../support/processes.ts";

export interface Rig {
  url: URL;
  board: Board;
  sessions: Sessions;
  agents: GatewayAgents;
  gateway: Pick<Gateway, "traffic" | "leave" | "close">;
  close(): Promise<void>;
}

export interface RigOptions {
  kept?: Kept;
  port?: number;
  clock?: Clock;
  idleMs?: number;
  /** With it, calls wait for answers from there. */
  stateDir?: string;
  waitMs?: number;
  board?: BoardOptions;
  isGone?: (caller: string) => boolean;
  maxConnections?: number;
  behindProxy?: boolean;
  /** How long it takes to find out who somebody is, as with a JWT whose issuer is asked. */
  verified?: () => Promise<void>;
  sessionServers?: number;
  people?: number;
  /** The time of the gateway itself, for what it looks at every second. */
  gatewayClock?: Clock;
  onRefusedConnection?: (kind: string) => void;
}

export const workspace = tmpdir();

export async function openGateway(config: BoardConfig, options: RigOptions = {}): Promise<Rig> {
  const { kept = newKept(), port = 0, clock = systemClock, idleMs = 60_000, stateDir } = options;
  const { waitMs = 60_000 } = options;
  const agent = parseAgentConfig(config);
  const board = await openBoard(agent, {
    owner: true,
    onlyInSessions: true,
    workspaceDir: workspace,
    stateDir,
    ...options.board,
  });
  const common = { sealer: kept.sealer, newId: randomUUID, clock, logger: silentLogger };
  const sessions = new Sessions({
    ...common,
    store: kept.store,
    idleMs,
    most: 1000,
    isGone: options.isGone,
  });
  const approvals =
    stateDir === undefined
      ? undefined
      : new WaitingApprovals({
          ...common,
          pending: new PendingApprovalFiles(stateDir, clock),
          random: randomBytes,
          waitMs,
        });
  const sessionServers = agent.servers.flatMap(({ name, scope }) =>
    scope === "session" ? [name] : [],
  );
  const agents = new GatewayAgents({
    ...common,
    approvals,
    idleMs,
    sessionServers: options.sessionServers ?? 200,
    people: options.people ?? 200,
    signInUrl: (id, server) => `https://gateway.example.com/sign-in/${id}/${server}`,
    open: async (id) =>
      id === "default"
        ? {
            board,
            workspace,
            sessionServers,
            userServers: agent.servers.flatMap((each) => (isPerUser(each) ? [each.name] : [])),
            exchangedServers: [],
            reached: () => new Set(),
            roots: agent.roots,
            about: () => undefined,
            keepsApps: () => false,
            reload: (next) => board.reload(next),
          }
        : undefined,
  });
  // A test that sets the time does not set how long the gateway takes to stop.
  const stopClock = new MovableClock();
  const { gatewayClock = stopClock } = options;
  const gateway = new Gateway({
    watcher: {
      answered: () => {},
      refusedConnection: (kind) => options.onRefusedConnection?.(kind),
    },
    host: "127.0.0.1",
    port,
    maxHeaderBytes: 64_000,
    maxConnections: options.maxConnections ?? 1000,
    behindProxy: options.behindProxy ?? false,
    entry: new McpEntry({ sessions, maxBodyBytes: 4_000_000 }),
    sessions,
    agents,
    defaultAgent: "default",
    checkSource: () => true,
    admit: async ({ headers }) => {
      await options.verified?.();
      return admittedIn(headers);
    },
    isGone: options.isGone,
    clock: gatewayClock,
    logger: silentLogger,
  });
  const address = await gateway.listen();
  let closing: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    approvals?.close();
    agents.endStreams();
    const closed = gateway.close();
    // No client of a test is just about to send something.
    stopClock.forward(LAST_REQUEST_MS);
    await closed;
    await agents.close();
    await board.close();
  };
  const closeOnce = (): Promise<void> => (closing ??= close());
  onTestFinished(async () => {
    await closeOnce();
    expectNoProcesses();
  });
  const url = new URL(`http://127.0.0.1:${address.port}/mcp`);
  return { url, board, sessions, agents, gateway, close: closeOnce };
}

/** `x-caller: default` is the token that the gateway makes for itself. `x-expires` says when a JWT would end. */
function admittedIn(headers: IncomingHttpHeaders): AdmittedCaller {
  const { "x-caller": caller, "x-policy": policy, "x-expires": expires } = headers;
  const label = typeof caller === "string" ? caller : "default";
  return {
    caller: { id: `token:${label}`, label },
    ...(typeof expires === "string" && { expiresAt: Number(expires) }),
    ...(typeof policy === "string" && { policy: JSON.parse(policy) as TokenPolicy }),
  };
}
