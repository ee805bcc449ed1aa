// `plugboard up`: the gateway, until a signal stops it.

import { createHash, randomBytes, randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { openBoard } from "../../../board.ts";
import { declineUnattributed } from "../../../board/decline-unattributed.ts";
import type { GatewayConfig } from "../../../config/gateway.ts";
import { plugboardHome } from "../../../config/home.ts";
import { McpEntry } from "../../../endpoint/http/entry.ts";
import { SESSION_MS, Sessions } from "../../../endpoint/http/sessions.ts";
import { ApprovalDesk } from "../../../endpoint/questions/approval-desk.ts";
import { Sealer } from "../../../endpoint/sealed.ts";
import { PlugboardError } from "../../../model/errors.ts";
import type { GatewaySettings } from "../../../model/gateway-settings.ts";
import type { SharedState } from "../../../model/shared-state.ts";
import { bindingProblem } from "../../../net/binding.ts";
import { withProxy } from "../../../net/proxy-env.ts";
import { openFileState } from "../../../state/files/open.ts";
import { tryLock } from "../../../state/lock.ts";
import { Access, type Admission, type Refusal } from "../../gateway/access/access.ts";
import { type AgentBoard, GatewayAgents, type Visitor } from "../../gateway/agents.ts";
import { readTls } from "../../gateway/access/tls.ts";
import { Gateway, pathOf } from "../../gateway/gateway.ts";
import type { CliContext } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import { findSource } from "../open.ts";
import { readAgent } from "../read-agent.ts";
import { readGateway } from "../read-gateway.ts";
import { CLIENT_TOOL_TIMEOUT, forClients, hasSessionServers } from "../serve/serve.ts";
import type { UpCommand } from "./command.ts";

export async function runUp(command: UpCommand, context: CliContext): Promise<number> {
  const { io, logger, clock, signal, screen, options } = context;
  const stateDir = plugboardHome(io.env, io.homedir);
  const source = findSource(context);
  const config = await readGateway(context);
  const settings = withOptions(config.settings, command);
  const unlock = await tryLock(join(stateDir, "gateway", `${lockName(source)}.lock`));
  if (unlock === undefined) throw alreadyRuns(source);
  const state = openFileState(stateDir, { clock, logger });
  const { tokens } = state;
  const onProblem = (message: string): void => logger.warn(message);
  const keys = await state.openSealKeys({ keepFor: SESSION_MS, onProblem });
  try {
    await tokens.ensureDefault();
    const sealer = new Sealer(keys, randomBytes);
    const sessions = new Sessions({
      sealer,
      store: state.sessions,
      newId: randomUUID,
      clock,
      idleMs: settings.idleTimeout,
      most: settings.limits.sessions,
      isGone: (caller) => caller.startsWith("token:") && !tokens.isValid(caller.slice(6)),
    });
    const { pending } = state;
    // Removes what a gateway that was killed has left.
    await pending.list();
    const desk = new ApprovalDesk({
      pending,
      clock,
      logger,
      random: randomBytes,
      waitMs: settings.approvalWait,
    });
    const agents = new GatewayAgents({
      sealer,
      newId: randomUUID,
      clock,
      logger,
      desk,
      idleMs: settings.idleTimeout,
      open: (id) => openAgent(id, config, state, context),
    });
    const access = new Access({
      settings,
      tokens,
      limits: state.limits,
      clock,
      network: { allow: config.networkAllow ?? [], env: withProxy(io.env, config.networkProxy) },
      onProblem,
    });
    const gateway = new Gateway({
      host: settings.host,
      port: settings.port,
      ...(settings.tls && { tls: await readTls(settings.tls, clock) }),
      maxHeaderBytes: settings.limits.headerBytes,
      maxConnections: settings.limits.connections,
      entry: new McpEntry({ sessions, maxBodyBytes: settings.limits.bodyBytes }),
      sessions,
      agents,
      defaultAgent: options.agent ?? "default",
      admit: (request, reply, agent) => admit(access, request, reply, agent),
      isWelcome: (request, reply) => isWelcome(access, request, reply),
      openRoutes: new Map([
        [
          "/.well-known/oauth-protected-resource/",
          (request, reply) =>
            showMetadata(access.metadata(pathOf(request), config.agentIds), reply),
        ],
      ]),
      clock,
      logger,
    });
    const address = await gateway.listen();
    const opening = agents.find(options.agent ?? "default");
    screen.note(
      `The gateway listens on ${urlOf(address, settings)}/mcp. The token is in ${tokens.defaultFile}`,
    );
    await opening;
    await aborted(signal);
    desk.close();
    agents.endStreams();
    await gateway.close();
    await access.close();
    await agents.close();
    return EXIT.ok;
  } finally {
    await state.close();
    keys.close();
    await unlock();
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

function withOptions(settings: GatewaySettings, { host, port }: UpCommand): GatewaySettings {
  const chosen = { ...settings, ...(host && { host }), ...(port !== undefined && { port }) };
  const problem = bindingProblem(chosen);
  if (problem === undefined) return chosen;
  throw new PlugboardError("CONFIG_INVALID", `the host ${chosen.host} ${problem}`);
}

async function openAgent(
  id: string,
  { agentIds }: GatewayConfig,
  state: SharedState,
  context: CliContext,
): Promise<AgentBoard | undefined> {
  if (!agentIds.includes(id)) return undefined;
  const { io, logger, clock, options } = context;
  const agent = forClients(await readAgent({ ...context, options: { ...options, agent: id } }));
  const workspace = agent.workspace ?? io.cwd;
  const board = await openBoard(
    { ...agent, startupWait: 0 },
    {
      start: "eager",
      env: io.env,
      clock,
      logger,
      stateDir: plugboardHome(io.env, io.homedir),
      state,
      workspaceDir: workspace,
      // Callers who are not the owner get a board of their own.
      owner: true,
      onlyInSessions: true,
      defaultToolTimeout: CLIENT_TOOL_TIMEOUT,
      ...declineUnattributed(logger),
      serverLogLevel: options.logLevel === "silent" ? undefined : options.logLevel,
    },
  );
  const { roots } = agent;
  return { board, workspace, hasSessionServers: hasSessionServers(agent), roots };
}

function admit(
  access: Access,
  request: IncomingMessage,
  reply: ServerResponse,
  agent: string | undefined,
): Visitor | undefined | Promise<Visitor | undefined> {
  const decide = (admission: Admission): Visitor | undefined => {
    if (admission.isAdmitted) return admission;
    turnAway(reply, admission);
    return undefined;
  };
  const admission = access.admit(request, agent);
  return admission instanceof Promise ? admission.then(decide) : decide(admission);
}

function isWelcome(access: Access, request: IncomingMessage, reply: ServerResponse): boolean {
  const refusal = access.check(request);
  if (refusal !== undefined) {
    turnAway(reply, refusal);
    return false;
  }
  const headers = access.cors(request);
  for (const [name, value] of Object.entries(headers ?? {})) reply.setHeader(name, value);
  if (headers === undefined || request.method !== "OPTIONS") return true;
  reply.writeHead(204).end();
  return false;
}

/** RFC 9728: where a client signs in for an endpoint. */
function showMetadata(document: object | undefined, reply: ServerResponse): void {
  if (document === undefined) return void reply.writeHead(404).end();
  reply.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify(document));
}

function turnAway(reply: ServerResponse, { status, headers, message }: Refusal): void {
  const error = { code: -32_000, message };
  const body = JSON.stringify({ jsonrpc: "2.0", id: null, error });
  reply.writeHead(status, { ...headers, "Content-Type": "application/json" }).end(body);
}

function urlOf(
  { address, port, family }: AddressInfo,
  { tls, publicUrl }: GatewaySettings,
): string {
  if (publicUrl !== undefined) return publicUrl;
  const host = family === "IPv6" ? `[${address}]` : address;
  return `${tls === undefined ? "http" : "https"}://${host}:${port}`;
}

/** One for each configuration: two gateways would each start its servers. */
function lockName(source: ReturnType<typeof findSource>): string {
  const what = source.kind === "file" ? source.path : "none";
  return createHash("sha256").update(what).digest("hex").slice(0, 16);
}

function alreadyRuns(source: ReturnType<typeof findSource>): PlugboardError {
  const which = source.kind === "file" ? ` for ${source.path}` : "";
  return new PlugboardError("SYSTEM_ERROR", `a gateway${which} is already running`, {
    hint: "stop it first; to see it: plugboard status",
  });
}
