// Puts a gateway together and starts it: what it keeps on disk, its agents, who may use it, and what an operator sees.
// Read this file first.

import { createHash, randomBytes, randomUUID } from "node:crypto";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname } from "node:path";
import { newChannelAddress } from "../../channel/address.ts";
import { type ChannelHost, type ServedChannel, serveChannel } from "../../channel/serve-channel.ts";
import type { Fingerprint } from "../../config/fingerprint.ts";
import { placeOf } from "../../config/find.ts";
import { type ClientBoardOptions, openClientBoard } from "../../endpoint/client-board.ts";
import { McpEntry } from "../../endpoint/http/entry.ts";
import { SESSION_MS, Sessions } from "../../endpoint/http/sessions.ts";
import { WaitingApprovals } from "../../endpoint/questions/waiting-approvals.ts";
import { Sealer } from "../../endpoint/sealed.ts";
import { openSpans } from "../../endpoint/trace.ts";
import type { AgentConfig } from "../../model/agent-config.ts";
import type { ReloadReport } from "../../model/board.ts";
import { PlugboardError } from "../../model/errors.ts";
import type { GatewaySettings } from "../../model/gateway-settings.ts";
import type { SharedState } from "../../model/shared-state.ts";
import { openFileState } from "../../state/files/open.ts";
import { tryLock } from "../../state/lock.ts";
import { gatewayFile, noteGateway } from "../../state/running-gateway.ts";
import { type Clock, pause, within } from "../../util/clock.ts";
import { duration, plural } from "../../util/text.ts";
import { packageVersion } from "../../util/version.ts";
import { Access, type AccessOptions } from "./access/access.ts";
import { readTls } from "./access/tls.ts";
import { admitRequests } from "./admit.ts";
import { GatewayAgents } from "./agents.ts";
import { DRAIN_MS, Gateway } from "./gateway.ts";
import { Seeing } from "./seeing/seeing.ts";

/** How long sending the last spans may take. */
const FLUSH_MS = 2000;
/** How often a gateway that stops looks whether attached commands still wait for something. */
const LOOK_MS = 20;

const NEVER = new AbortController().signal;

export interface OpenGatewayOptions extends Omit<ClientBoardOptions, "state"> {
  settings: GatewaySettings;
  agentIds: readonly string[];
  /** Reads the configuration of one of `agentIds`. */
  readAgent: (id: string) => Promise<AgentConfig>;
  /** The agent behind `/mcp`. Its servers start with the gateway; those of other agents with their first request. */
  defaultAgent: string;
  /** The configuration file, if there is one. Only one gateway runs for a file. */
  configFile?: string;
  /** Says what the gateway was started with, for its note. Without it, other commands do not attach. */
  fingerprint?: (applied?: string) => Promise<Fingerprint | undefined>;
  /** Somebody who may has asked the gateway to stop: close it. */
  onStop?: () => void;
  /** Somebody who may has asked the gateway to read its configuration again. */
  onReload?: () => Promise<ReloadReport>;
  /** False: no port is opened, and only commands of this machine's user reach it. Default true. */
  http?: boolean;
  /** A command started it. */
  background?: boolean;
  /** Somebody uses one of its boards over the channel. Returns what is called when they no longer do. */
  onAttached?: () => () => void;
  network: AccessOptions["network"];
  clock: Clock;
}

export interface OpenedGateway {
  /** How clients reach it, unless it was opened without HTTP. */
  http?: {
    /** Where clients reach the default agent. */
    url: string;
    /** The file with the token of the owner. */
    tokenFile: string;
  };
  seeing: Seeing;
  /**
   * Applies what `readAgent` reads by now to the boards that are open. These are the agents from now on; one that is no
   * longer among them is closed. Servers of agents other than the default one are reported as `agent/server`.
   */
  reload(agentIds: readonly string[]): Promise<ReloadReport>;
  /**
   * Notes what the gateway runs with now, for commands that want to attach. To be called after each reload, with the
   * hash of the file that was applied.
   */
  renote(applied?: string): Promise<void>;
  /** Lets calls in flight finish, then stops every server. */
  close(): Promise<void>;
}

