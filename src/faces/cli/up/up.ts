// `plugboard up`: the gateway, until a signal stops it.

import { randomBytes, randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { openBoard } from "../../../board.ts";
import { declineUnattributed } from "../../../board/decline-unattributed.ts";
import type { GatewayConfig } from "../../../config/gateway.ts";
import { plugboardHome } from "../../../config/home.ts";
import { parseAgentConfig } from "../../../config/parse.ts";
import { McpEntry } from "../../../endpoint/http/entry.ts";
import { SESSION_MS, Sessions } from "../../../endpoint/http/sessions.ts";
import { ApprovalDesk } from "../../../endpoint/questions/approval-desk.ts";
import { Sealer } from "../../../endpoint/sealed.ts";
import { openSpans } from "../../../endpoint/trace.ts";
import { PlugboardError } from "../../../model/errors.ts";
import type { AgentConfig } from "../../../model/agent-config.ts";
import type { GatewaySettings } from "../../../model/gateway-settings.ts";
import type { SharedState } from "../../../model/shared-state.ts";
import { bindingProblem } from "../../../net/binding.ts";
import { withProxy } from "../../../net/proxy-env.ts";
import { openFileState } from "../../../state/files/open.ts";
import { tryLock } from "../../../state/lock.ts";
import { gatewayFile, noteGateway } from "../../../state/running-gateway.ts";
import { within } from "../../../util/clock.ts";
import { oneLine } from "../../../util/text.ts";
import { packageVersion } from "../../../util/version.ts";
import { Access, type Admission, type Refusal } from "../../gateway/access/access.ts";
import { type AgentBoard, GatewayAgents, type Visitor } from "../../gateway/agents.ts";
import { readTls } from "../../gateway/access/tls.ts";
import { Gateway, pathOf } from "../../gateway/gateway.ts";
import { Seeing } from "../../gateway/seeing/seeing.ts";
import type { CliContext } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import { findSource, loadAgent } from "../open.ts";
import { readAgent } from "../read-agent.ts";
import { readGateway } from "../read-gateway.ts";
import { aboutBoard, whyEmpty } from "../serve/about-board.ts";
import { CLIENT_TOOL_TIMEOUT, forClients, hasSessionServers } from "../serve/serve.ts";
import { needsTrust, requireTrust } from "../trust/require-trust.ts";
import type { UpCommand } from "./command.ts";
import { liveView } from "./live-view.ts";

/** How often the view on a terminal is drawn anew. */
const VIEW_MS = 1000;
/** How long sending the last spans may take. */
const FLUSH_MS = 2000;
/** How many characters of the agents' names are shown. */
const MOST_NAMES = 500;

export async function runUp(command: UpCommand, context: CliContext): Promise<number> {
  const { io, logger, clock, signal, screen, options } = context;
  /** Where every line is JSON, so are these. */
  const say = (line: string): void =>
    io.env["PLUGBOARD_LOG_FORMAT"] === "json"
      ? logger.info(line, { visit: "gateway" })
      : screen.note(line);
  const stateDir = plugboardHome(io.env, io.homedir);
  const source = findSource(context);
  const file = source.kind === "file" ? source.path : undefined;
  const isEmpty = whyEmpty(await readDefaultAgent(context), io);
  const config = await readGateway(context);
  const settings = withOptions(config.settings, command);
  const unlock = await tryLock(gatewayFile(stateDir, file, "lock"));
  if (unlock === undefined) throw alreadyRuns(file);
  /** What has to be undone at the end, the last first. */
  const undo: (() => Promise<void>)[] = [unlock];
  try {
    const state = openFileState(stateDir, { clock, logger });
    undo.push(() => state.close());
    const { tokens } = state;
    const onProblem = (message: string): void => logger.warn(message);
    const keys = await state.openSealKeys({ keepFor: SESSION_MS, onProblem });
    undo.push(async () => keys.close());
    await tokens.ensureDefault();
    const seeing = new Seeing({
      version: packageVersion(),
      pid: process.pid,
      ...(file !== undefined && { config: file }),
      agentIds: config.agentIds,
      clock,
      logger,
    });
    undo.push(async () => seeing.close());
    const sealer = new Sealer(keys, randomBytes);
    const sessions = new Sessions({
      sealer,
      store: state.sessions,
      newId: randomUUID,
      clock,
      idleMs: settings.idleTimeout,
      most: settings.limits.sessions,
      isGone: (caller) => caller.startsWith("token:") && !tokens.isValid(caller.slice(6)),
      onChange: (change, session) => seeing.session(change, session),
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
    const spans = await openSpans();
    undo.push(async () => within(clock, FLUSH_MS, Promise.resolve(spans?.flush())));
    const agents = new GatewayAgents({
      sealer,
      ...(spans && { spans }),
      newId: randomUUID,
      clock,
      logger,
      desk,
      idleMs: settings.idleTimeout,
      onSession: (id, board) => seeing.watchSession(id, board),
      open: async (id) => {
        const opened = await openAgent(id, config, state, context);
        if (opened !== undefined) seeing.watch(id, opened.board);
        return opened;
      },
    });
    undo.push(() => agents.close());
    const access = new Access({
      settings,
      tokens,
      limits: state.limits,
      clock,
      network: { allow: config.networkAllow ?? [], env: withProxy(io.env, config.networkProxy) },
      onProblem,
    });
    undo.push(() => access.close());
    const gateway = new Gateway({
      host: settings.host,
      port: settings.port,
      ...(settings.tls && { tls: await readTls(settings.tls, clock) }),
      maxHeaderBytes: settings.limits.headerBytes,
      maxConnections: settings.limits.connections,
      entry: new McpEntry({
        sessions,
        maxBodyBytes: settings.limits.bodyBytes,
        onRequest: ({ caller, agent }, client, isInSession) =>
          seeing.asked(caller, agent, client, isInSession),
      }),
      sessions,
      agents,
      defaultAgent: options.agent ?? "default",
      admit: (request, reply, agent) => admit(access, request, reply, agent, seeing),
      isWelcome: (request, reply) => isWelcome(access, request, reply, seeing),
      routes: seeing.routes,
      watcher: seeing,
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
    seeing.show(gateway, sessions);
    const address = await gateway.listen();
    undo.push(() => gateway.close());
    // Removed after the gateway has closed: while it stops, status must not take it for one that does not run.
    undo.splice(
      -1,
      0,
      await noteGateway(stateDir, {
        pid: process.pid,
        url: localUrl(address, settings),
        since: seeing.since,
        ...(file !== undefined && { config: file }),
        ...(settings.tls && { certificate: settings.tls.cert }),
      }),
    );
    const url = `${urlOf(address, settings)}/mcp`;
    const view = screen.live(liveView(seeing, url, context), { everyMs: VIEW_MS, isWhole: true });
    // It stays until everything has stopped.
    undo.unshift(async () => {
      view.stop();
      say("The gateway has stopped");
    });
    say(`The gateway listens on ${url}. The token is in ${tokens.defaultFile}`);
    const others = config.agentIds.slice(1);
    if (others.length > 0) {
      say(`Further agents, at /agents/<id>/mcp: ${oneLine(others.join(", "), MOST_NAMES)}`);
    }
    if (isEmpty !== undefined) logger.warn(isEmpty);
    await agents.find(options.agent ?? "default");
    await aborted(signal);
    desk.close();
    seeing.events.close();
    agents.endStreams();
    return EXIT.ok;
  } finally {
    // What cannot be undone must not keep the rest from it.
    for (const each of undo.toReversed()) {
      await each().catch((error: unknown) =>
        logger.error("stopping went wrong", { reason: String(error) }),
      );
    }
  }
}

/**
 * The agent that is served at /mcp. A person or a service starts the gateway, and both see an error: one that serves
 * nothing, because its file is not trusted or has no such agent, would only hide it.
 */
async function readDefaultAgent(context: CliContext): Promise<AgentConfig> {
  const source = findSource(context);
  const agent = await loadAgent(source, context, () => parseAgentConfig({ servers: {} }));
  if (source.kind === "file" && (await needsTrust(source, context.io))) {
    await requireTrust(source, agent, context);
  }
  return agent;
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
      showsApps: true,
      ...declineUnattributed(logger),
      serverLogLevel: options.logLevel === "silent" ? undefined : options.logLevel,
    },
  );
  const { roots } = agent;
  return {
    board,
    workspace,
    hasSessionServers: hasSessionServers(agent),
    roots,
    ...aboutBoard(agent, io),
  };
}

function admit(
  access: Access,
  request: IncomingMessage,
  reply: ServerResponse,
  agent: string | undefined,
  seeing: Seeing,
): Visitor | undefined | Promise<Visitor | undefined> {
  const decide = (admission: Admission): Visitor | undefined => {
    if (admission.isAdmitted) return admission;
    seeing.refused(request, admission, "caller");
    turnAway(reply, admission);
    return undefined;
  };
  const admission = access.admit(request, agent);
  return admission instanceof Promise ? admission.then(decide) : decide(admission);
}

function isWelcome(
  access: Access,
  request: IncomingMessage,
  reply: ServerResponse,
  seeing: Seeing,
): boolean {
  const refusal = access.check(request);
  if (refusal !== undefined) {
    seeing.refused(request, refusal, "source");
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

function urlOf(address: AddressInfo, { tls, publicUrl }: GatewaySettings): string {
  return publicUrl ?? addressUrl(address.address, address.port, tls !== undefined);
}

/** Where this machine reaches it: one that listens on every address does so on loopback too. */
function localUrl({ address, port }: AddressInfo, { tls }: GatewaySettings): string {
  const local = new Map([
    ["0.0.0.0", "127.0.0.1"],
    ["::", "::1"],
  ]).get(address);
  return addressUrl(local ?? address, port, tls !== undefined);
}

function addressUrl(address: string, port: number, isTls: boolean): string {
  const host = address.includes(":") ? `[${address}]` : address;
  return `${isTls ? "https" : "http"}://${host}:${port}`;
}

function alreadyRuns(file: string | undefined): PlugboardError {
  const which = file === undefined ? "" : ` for ${file}`;
  return new PlugboardError("SYSTEM_ERROR", `a gateway${which} is already running`, {
    hint: "stop it first; to see it: plugboard status",
  });
}
