// A worker: the gateway that runs one server for all others, which reach it as an HTTP server with a token of its own. Rules,
// approval and limits apply where a call comes in, so a worker asks, counts and refuses nothing a second time.

import { resolveValue } from "../config/resolve.ts";
import { type AgentConfig, OWN_NAMES } from "../types/agent-config.ts";
import { PlugboardError } from "../types/errors.ts";
import type { GatewaySettings } from "../types/gateway-settings.ts";
import type { ServerDefinition, Worker } from "../types/server-definition.ts";
import type { SharedState } from "../types/shared-state.ts";
import { isBearerToken } from "../net/bearer.ts";
import { openFileState } from "../state/files/open.ts";
import { WorkerToken } from "../state/worker-token.ts";
import { AgentSecrets, type AgentSecretsOptions } from "./agent-secrets.ts";

const SHORTEST_TOKEN = 32;
/** One caller has a quarter of what the gateway takes, and a worker has one caller. */
const PARTS = 4;

export interface WorkerServer extends ServerDefinition {
  worker: Worker;
}

/** Throws CONFIG_INVALID if the agent has no such server, or nothing says where its worker is. */
export function workerServer({ servers, file }: AgentConfig, name: string): WorkerServer {
  const server = servers.find((each) => each.name === name);
  const where = file ?? "the configuration";
  if (server === undefined) {
    const known = servers.filter(isWorker).map((each) => each.name);
    const hint =
      known.length === 0
        ? 'a server with "worker": { "url", "token" } can be run by itself; docs/fleet.md says how'
        : `those that can be run by themselves: ${known.join(", ")}`;
    throw new PlugboardError("CONFIG_INVALID", `${where} has no server '${name}'`, { hint });
  }
  if (!isWorker(server)) {
    throw new PlugboardError(
      "CONFIG_INVALID",
      `the server '${name}' has no "worker", so no other gateway would reach it`,
      { hint: 'add "worker": { "url": "http://…/mcp", "token": "secret://…" } to its entry' },
    );
  }
  if (!server.enabled) {
    throw new PlugboardError("CONFIG_INVALID", `the server '${name}' is disabled`, {
      hint: 'remove "enabled": false from its entry',
    });
  }
  return server;
}

/** The programs of which every one of several gateways starts a process, although nobody has said that this is right. */
export function undecidedServers({ servers }: Pick<AgentConfig, "servers">): string[] {
  return servers.flatMap(({ name, enabled, target, scope, replicas }) =>
    enabled && target.kind === "stdio" && scope === undefined && replicas === undefined
      ? [name]
      : [],
  );
}

function isWorker(server: ServerDefinition): server is WorkerServer {
  return server.worker !== undefined;
}

/** The agent with this server alone, as a program, under its tools' own names and without a guard. */
export function workerAgent(agent: AgentConfig, name: string): AgentConfig {
  const { worker, ...server } = workerServer(agent, name);
  const { process, protocol } = worker;
  const { toolPrefix: _, include: __, authHeader: ___, guard: ____, sampling, ...kept } = server;
  const { secrets, workspace, networkAllow, networkProxy, networkInherit, roots, file } = agent;
  return {
    agentId: agent.agentId,
    servers: [
      {
        ...kept,
        target: process,
        protocol,
        // The gateway that gets the question decides whether the server may ask it.
        ...(sampling && { sampling: "allow" }),
      },
    ],
    toolNames: OWN_NAMES,
    hasToolNames: true,
    guard: { approval: "never", pins: "off" },
    warnings: agent.warnings,
    secrets,
    workspace,
    networkAllow,
    networkProxy,
    networkInherit,
    roots,
    file,
  };
}

/** What a worker listens with: it knows no people, no other tokens and no engines. */
export function workerSettings(
  settings: GatewaySettings,
  { target }: WorkerServer,
): GatewaySettings {
  const { publicUrl: _, jwt: __, ui: ___, shared: ____, tls, ...rest } = settings;
  const url = "url" in target && URL.canParse(target.url) ? new URL(target.url) : undefined;
  const isPlain = url?.protocol === "http:";
  return {
    ...rest,
    ...(tls && !isPlain && { tls }),
    // Whoever wrote a plain URL has allowed it there, or it is this machine.
    behindProxy: settings.behindProxy || isPlain,
    allowedHosts: [...settings.allowedHosts, ...(url === undefined ? [] : [url.host])],
    limits: {
      ...settings.limits,
      requestsPerMinute: false,
      bytesPerMinute: Number.MAX_SAFE_INTEGER,
      connections: settings.limits.connections * PARTS,
      sessions: settings.limits.sessions * PARTS,
    },
  };
}

export interface WorkerStateOptions extends AgentSecretsOptions {
  server: WorkerServer;
  stateDir: string;
}

/** In files, since nothing of it is shared. Rejects if the token cannot be resolved, or could not be a bearer token. */
export async function openWorkerState(options: WorkerStateOptions): Promise<SharedState> {
  const { server, stateDir, env, clock, logger } = options;
  const secrets = new AgentSecrets(options);
  const key = `mcpServers.${server.name}.worker.token`;
  try {
    const token = await resolveValue(server.worker.token, key, env, (needed) =>
      secrets.resolve(needed),
    );
    if (token.length < SHORTEST_TOKEN || !isBearerToken(token)) {
      throw new PlugboardError(
        "CONFIG_INVALID",
        `${key} is not a token; expected at least ${SHORTEST_TOKEN} characters of A-Z a-z 0-9 - . _ ~ + /`,
        { hint: "openssl rand -hex 32 makes one" },
      );
    }
    const state = openFileState(stateDir, { clock, logger });
    return { ...state, tokens: new WorkerToken(token, key) };
  } finally {
    await secrets.close();
  }
}