/** Resolves when the gateway listens. Rejects with a PlugboardError if it cannot, and leaves nothing behind. */
export async function openGateway(options: OpenGatewayOptions): Promise<OpenedGateway> {
  const { settings, readAgent, defaultAgent, configFile } = options;
  /** Replaced in place: whoever has the list sees the agents of the configuration as it is now. */
  const agentIds = [...options.agentIds];
  const { stateDir, clock, logger } = options;
  const config = configFile === undefined ? undefined : placeOf(configFile);
  const noteFile = gatewayFile(stateDir, config, "json");
  const unlock = await tryLock(gatewayFile(stateDir, config, "lock"));
  if (unlock === undefined) throw alreadyRuns(configFile);
  /** What has to be undone at the end, the last first. */
  const undo: (() => Promise<void>)[] = [unlock];
  let closing: Promise<void> | undefined;
  const undoAll = async (): Promise<void> => {
    // One step that fails must not keep the others from running.
    for (const step of undo.toReversed()) {
      await step().catch((error: unknown) =>
        logger.error("stopping went wrong", { reason: String(error) }),
      );
    }
  };
  try {
    const onProblem = (message: string): void => logger.warn(message);
    const state = openFileState(stateDir, { clock, logger });
    undo.push(() => state.close());
    const keys = await state.openSealKeys({ keepFor: SESSION_MS, onProblem });
    undo.push(async () => keys.close());
    const seeing = new Seeing({
      version: packageVersion(),
      pid: process.pid,
      ...(configFile !== undefined && { config: configFile }),
      agentIds,
      clock,
      logger,
    });
    undo.push(async () => seeing.close());
    const sealer = new Sealer(keys, randomBytes);
    // Removes what a gateway that was killed has left.
    await state.pending.list();
    const approvals = new WaitingApprovals({
      pending: state.pending,
      clock,
      logger,
      random: randomBytes,
      waitMs: settings.approvalWait,
    });
    const spans = await openSpans();
    undo.push(async () => within(clock, FLUSH_MS, Promise.resolve(spans?.flush())));
    const unwatch = new Map<string, () => void>();
    const agents = new GatewayAgents({
      sealer,
      ...(spans && { spans }),
      newId: randomUUID,
      clock,
      logger,
      approvals,
      idleMs: settings.sessionTimeout,
      onSession: (id, board) => seeing.watchSession(id, board),
      open: async (id) => {
        if (!agentIds.includes(id)) return undefined;
        const opened = await openClientBoard(await readAgent(id), { ...options, state });
        unwatch.set(id, seeing.watch(id, opened.board));
        return opened;
      },
    });
    undo.push(() => agents.close());
    let removeNote: (() => Promise<void>) | undefined;
    let noting: Promise<void> | undefined;
    undo.push(async () => {
      // A note that is written while the gateway stops would stay behind.
      await noting?.catch(() => {});
      await removeNote?.();
    });
    const listening: { http?: ListeningHttp; channel?: ServedChannel } = {};
    // Before its note is removed: while it stops, status must not take it for one that does not run.
    undo.push(async () => {
      const { http, channel } = listening;
      channel?.drain();
      await Promise.all([http?.gateway.close(), channel && drained(channel, options)]);
      await channel?.close();
    });
    if (options.http !== false) {
      listening.http = await openHttp(
        { ...options, agentIds },
        { state, seeing, sealer, agents, undo },
      );
    }
    const { http } = listening;
    const address = newChannelAddress({
      directory: dirname(noteFile),
      // A directory for all homes of the user is used where the home's path is too long.
      name: createHash("sha256").update(noteFile).digest("hex").slice(0, 16),
      platform: process.platform,
      tmpdir: tmpdir(),
      uid: process.getuid?.(),
    });
    const host: ChannelHost = {
      boardOf: async (id) => (await agents.find(id))?.board,
      reload: async () => {
        const reloaded = options.onReload?.();
        if (reloaded !== undefined) return reloaded;
        throw new PlugboardError("UNSUPPORTED", "this gateway cannot be reloaded");
      },
      stop: () => options.onStop?.(),
      status: () => seeing.status(),
      attached: (face) => {
        const gone = [seeing.attached(face), options.onAttached?.()];
        return () => gone.forEach((each) => each?.());
      },
    };
    const channel = await serveChannel({ ...address, host, clock, logger });
    listening.channel = channel;
    seeing.show({
      isReady: () => closing === undefined,
      inFlight: () => (http?.gateway.inFlight ?? 0) + channel.inFlight,
      ...(http && { traffic: () => http.gateway.traffic, sessions: http.sessions }),
    });
    const note = async (applied?: string): Promise<void> => {
      const fingerprint = await options.fingerprint?.(applied);
      removeNote = await noteGateway(stateDir, {
        pid: process.pid,
        since: seeing.since,
        version: packageVersion(),
        channel: address,
        ...(config !== undefined && { config }),
        ...(http && { url: localUrl(http.address, settings) }),
        ...(http && settings.tls && { certificate: settings.tls.cert }),
        ...(options.background && { background: true }),
        ...(fingerprint && { fingerprint }),
      });
    };
    await (noting = note());
    undo.push(async () => {
      approvals.close();
      seeing.events.close();
      agents.endStreams();
    });
    // One in the background opens a board when somebody attaches to it.
    if (!options.background) await agents.find(defaultAgent);
    return {
      ...(http && {
        http: {
          url: `${urlOf(http.address, settings)}/mcp`,
          tokenFile: state.tokens.defaultFile,
        },
      }),
      seeing,
      async reload(ids) {
        const before = agentIds.splice(0, agentIds.length, ...ids);
        try {
          const reports = await agents.reload(ids, readAgent);
          for (const id of before.filter((each) => !ids.includes(each))) {
            unwatch.get(id)?.();
            unwatch.delete(id);
          }
          return mergedReport(reports, defaultAgent);
        } catch (error) {
          agentIds.splice(0, agentIds.length, ...before);
          throw error;
        }
      },
      async renote(applied) {
        if (closing !== undefined) return;
        const earlier = noting;
        await (noting = Promise.resolve(earlier).then(() => note(applied)));
      },
      close: () => (closing ??= undoAll()),
    };
  } catch (error) {
    await undoAll();
    throw error;
  }
}

