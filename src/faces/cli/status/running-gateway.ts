// `plugboard status` while a gateway runs for the same configuration: asks it, instead of starting every server again.

import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { request as httpRequest } from "node:http";
import { request as httpsRequest, type RequestOptions } from "node:https";
import { plugboardHome } from "../../../config/home.ts";
import { PlugboardError } from "../../../model/errors.ts";
import { TokenFiles } from "../../../state/files/token-files.ts";
import type { RunningGateway } from "../../../state/running-gateway.ts";
import { hasErrorCode } from "../../../util/error-code.ts";
import { errorMessage } from "../../../util/error-message.ts";
import { byteSize, duration, oneLine, plural } from "../../../util/text.ts";
import type { GatewayStatus } from "../../gateway/seeing/status.ts";
import { runningGateway } from "../attach/find-channel.ts";
import type { CliContext } from "../context.ts";
import { findSource } from "../open.ts";
import { type Column, renderTable } from "../terminal/table.ts";
import type { OutputView } from "../terminal/terminal.ts";

const PATIENCE_MS = 5000;
const MOST_BYTES = 64 * 1024 * 1024;

/** What a gateway says about itself, and where it was asked. */
export interface AnsweringGateway extends GatewayStatus {
  url?: string;
}

/** Undefined if none runs, or if it cannot be asked; then a note says why. */
export async function askGateway(context: CliContext): Promise<AnsweringGateway | undefined> {
  const { io, clock, screen } = context;
  const stateDir = plugboardHome(io.env, io.homedir);
  const gateway = await runningGateway(findSource(context), context);
  if (gateway?.url === undefined) return undefined;
  try {
    const tokens = new TokenFiles({ stateDir, clock, random: randomBytes });
    const token = (await readFile(tokens.defaultFile, "utf8")).trim();
    const status = await readStatus(gateway, token, context.signal);
    if (isStatus(status)) return { ...status, url: gateway.url };
    throw new Error("its answer is not understood; it may be another version");
  } catch (error) {
    const reason = hasErrorCode(error, "ECONNREFUSED")
      ? `nothing listens on ${gateway.url} any more, so it may be stopping`
      : oneLine(errorMessage(error), 200);
    screen.note(`plugboard: the gateway (pid ${gateway.pid}) could not be asked: ${reason}`);
    screen.note("These are not its servers; they were started for this command:");
    return undefined;
  }
}

async function readStatus(
  { url = "", certificate }: RunningGateway,
  token: string,
  signal: AbortSignal,
): Promise<unknown> {
  const tls: RequestOptions =
    certificate === undefined
      ? {}
      : {
          ca: await readFile(certificate),
          // Only this very certificate is trusted, so its issuer and the name in it need no check.
          allowPartialTrustChain: true,
          checkServerIdentity: () => undefined,
        };
  const send = url.startsWith("https:") ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const request = send(`${url}/api/status`, {
      ...tls,
      // A connection in a pool would keep the command from ending.
      agent: false,
      headers: { Authorization: `Bearer ${token}` },
      signal: AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)]),
    });
    request.once("error", reject);
    request.once("response", (response) => {
      const chunks: Buffer[] = [];
      let size = 0;
      response.on("data", (chunk: Buffer) => {
        size += chunk.length;
        chunks.push(chunk);
        if (size > MOST_BYTES) {
          response.destroy(new Error(`its answer is larger than ${byteSize(MOST_BYTES)}`));
        }
      });
      response.once("error", reject);
      response.once("end", () => {
        const text = Buffer.concat(chunks).toString();
        if (response.statusCode !== 200) {
          return reject(new Error(`it answered with status ${response.statusCode}`));
        }
        try {
          resolve(withErrors(JSON.parse(text)));
        } catch (error) {
          reject(error);
        }
      });
    });
    request.end();
  });
}

function isStatus(value: unknown): value is GatewayStatus {
  const { pid, since, agents, clients, sessions } = (value ?? {}) as Partial<GatewayStatus>;
  return (
    typeof pid === "number" &&
    typeof since === "number" &&
    Array.isArray(agents) &&
    Array.isArray(clients?.list) &&
    Array.isArray(sessions?.list)
  );
}

/** An error of a server's state is an error again. */
function withErrors(value: unknown): unknown {
  for (const { servers = [] } of (value as Partial<GatewayStatus>).agents ?? []) {
    for (const { state } of servers) {
      if (state.kind !== "backoff" && state.kind !== "failed") continue;
      const { code, message, hint } = state.error;
      state.error = new PlugboardError(code, message, hint === undefined ? {} : { hint });
    }
  }
  return value;
}

/** `The gateway runs at http://127.0.0.1:7584/mcp (pid 4711, for 2 h), with 3 clients and 2 sessions.` */
export function gatewayLine(
  { url, pid, since, state, clients, sessions }: AnsweringGateway,
  now: number,
): string {
  const where = url === undefined ? "runs" : `runs at ${url}/mcp`;
  const what = state === "stopping" ? "is stopping" : where;
  return (
    `The gateway ${what} (pid ${pid}, for ${duration(now - since)}), with ` +
    `${plural(clients.present, "client")} and ${plural(sessions.total, "session")}.`
  );
}

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
