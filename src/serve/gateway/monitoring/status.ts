// `/api/status`: the gateway, its agents and their servers, and who uses them, as JSON. It holds no token and no
// session id, so a reader cannot act as one of the clients.

import type { PlanSummary } from "../../../core/board/prompt-plan.ts";
import type { Session } from "../../endpoint/http/sessions.ts";
import { stateToJson } from "../../../core/types/server-state.ts";
import type { ServerStatus } from "../../../core/types/server-status.ts";
import type { Clock } from "../../../util/clock.ts";
import type { ClientName, SeenClient } from "./clients.ts";

/** How many clients and sessions are listed: those that asked last. */
const MOST_LISTED = 200;

export interface GatewayStatus {
  version: string;
  pid: number;
  /** Milliseconds since the epoch. */
  since: number;
  /** The configuration file, if there is one. */
  config?: string;
  state: "serving" | "stopping";
  agents: AgentStatus[];
  /** An edit of the configuration that is not applied, and why. */
  unappliedEdit?: UnappliedEdit;
  /** How many there are, and the last of them. */
  clients: { total: number; present: number; list: SeenClient[] };
  sessions: { total: number; list: SessionStatus[] };
  /** Commands of this user that use the gateway's servers, the latest first. */
  attached: { total: number; list: AttachedCommand[] };
  /** Where several gateways share a state. */
  fleet?: FleetStatus;
}

export interface FleetStatus {
  replicas: { name: string; url?: string; configuration?: string; isOwn?: true }[];
  /** What is wrong with them together, in sentences. */
  problems: string[];
}

export interface UnappliedEdit {
  /** `waiting`: it changes what is started, and nobody has approved that. */
  kind: "invalid" | "waiting";
  message: string;
}

export interface AttachedCommand {
  /** `call`, `acp`, `serve` */
  command: string;
  pid: number;
  cwd: string;
  agent?: string;
  /** Milliseconds since the epoch. */
  since: number;
  /** Those that it made on the gateway's boards. Half of them took `p50` milliseconds at most, 95 % took `p95`. */
  calls: { total: number; failed: number; p50?: number; p95?: number };
}

interface AgentStatus {
  id: string;
  /** An agent's servers start when somebody asks for the agent for the first time. */
  isOpen: boolean;
  /** The state's `error`, if it has one, is an object with `code`, `message` and `hint`. */
  servers: ServerStatus[];
  /** How a model gets the agent's tools. Absent if the agent is not open. */
  toolSearch?: PlanSummary;
}

interface SessionStatus {
  caller: string;
  agent: string;
  client: ClientName;
  protocolVersion: string;
  lastSeen: number;
  /** Requests that are being answered. */
  inFlight: number;
  /** Whether the client listens for changes. */
  listens: boolean;
}

export interface StatusSources extends Omit<
  GatewayStatus,
  "agents" | "clients" | "sessions" | "attached" | "state"
> {
  isReady: boolean;
  agents: readonly {
    id: string;
    servers: readonly ServerStatus[] | undefined;
    toolSearch: PlanSummary | undefined;
  }[];
  clients: readonly SeenClient[];
  present: number;
  sessions: readonly Session[];
  attached: readonly AttachedCommand[];
}

export function gatewayStatus(sources: StatusSources, clock: Clock): GatewayStatus {
  const { version, pid, since, config, isReady, agents, clients, present, sessions } = sources;
  const { attached } = sources;
  return {
    version,
    pid,
    since,
    config,
    unappliedEdit: sources.unappliedEdit,
    state: isReady ? "serving" : "stopping",
    agents: agents.map(({ id, servers, toolSearch }) => ({
      id,
      isOpen: servers !== undefined,
      servers: (servers ?? []).map(serverJson),
      toolSearch,
    })),
    clients: { total: clients.length, present, list: clients.slice(0, MOST_LISTED) },
    sessions: {
      total: sessions.length,
      list: sessions
        .toSorted((a, b) => b.lastUsed - a.lastUsed)
        .slice(0, MOST_LISTED)
        .map((session) => sessionJson(session, clock)),
    },
    attached: { total: attached.length, list: attached.toReversed().slice(0, MOST_LISTED) },
    ...(sources.fleet && { fleet: sources.fleet }),
  };
}

function serverJson(status: ServerStatus): ServerStatus {
  return { ...status, state: stateToJson(status.state) as ServerStatus["state"] };
}

function sessionJson({ client, agent, lastUsed, stream }: Session, clock: Clock): SessionStatus {
  const { info = {}, protocolVersion } = client.profile;
  return {
    caller: client.caller.label,
    agent,
    client: info,
    protocolVersion,
    lastSeen: Math.round(clock.now() - (clock.monotonic() - lastUsed)),
    inFlight: client.busy,
    listens: stream !== undefined && !stream.isOver,
  };
}
