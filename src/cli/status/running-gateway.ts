// `plugboard status` while a gateway runs for the same configuration: asks it, instead of starting every server again.

import { plugboardHome } from "../../core/config/home.ts";
import { objectIn, valueIn } from "../../core/types/json.ts";
import { PlugboardError } from "../../core/types/errors.ts";
import { gatewayFile, type RunningGateway } from "../../core/state/running-gateway.ts";
import { ask } from "../../serve/attach/command/ask.ts";
import { errorMessage } from "../../util/error-message.ts";
import { duration, oneLine, plural } from "../../util/text.ts";
import type { AttachedCommand, GatewayStatus } from "../../serve/gateway/monitoring/status.ts";
import { withLink } from "../attach/connect.ts";
import { runningGateway } from "../attach/find-channel.ts";
import type { CliContext } from "../context.ts";
import { findSource } from "../find-source.ts";
import { type Column, renderTable } from "../terminal/table.ts";
import type { OutputView } from "../terminal/terminal.ts";

/** What a gateway says about itself, and where it was asked. */
export interface AnsweringGateway extends GatewayStatus {
  url?: string;
  /** What one in the background writes to. */
  log?: string;
}

/** Undefined if none runs. If it cannot be asked, a note says why. */
export async function askGateway(
  context: CliContext,
): Promise<AnsweringGateway | "no answer" | undefined> {
  const { screen, options, io } = context;
  if (options.standalone) return undefined;
  const gateway = await runningGateway(findSource(context), context);
  if (gateway === undefined) return undefined;
  try {
    const status = await readStatus(gateway, context);
    const { url, background, config } = gateway;
    const log = gatewayFile(plugboardHome(io.env, io.homedir), config, "log");
    return { ...status, ...(url !== undefined && { url }), ...(background && { log }) };
  } catch (error) {
    const reason = oneLine(errorMessage(error), 200);
    screen.note(`plugboard: the gateway (pid ${gateway.pid}) did not answer: ${reason}`);
    screen.note("These are not its servers; they were started for this command:");
    return "no answer";
  }
}

/** Rejects if it does not answer, or not as this version does. */
export async function readStatus(
  gateway: RunningGateway,
  context: CliContext,
): Promise<GatewayStatus> {
  const answer = await withLink(gateway, context.commandName, context, (link) =>
    ask(link, "gateway/status", []),
  );
  return statusIn(answer);
}

/** What a gateway has answered. Throws if that is no status of this version. */
export function statusIn(answer: unknown): GatewayStatus {
  if (isStatus(answer)) return withErrors(answer);
  throw new PlugboardError("PROTOCOL", NOT_UNDERSTOOD);
}

export const NOT_UNDERSTOOD = "its answer is not understood";

function isStatus(value: unknown): value is GatewayStatus {
  const { pid, since, agents, clients, sessions, attached } = (value ??
    {}) as Partial<GatewayStatus>;
  return (
    typeof pid === "number" &&
    typeof since === "number" &&
    Array.isArray(agents) &&
    agents.every(hasServers) &&
    Array.isArray(clients?.list) &&
    Array.isArray(sessions?.list) &&
    Array.isArray(attached?.list)
  );
}

function hasServers(agent: unknown): boolean {
  const { servers } = objectIn(agent);
  const kinds = Array.isArray(servers) && servers.map((each) => valueIn(each, ["state", "kind"]));
  return kinds && kinds.every((kind) => typeof kind === "string");
}

/** An error of a server's state is an error again. */
function withErrors(status: GatewayStatus): GatewayStatus {
  for (const { servers } of status.agents) {
    for (const { state } of servers) {
      if (state.kind !== "backoff" && state.kind !== "failed") continue;
      const { code, message, hint } = state.error;
      state.error = new PlugboardError(code, message, hint === undefined ? {} : { hint });
    }
  }
  return status;
}

/** `The gateway runs at http://127.0.0.1:7584/mcp (pid 4711, for 2 h), with 3 clients, 2 sessions and 1 attached command.` */
export function gatewayLine(
  { url, log, pid, since, state, clients, sessions, attached }: AnsweringGateway,
  now: number,
): string {
  const where = url === undefined ? "runs in the background" : `runs at ${url}/mcp`;
  const what = state === "stopping" ? "is stopping" : where;
  const line = `The gateway ${what} (pid ${pid}, for ${duration(now - since)})`;
  const commands = plural(attached.total, "attached command");
  if (url === undefined) return `${line}, with ${commands}.${log ? ` Its log is ${log}` : ""}`;
  const counts = [plural(clients.present, "client"), plural(sessions.total, "session")];
  return `${line}, with ${counts.join(", ")} and ${commands}.`;
}

const ATTACHED_COLUMNS: readonly Column[] = [
  { title: "attached", min: 8 },
  { title: "pid", align: "right" },
  { title: "agent" },
  { title: "for", align: "right" },
  { title: "directory", min: 12 },
];

/** A row for each command that uses the gateway's servers, the latest first. */
export function attachedLines(
  { attached }: GatewayStatus,
  now: number,
  { width, paint }: OutputView,
): string[] {
  if (attached.list.length === 0) return [];
  const rows = attached.list.map(({ command, pid, agent = "", since, cwd }) => ({
    cells: [
      { text: command, tone: "bold" as const },
      String(pid),
      agent,
      duration(now - since),
      { text: cwd, tone: "dim" as const },
    ],
  }));
  return ["", ...renderTable(ATTACHED_COLUMNS, rows, { width, paint })];
}

/** `acp (pid 12), serve (pid 13) and 4 more` */
export function attachedNames({ total, list }: GatewayStatus["attached"]): string {
  const named = list.slice(0, MOST_NAMED).map(nameOf);
  const more = total - named.length;
  return `${named.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

function nameOf({ command, pid }: AttachedCommand): string {
  return `${command} (pid ${pid})`;
}

/** How many attached commands are named on one line. */
const MOST_NAMED = 5;

const CLIENT_COLUMNS: readonly Column[] = [
  { title: "client", min: 12 },
  { title: "caller", min: 8 },
  { title: "agent" },
  { title: "sessions", align: "right" },
  { title: "requests", align: "right" },
  { title: "last seen", align: "right" },
];

/** A row for each program that has used the gateway, the last one first. */
export function clientLines(
  { clients, sessions }: GatewayStatus,
  now: number,
  { width, paint }: OutputView,
): string[] {
  if (clients.list.length === 0) return [];
  const rows = clients.list.map(({ caller, agent, client, requests, lastSeen }) => {
    const { name, version } = client;
    const own = sessions.list.filter(
      (each) =>
        each.caller === caller &&
        each.agent === agent &&
        each.client.name === name &&
        each.client.version === version,
    );
    return {
      cells: [
        {
          text: [name ?? "without a name", version].filter(Boolean).join(" "),
          tone: "bold" as const,
        },
        caller,
        agent,
        own.length === 0 ? "" : String(own.length),
        String(requests),
        now - lastSeen < 1000 ? "now" : `${duration(now - lastSeen)} ago`,
      ],
    };
  });
  return ["", ...renderTable(CLIENT_COLUMNS, rows, { width, paint })];
}