interface GatewayParts {
  state: SharedState;
  seeing: Seeing;
  sealer: Sealer;
  agents: GatewayAgents;
  undo: (() => Promise<void>)[];
}

interface ListeningHttp {
  gateway: Gateway;
  sessions: Sessions;
  address: AddressInfo;
}

function mergedReport(
  reports: ReadonlyMap<string, ReloadReport>,
  defaultAgent: string,
): ReloadReport {
  const all = (kind: keyof ReloadReport): string[] =>
    [...reports].flatMap(([agent, report]) =>
      report[kind].map((name) => (agent === defaultAgent ? name : `${agent}/${name}`)),
    );
  return {
    added: all("added"),
    changed: all("changed"),
    removed: all("removed"),
    unchanged: all("unchanged"),
  };
}

/** Resolves when no attached command waits for anything, or the time for that is over. */
async function drained(
  channel: ServedChannel,
  { clock, logger }: Pick<OpenGatewayOptions, "clock" | "logger">,
): Promise<void> {
  const deadline = clock.monotonic() + DRAIN_MS;
  if (channel.inFlight > 0) {
    const calls = plural(channel.inFlight, "call");
    logger.warn(`stopping: waits up to ${duration(DRAIN_MS)} for ${calls} of attached commands`);
  }
  while (channel.inFlight > 0 && clock.monotonic() < deadline) await pause(clock, LOOK_MS, NEVER);
  if (channel.inFlight === 0) return;
  const calls = plural(channel.inFlight, "call");
  logger.warn(`${calls} of attached commands did not end in time and may have taken effect`);
}

/** Listens for MCP clients. */
async function openHttp(
  { settings, agentIds, defaultAgent, network, clock, logger }: OpenGatewayOptions,
  { state, seeing, sealer, agents, undo }: GatewayParts,
): Promise<ListeningHttp> {
  const { tokens } = state;
  await tokens.ensureDefault();
  const isGone = (caller: string): boolean =>
    caller.startsWith("token:") && !tokens.isValid(caller.slice("token:".length));
  const sessions = new Sessions({
    sealer,
    store: state.sessions,
    newId: randomUUID,
    clock,
    idleMs: settings.sessionTimeout,
    most: settings.limits.sessions,
    isGone,
    onChange: (change, session) => seeing.session(change, session),
  });
  const access = new Access({
    settings,
    defaultAgent,
    tokens,
    limits: state.limits,
    clock,
    network,
    onProblem: (message) => logger.warn(message),
  });
  undo.push(() => access.close());
  const tls = settings.tls && (await readTls(settings.tls, clock));
  if (tls?.warning !== undefined) logger.warn(tls.warning);
  const gateway = new Gateway({
    host: settings.host,
    port: settings.port,
    ...(tls && { tls: { cert: tls.cert, key: tls.key } }),
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
    defaultAgent,
    isGone,
    ...admitRequests(access, agentIds, seeing),
    routes: seeing.routes,
    watcher: seeing,
    clock,
    logger,
  });
  return { gateway, sessions, address: await gateway.listen() };
}

function urlOf({ address, port }: AddressInfo, { tls, publicUrl }: GatewaySettings): string {
  return publicUrl ?? addressUrl(address, port, tls !== undefined);
}

/** Where this machine reaches it. A gateway that listens on every address does so on loopback too. */
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
