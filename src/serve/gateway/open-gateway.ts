// Puts a gateway together and starts it: what it keeps on disk, its agents, who may use it, and what an operator sees.
// Read this file first.

import { randomBytes, randomUUID } from "node:crypto";
import type { AddressInfo } from "node:net";
import { hostname, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ChannelAddress } from "../attach/greeting.ts";
import {
  type ChannelHost,
  type ServedChannel,
  serveChannel,
} from "../attach/gateway/serve-channel.ts";
import type { Fingerprint } from "../../core/config/fingerprint.ts";
import { placeOf } from "../../core/config/find.ts";
import { type ClientBoardOptions, openClientBoard } from "../endpoint/client-board.ts";
import { McpEntry } from "../endpoint/http/entry.ts";
import { sendRefusal } from "../endpoint/http/refusal.ts";
import { pathOf } from "../endpoint/http/request-source.ts";
import { SESSION_MS, Sessions } from "../endpoint/http/sessions.ts";
import { WaitingApprovals } from "../endpoint/questions/waiting-approvals.ts";
import { Sealer } from "../endpoint/sealed.ts";
import { openSpans } from "../endpoint/spans.ts";
import { type AgentConfig, DEFAULT_AGENT } from "../../core/types/agent-config.ts";
import { isSamePolicy, tokenOf } from "../../core/types/caller.ts";
import { joinReports, type ReloadReport } from "../../core/types/board.ts";
import { PlugboardError } from "../../core/types/errors.ts";
import type { GatewaySettings } from "../../core/types/gateway-settings.ts";
import type { Logger } from "../../core/types/logger.ts";
import type { KeyRing } from "../../core/types/key-ring.ts";
import type { AuditTrail, Replicas, SharedState } from "../../core/types/shared-state.ts";
import { auditIn } from "../../core/state/files/audit-file.ts";
import { privateSocketPath } from "../../core/net/private-socket.ts";
import { openFileState } from "../../core/state/files/open.ts";
import { tryLock } from "../../core/state/lock.ts";
import {
  gatewayFile,
  recordGateway,
  type RunningGateway,
} from "../../core/state/running-gateway.ts";
import { type Clock, pause, within } from "../../util/clock.ts";
import { Shares } from "../../util/shares.ts";
import { shortHash } from "../../util/short-hash.ts";
import { duration, plural, shellWord } from "../../util/text.ts";
import { packageVersion } from "../../util/version.ts";
import { Access, type AccessOptions } from "./access/access.ts";
import type { Admission, Admitted } from "./access/admission.ts";
import { WELL_KNOWN } from "./access/protected-resource.ts";
import { CertificateWatch, readTls } from "./access/tls.ts";
import type { Provider } from "./access/provider.ts";
import { GatewayAgents } from "./agents.ts";
import { DRAIN_MS, Gateway, type GatewayOptions, type GatewayPage, type Route } from "./gateway.ts";
import { PageCalls } from "./page/call.ts";
import { type ChangeKinds, Changes } from "./page/changes.ts";
import type { PageConfiguration } from "./page/configuration.ts";
import { Decisions } from "./page/decisions.ts";
import { AuditSearch } from "./page/audit.ts";
import { Live } from "./page/live.ts";
import { PageMethods } from "./page/methods.ts";
import { Page, PAGE_DOCUMENTS } from "./page/page.ts";
import { PageFiles } from "./page/page-files.ts";
import type { ProviderSignIn } from "./page/provider-sign-in.ts";
import { VISITOR, Visitors } from "./page/visitors.ts";
import type { ApplicationFacts, Role } from "./page/wire.ts";
import { Quotas } from "./quotas.ts";
import { isSignInPath, PeopleSignIn, signInPath } from "./people-sign-in.ts";
import { configurationText, FleetWatch, differsFromMost } from "./replicas/configuration.ts";
import { OtherReplicas } from "./replicas/other-replicas.ts";
import { SharedLists } from "./replicas/shared-lists.ts";
import { Signatures } from "./replicas/signature.ts";
import { HealthLines } from "./monitoring/state-health.ts";
import { openWhenThere } from "./waiting.ts";
import { RecentLogs } from "./monitoring/recent-logs.ts";
import { Monitoring } from "./monitoring/monitoring.ts";

/** How long sending the last spans may take. */
const FLUSH_MS = 2000;
/** How often a gateway that stops looks whether attached commands still wait for something. */
const LOOK_MS = 20;

/** The bytes of the large requests of one caller that are being answered; the largest request in any case. */
const BODIES_OF_ONE = 64 * 1024 * 1024;
const PAGE_FOLDER = fileURLToPath(new URL("../../ui", import.meta.url));

/** Names all gateways that share a state, among those of a machine. */
const FLEET = "fleet";

export interface OpenGatewayOptions extends Omit<ClientBoardOptions, "state" | "owner"> {
  settings: GatewaySettings;
  agentIds: readonly string[];
  /** Reads the configuration of one of `agentIds`. */
  readAgent: (id: string) => Promise<AgentConfig>;
  /** The agent behind `/mcp`. Its servers start with the gateway; those of other agents with their first request. */
  defaultAgent: string;
  /** The configuration file, if there is one. Only one gateway runs for a file. */
  configFile?: string;
  /** Says what the gateway runs with now, for its record. Without it, other commands do not attach. */
  fingerprint?: () => Promise<Fingerprint | undefined>;
  /** A command of the owner has asked the gateway to stop: close it. */
  onStop?: () => void;
  /** A command of the owner has asked the gateway to read its configuration again. */
  onReload?: () => Promise<ReloadReport>;
  /** Opens what it shares with others; closed with it. Default: the files of `stateDir`. */
  openState?: () => Promise<SharedState>;
  /**
   * What it shares may be away when it starts: it waits until that can be reached, is not ready meanwhile, and rejects with
   * CANCELLED when this is aborted. Absent: it does not start then.
   */
  waits?: AbortSignal;
  /** MCP clients get a search for tools in place of the tools. */
  search?: boolean;
  /** False: no port is opened, and only commands of this machine's user reach it. Default true. */
  http?: boolean;
  /** The one server that it runs for other gateways. Commands do not attach to it, and it has a lock of its own. */
  only?: string;
  /** A command started it. */
  background?: boolean;
  /** Somebody uses one of its boards over the channel. Returns what is called when they no longer do. */
  onAttached?: () => () => void;
  network: AccessOptions["network"];
  /** What people can change in the page. Default: nothing. */
  changes?: ChangeKinds;
  /** The applications of this machine that the board can be put into. Default: none is looked for. */
  applications?: () => Promise<ApplicationFacts[]>;
  /** What the page reads of the configuration. Default: nothing. */
  configuration?: PageConfiguration;
  /** Where the files of the page are. Default: where the build has put them. */
  pageFolder?: string;
  clock: Clock;
}

export interface OpenedGateway {
  /** How clients reach it, unless it was opened without HTTP. */
  http?: {
    /** Where clients reach the default agent. */
    url: string;
    /** The file with the token of the owner. */
    tokenFile: string;
    /** A link that opens the page once, within a minute. */
    newPageLink: (role: Role) => string;
  };
  monitoring: Monitoring;
  /**
   * Applies what `readAgent` reads by now to the boards that are open. These are the agents from now on; one that is no
   * longer among them is closed. Servers of agents other than the default one are reported as `agent/server`.
   */
  reload(agentIds: readonly string[]): Promise<ReloadReport>;
  /** Writes the record again, with what the gateway runs with now. Call it after each reload. */
  writeRecord(): Promise<void>;
  /** Lets calls in flight finish, then stops every server. */
  close(): Promise<void>;
}

/** Resolves when the gateway listens. Rejects with a PlugboardError if it cannot, and leaves nothing behind. */
export async function openGateway(given: OpenGatewayOptions): Promise<OpenedGateway> {
  const logs = new RecentLogs(given.logger, given.clock);
  const options = { ...given, logger: logs.logger, logs };
  const { stateDir, configFile, logger } = options;
  const unlock = await tryLock(gatewayFile(stateDir, configOf(options), "lock"));
  if (unlock === undefined) throw alreadyRuns(configFile, options.only);
  const undo = new UndoSteps(logger);
  undo.add(unlock);
  try {
    return await openLocked(options, undo);
  } catch (error) {
    await undo.run();
    throw error;
  }
}

/** With the lines that the servers have written. */
interface LoggedOptions extends OpenGatewayOptions {
  logs: RecentLogs;
}

async function openLocked(given: LoggedOptions, undo: UndoSteps): Promise<OpenedGateway> {
  /** Replaced in place: whoever has the list sees the agents of the configuration as it is now. */
  const agentIds = [...given.agentIds];
  const options = { ...given, agentIds };
  const parts = await openParts(options, undo);
  const { state, monitoring, agents, approvals, fleet } = parts;
  const record = new GatewayRecord();
  undo.add(() => record.remove());
  const { http, channel, address } = await listen(options, parts, undo);
  monitoring.show({
    isReady: () => !undo.hasBegun,
    inFlight: () => (http?.gateway.inFlight ?? 0) + channel.inFlight,
    ...(state.health && { health: state.health }),
    ...(http && { traffic: () => http.gateway.traffic, sessions: http.sessions }),
    ...(state.replicas && { replicas: state.replicas, problems: () => fleet?.problems() ?? [] }),
    approvals: () => approvals.size,
    ...(http?.certificate && { certificate: http.certificate }),
    viewerOf: (admitted) => agents.viewerOf(admitted),
  });
  const writeRecord = (): Promise<void> =>
    record.write(async () => {
      const fingerprint = await options.fingerprint?.();
      return recordGateway(options.stateDir, {
        ...recordOf(options, http),
        since: monitoring.since,
        channel: address,
        fingerprint,
      });
    });
  await writeRecord();
  await announce(options, state);
  undo.add(async () => {
    await leave(http, options);
    approvals.close();
    monitoring.events.close();
    agents.endStreams();
  });
  // One in the background opens a board when somebody attaches to it.
  if (!options.background) await agents.find(options.defaultAgent);
  return {
    ...(http && {
      http: {
        url: `${urlOf(http.address, options.settings)}/mcp`,
        tokenFile: state.tokens.defaultFile,
        newPageLink: http.newPageLink,
      },
    }),
    monitoring,
    async reload(ids) {
      const report = await reloadAgents(ids, options, parts);
      await announce(options, state);
      return report;
    },
    async writeRecord() {
      if (!undo.hasBegun) await writeRecord();
    },
    close: () => undo.run(),
  };
}

/** Tells the other gateways what this one runs with by now. */
async function announce(options: OpenGatewayOptions, { replicas }: SharedState): Promise<void> {
  if (replicas === undefined) return;
  const { settings, agentIds, readAgent } = options;
  const read = await Promise.allSettled(agentIds.map((id) => readAgent(id)));
  const agents = read.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
  replicas.announce(configurationText(settings, agents, options));
}

interface GatewayParts {
  state: SharedState;
  monitoring: Monitoring;
  sealer: Sealer;
  /** The gateways on other machines that share the state. */
  replicas: OtherReplicas | undefined;
  fleet: FleetWatch | undefined;
  approvals: WaitingApprovals;
  agents: GatewayAgents;
  /** By the agent: has the operator no longer see its board. */
  unwatch: Map<string, () => void>;
  /** What people call the gateway, once it listens; and whether an owner has its page open. */
  listening: { url: string; isOwnerThere?: () => boolean };
}

/** What a gateway consists of, before anybody reaches it. */
async function openParts(options: OpenGatewayOptions, undo: UndoSteps): Promise<GatewayParts> {
  const { settings, agentIds, readAgent, configFile, stateDir, clock, logger } = options;
  const open = async (): Promise<SharedState> =>
    options.openState?.() ?? openFileState(stateDir, { clock, logger });
  const { waits } = options;
  const at = options.http === false ? undefined : settings;
  const state = await (waits ? openWhenThere({ open, at, signal: waits, clock, logger }) : open());
  undo.add(() => state.close());
  const onProblem = (message: string): void => logger.warn(message);
  const keys = await state.openSealKeys({ keepFor: SESSION_MS, onProblem });
  undo.add(async () => keys.close());
  const monitoring = new Monitoring({
    version: packageVersion(),
    pid: process.pid,
    ...(configFile !== undefined && { config: configFile }),
    agentIds,
    clock,
    logger,
  });
  undo.add(async () => monitoring.close());
  if (state.health !== undefined) {
    const lines = new HealthLines({ health: state.health, clock, logger });
    undo.add(async () => lines.close());
  }
  const sealer = new Sealer(keys, randomBytes);
  const replicas = state.replicas && openReplicas(options, state.replicas, keys, sealer);
  undo.add(async () => replicas?.close());
  const fleet = state.replicas && new FleetWatch({ replicas: state.replicas, clock, logger });
  undo.add(async () => fleet?.close());
  const lists = state.replicas && new SharedLists({ changes: state.changes, clock });
  undo.add(async () => lists?.close());
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
  undo.add(async () => within(clock, FLUSH_MS, Promise.resolve(spans?.flush())));
  const unwatch = new Map<string, () => void>();
  const listening: GatewayParts["listening"] = { url: settings.publicUrl ?? "" };
  const agents = new GatewayAgents({
    sealer,
    home: replicas?.home,
    spans,
    newId: randomUUID,
    clock,
    logger,
    approvals,
    ...(options.search && { search: true }),
    ...(options.only !== undefined && { isForMany: true }),
    idleMs: settings.sessionTimeout,
    sessionServers: settings.limits.sessionServers,
    quotas: new Quotas({
      settings: settings.quotas ?? { agents: {} },
      state,
      onCall: (caller) => monitoring.called(caller),
      onRefused: () => monitoring.refusedCall(),
    }),
    people: settings.limits.people,
    signInUrl: (agent, server) => `${listening.url}${signInPath(agent, server)}`,
    onSession: (id, board, person) =>
      monitoring.watchSession(id, board, { ...(person && { person }) }),
    open: async (id) => {
      if (!agentIds.includes(id)) return undefined;
      const agentOption = id === DEFAULT_AGENT ? "" : ` --agent ${shellWord(id)}`;
      const opened = await openClientBoard(await readAgent(id), {
        ...options,
        state,
        // Callers who are not the owner get a board on top of it.
        owner: true,
        restartHint: (server) =>
          `to start it again: plugboard restart ${shellWord(server)}${agentOption}`,
      });
      const ends = [monitoring.watch(id, opened.board), lists?.watch(opened.board)];
      unwatch.set(id, () => ends.forEach((end) => end?.()));
      return opened;
    },
  });
  undo.add(() => agents.close());
  const unsubscribe = state.changes.subscribe("grants", () => agents.signInsChanged());
  undo.add(async () => unsubscribe());
  return { state, monitoring, sealer, replicas, fleet, approvals, agents, unwatch, listening };
}

function openReplicas(
  options: OpenGatewayOptions,
  replicas: Replicas,
  keys: KeyRing,
  sealer: Sealer,
): OtherReplicas {
  const { clock, logger } = options;
  const signatures = new Signatures({
    keys,
    url: replicas.own?.url,
    clock,
    random: randomBytes,
  });
  const ownName = `${hostname()} ${gatewayFile(options.stateDir, configOf(options), "json")}`;
  return new OtherReplicas({ replicas, signatures, sealer, ownName, clock, logger });
}

interface Listening {
  http?: ListeningHttp;
  channel: ServedChannel;
  address: ChannelAddress;
}

/** Opens the ways in: HTTP for MCP clients, and the channel for commands of the owner. */
async function listen(
  options: LoggedOptions,
  parts: GatewayParts,
  undo: UndoSteps,
): Promise<Listening> {
  const { clock, logger } = options;
  const opened: Partial<Listening> = {};
  // Before its record is removed: while it stops, status must not take it for one that does not run.
  undo.add(async () => {
    const { http, channel } = opened;
    channel?.drain();
    await Promise.all([http?.gateway.close(), channel && drained(channel, options)]);
    await channel?.close();
    await http?.closeAccess();
  });
  if (options.http !== false) opened.http = await openHttp(options, parts, undo);
  const address = channelAddress(options);
  /** A gateway without a port opens one of this machine's for its page. */
  let opening: Promise<ListeningHttp> | undefined;
  const pageLink = async (role: Role): Promise<string> => {
    if (opened.http === undefined) {
      opening ??= openHttp(onThisMachine(options), parts, undo).finally(() => {
        opening = undefined;
      });
      opened.http = await opening;
    }
    return opened.http.newPageLink(role);
  };
  const host = channelHost(options, parts, pageLink);
  const channel = await serveChannel({ ...address, host, clock, logger });
  opened.channel = channel;
  return { ...opened, channel, address };
}

function onThisMachine(options: LoggedOptions): LoggedOptions {
  const { tls: _, publicUrl: __, ...settings } = options.settings;
  return { ...options, settings: { ...settings, host: "127.0.0.1", port: 0 } };
}

function channelAddress(options: OpenGatewayOptions): ChannelAddress {
  const recordFile = gatewayFile(options.stateDir, configOf(options), "json");
  const path = privateSocketPath({
    directory: dirname(recordFile),
    // A directory for all homes of the user is used where the home's path is too long.
    name: shortHash(recordFile),
    platform: process.platform,
    tmpdir: tmpdir(),
    uid: process.getuid?.(),
  });
  return { path, key: randomBytes(32).toString("base64url") };
}

function channelHost(
  { onReload, onStop, onAttached, logs }: LoggedOptions,
  { agents, monitoring, approvals, listening }: GatewayParts,
  pageLink: ChannelHost["pageLink"],
): ChannelHost {
  return {
    pageLink,
    askElsewhere: (agent) =>
      listening.isOwnerThere?.() === true ? approvals.askFor(agent) : undefined,
    boardOf: async (id) => (await agents.find(id))?.board,
    reload: async () => {
      if (onReload !== undefined) return onReload();
      throw new PlugboardError("UNSUPPORTED", "this gateway cannot be reloaded", {
        hint: "stop it, and start it again",
      });
    },
    stop: () => onStop?.(),
    status: () => monitoring.status(),
    logs,
    watch: (agent, session, { pid }) =>
      monitoring.watchSession(agent, session, { command: { pid, session: session.id } }),
    attached: (command) => {
      const gone = [monitoring.attached(command), onAttached?.()];
      return () => gone.forEach((each) => each?.());
    },
  };
}

/** `options.agentIds` are `ids` afterwards; if the configuration cannot be read, nothing has changed. */
async function reloadAgents(
  ids: readonly string[],
  { agentIds, readAgent, defaultAgent }: OpenGatewayOptions & { agentIds: string[] },
  { agents, unwatch }: GatewayParts,
): Promise<ReloadReport> {
  const before = agentIds.splice(0, agentIds.length, ...ids);
  try {
    const reports = await agents.reload(ids, readAgent);
    for (const id of before.filter((each) => !ids.includes(each))) {
      unwatch.get(id)?.();
      unwatch.delete(id);
    }
    return joinReports(
      [...reports].map(([agent, report]) =>
        agent === defaultAgent ? report : ofAgent(agent, report),
      ),
    );
  } catch (error) {
    agentIds.splice(0, agentIds.length, ...before);
    throw error;
  }
}

function ofAgent(agent: string, report: ReloadReport): ReloadReport {
  const named = (names: readonly string[]): string[] => names.map((name) => `${agent}/${name}`);
  const { added, changed, removed, unchanged } = report;
  return {
    added: named(added),
    changed: named(changed),
    removed: named(removed),
    unchanged: named(unchanged),
  };
}

/** What other commands learn about the gateway, besides what it runs with. */
function recordOf(
  options: OpenGatewayOptions,
  http: ListeningHttp | undefined,
): Omit<RunningGateway, "since"> {
  const { settings, background } = options;
  const config = configOf(options);
  return {
    pid: process.pid,
    version: packageVersion(),
    config,
    ...(http && { url: localUrl(http.address, settings) }),
    ...(http && settings.tls && { certificate: settings.tls.cert }),
    ...(background && { background: true }),
  };
}

/** The configuration file, as the gateway's lock and record go by it; for a worker, with its server. */
function configOf({
  configFile,
  only,
}: Pick<OpenGatewayOptions, "configFile" | "only">): string | undefined {
  const config = configFile === undefined ? undefined : placeOf(configFile);
  return only === undefined ? config : `${config ?? ""}\nonly ${only}`;
}

/** The record by which other commands find the gateway. It is written after each reload, one after another. */
class GatewayRecord {
  #writing: Promise<void> = Promise.resolve();
  #remove: (() => Promise<void>) | undefined;

  /** `write` returns what removes the record. */
  write(write: () => Promise<() => Promise<void>>): Promise<void> {
    this.#writing = this.#writing
      .catch(() => {})
      .then(async () => {
        this.#remove = await write();
      });
    return this.#writing;
  }

  /** A record that is being written would stay behind. */
  async remove(): Promise<void> {
    await this.#writing.catch(() => {});
    await this.#remove?.();
  }
}

/** What has to be undone at the end, the last first. */
class UndoSteps {
  readonly #logger: Logger;
  readonly #steps: (() => Promise<void>)[] = [];
  #running: Promise<void> | undefined;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  get hasBegun(): boolean {
    return this.#running !== undefined;
  }

  add(step: () => Promise<void>): void {
    this.#steps.push(step);
  }

  /** Idempotent, and never rejects. */
  run(): Promise<void> {
    this.#running ??= this.#run();
    return this.#running;
  }

  async #run(): Promise<void> {
    // One step that fails must not keep the others from running.
    for (const step of this.#steps.toReversed()) {
      await step().catch((error: unknown) =>
        this.#logger.error("stopping went wrong", { reason: String(error) }),
      );
    }
  }
}

interface ListeningHttp {
  gateway: Gateway;
  /** When its certificate ends. */
  certificate?: () => number;
  sessions: Sessions;
  address: AddressInfo;
  newPageLink: (role: Role) => string;
  /** Call it when nobody is let in any more. */
  closeAccess: () => Promise<void>;
}

/** Says that it is not ready any more, and gives load balancers the time to notice. */
async function leave(
  http: ListeningHttp | undefined,
  { settings, clock, logger }: OpenGatewayOptions,
): Promise<void> {
  const { stopDelay } = settings;
  if (http === undefined) return;
  http.gateway.leave();
  if (stopDelay === 0) return;
  logger.info(`stopping: answers for ${duration(stopDelay)} more, and is not ready any more`, {
    visit: "gateway",
  });
  await pause(clock, stopDelay);
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
  while (channel.inFlight > 0 && clock.monotonic() < deadline) await pause(clock, LOOK_MS);
  if (channel.inFlight === 0) return;
  const calls = plural(channel.inFlight, "call");
  logger.warn(`${calls} of attached commands did not end in time and may have taken effect`);
}

/** Listens for MCP clients. */
async function openHttp(
  options: LoggedOptions,
  parts: GatewayParts,
  undo: UndoSteps,
): Promise<ListeningHttp> {
  const { settings, agentIds, defaultAgent, network, clock, logger } = options;
  const { state, monitoring, sealer, replicas, agents } = parts;
  const { tokens } = state;
  await tokens.ensureDefault();
  const isGone: GatewayOptions["isGone"] = (caller, { policy, signedIn }) => {
    if (signedIn !== undefined && signedIn.at <= tokens.signedOutUntil(signedIn.as)) return true;
    if (caller.startsWith(VISITOR)) return state.sessions.isRevoked(caller.slice(VISITOR.length));
    const id = tokenOf(caller);
    if (id === undefined) return false;
    const token = tokens.current(id);
    return token === undefined || !isSamePolicy(token.policy, policy);
  };
  const sessions = new Sessions({
    sealer,
    store: state.sessions,
    elsewhere: replicas,
    newId: randomUUID,
    clock,
    idleMs: settings.sessionTimeout,
    most: settings.limits.sessions,
    isGone,
    onChange: (change, session) => monitoring.session(change, session),
  });
  const access = new Access({
    settings: withReplicaHost(settings, state.replicas?.own?.url),
    defaultAgent,
    tokens,
    limits: state.limits,
    clock,
    network,
    onProblem: (message) => logger.warn(message),
  });
  const tls = settings.tls && (await readTls(settings.tls, clock));
  if (tls?.warning !== undefined) logger.warn(tls.warning);
  const provider = openProvider(options, undo);
  // A worker has no people: its page would only be something more to attack.
  const page = options.only === undefined ? openPage(options, parts, provider, undo) : undefined;
  const signIns = new PeopleSignIn({
    url: () => parts.listening.url,
    agents,
    access,
    behindProxy: settings.behindProxy,
    provider,
    issuer: settings.ui?.issuer,
    rights: settings.jwt?.rights,
    sealer,
    state,
    clock,
    random: randomBytes,
    logger,
  });
  const admission = admitRequests(access, agentIds, monitoring);
  const allBodies = 4 * Math.max(BODIES_OF_ONE, settings.limits.bodyBytes);
  const gateway = new Gateway({
    host: settings.host,
    port: settings.port,
    ...(tls && { tls: { cert: tls.cert, key: tls.key } }),
    maxHeaderBytes: settings.limits.headerBytes,
    maxConnections: settings.limits.connections,
    behindProxy: settings.behindProxy,
    entry: new McpEntry({
      sessions,
      elsewhere: replicas,
      maxBodyBytes: settings.limits.bodyBytes,
      maxBodyValues: settings.limits.bodyValues,
      // All that reaches a worker comes from one caller, whose callers have had their shares where they came in.
      bodies: new Shares(allBodies, options.only === undefined ? undefined : allBodies),
      limitsIn: "gateway.limits",
      onRequest: ({ caller, agent }, client, isInSession) =>
        monitoring.asked(caller, agent, client, isInSession),
    }),
    sessions,
    agents,
    defaultAgent,
    isGone,
    replicas: replicas && {
      closeStreams: () => replicas.closeStreams(),
      forwardedIn: (request, agent) => replicas.forwardedIn(request, agent, tokens),
    },
    isDegraded: () => (state.health?.().away ?? []).length > 0,
    unreadyFor: () =>
      settings.shared?.differing === "unready" && state.replicas && differsFromMost(state.replicas)
        ? "not ready: most gateways that share its state run with another configuration"
        : undefined,
    configuration: () => state.replicas?.own?.configuration,
    ...admission,
    openRoutes: new Map([...(admission.openRoutes ?? []), ...signIns.routes]),
    ...(page && { page }),
    routes: monitoring.routes,
    watcher: monitoring,
    clock,
    logger,
  });
  const address = await gateway.listen();
  const certificate =
    settings.tls &&
    tls &&
    new CertificateWatch({
      files: settings.tls,
      used: tls,
      onRenewed: (renewed) => gateway.useCertificate(renewed),
      clock,
      logger,
    });
  undo.add(async () => certificate?.close());
  parts.listening.url = urlOf(address, settings);
  const newPageLink = page?.opened(urlOf(address, settings), localUrl(address, settings)) ?? noPage;
  return {
    gateway,
    ...(certificate && { certificate: () => certificate.endsAt }),
    sessions,
    address,
    newPageLink,
    closeAccess: () => access.close(),
  };
}

function noPage(): never {
  throw new PlugboardError("UNSUPPORTED", "a worker has no page", {
    hint: "open that of a gateway",
  });
}

/** Other gateways reach this one under another host name than its clients do. */
function withReplicaHost(settings: GatewaySettings, url: string | undefined): GatewaySettings {
  if (url === undefined) return settings;
  return { ...settings, allowedHosts: [...settings.allowedHosts, new URL(url).host] };
}

/** The gateway's own audit, and the files that agents have configured in its place. */
async function auditTrails(
  { agentIds, readAgent, clock }: OpenGatewayOptions,
  { audit }: SharedState,
): Promise<AuditTrail[]> {
  const configs = await Promise.all(
    agentIds.map((id) => readAgent(id).catch((): Partial<AgentConfig> => ({}))),
  );
  const files = new Set(configs.map((agent) => agent.audit?.file));
  return [...files].map((file) => (file === undefined ? audit : auditIn(file, { clock })));
}

interface OpenedPage extends GatewayPage {
  /** Call it once the gateway listens. Returns the function that makes page links. */
  opened: (url: string, localUrl: string) => (role: Role) => string;
}

/** The page, for people. It answers once it is known where it is. */
function openPage(
  options: LoggedOptions,
  { state, monitoring, sealer, replicas, agents, approvals, listening }: GatewayParts,
  provider: Promise<Provider | undefined> | undefined,
  undo: UndoSteps,
): OpenedPage {
  const { settings, clock, logger } = options;
  const { own, areAuthentic = false } = state.replicas ?? {};
  // Without a URL or keys nobody forwards a request to it, and each request is answered where it comes in.
  const elsewhere = own?.url === undefined || !areAuthentic ? undefined : replicas;
  let page: Page | undefined;
  return {
    admit(request) {
      const from = replicas?.forwardedPageIn(request);
      if (from?.isAdmitted === false) return from;
      return {
        isAdmitted: true,
        isForwarded: from !== undefined,
        visitor: page?.visitorIn(request, from?.forwarded),
        answer: async (path, reply) => page?.answer(path, request, reply, from?.forwarded),
      };
    },
    opened: (url, local) => {
      const visitors = new Visitors({
        sealer,
        revoked: state.sessions,
        tokens: state.tokens,
        clock,
        random: randomBytes,
        url: new URL(url),
        gateway: pageOf(options, state),
      });
      const live = new Live({
        monitoring,
        state,
        logs: options.logs,
        clock,
        onReader: () => options.onAttached?.(),
        url: () => `${url}/mcp`,
        replica: own?.name,
        home: elsewhere?.tag,
        gateways: elsewhere && (() => elsewhere.reachable()),
      });
      undo.add(async () => live.close());
      listening.isOwnerThere = () => live.isOwnerThere;
      const decisions = new Decisions({ trail: state.audit, clock, logger });
      undo.add(() => decisions.close());
      const changes = new Changes({
        kinds: options.changes ?? {},
        decisions,
        clock,
        random: randomBytes,
        redact: (text) =>
          agents.list().reduce((rest, { board }) => board.redactor.text(rest), text),
      });
      const { applications, configuration } = options;
      const methods = new PageMethods({
        state,
        agents: () => agents.list(),
        signInUrl: (agent, server) => `${listening.url}${signInPath(agent, server)}`,
        calls: live.calls,
        changes,
        configuration,
        decisions,
        history: monitoring.history,
        audit: new AuditSearch({ trails: () => auditTrails(options, state), calls: live.calls }),
        clock,
        clients: { url, agentIds: options.agentIds },
        ...(applications && { applications }),
      });
      const calls = new PageCalls({
        boardFor: (id, visitor) => methods.boardFor(id, visitor),
        askFor: (id) => approvals.askFor(id),
        newId: randomUUID,
        clock,
      });
      const files = new PageFiles(options.pageFolder ?? PAGE_FOLDER);
      const { publicUrl, tls } = settings;
      const signIn = openSignIn(options, { state, sealer, visitors, provider });
      page = new Page({
        signIn,
        visitors,
        live,
        methods,
        calls,
        files,
        elsewhere,
        publicUrl,
        isTls: tls !== undefined,
        forwardDir: join(options.stateDir, "gateway", "forwarded-files"),
      });
      return (role) => `${settings.publicUrl ?? local}/ui/#k=${visitors.newKey(role)}`;
    },
  };
}

/** The identity provider of the page. Its code is loaded only where one is configured. */
function openProvider(
  { settings, network, clock, logger }: OpenGatewayOptions,
  undo: UndoSteps,
): Promise<Provider | undefined> | undefined {
  const { ui, jwt, publicUrl } = settings;
  const issuer = jwt?.issuers.find((each) => each.issuer === ui?.issuer);
  if (ui === undefined || issuer === undefined || publicUrl === undefined) return undefined;
  const load = async (): Promise<Provider> => {
    const module = await import("./access/provider.ts");
    const provider = new module.Provider({
      page: ui,
      issuer,
      networkAllow: network.allow,
      env: network.env,
      clock,
      onProblem: (message) => logger.warn(message),
    });
    undo.add(() => provider.close());
    return provider;
  };
  return load().catch((error: unknown) => {
    logger.error("nobody can sign in through the provider", { reason: String(error) });
    return undefined;
  });
}

/** Signs people in to the page through the provider. */
async function openSignIn(
  options: OpenGatewayOptions,
  {
    state,
    sealer,
    visitors,
    provider: opening,
  }: Pick<GatewayParts, "state" | "sealer"> & {
    visitors: Visitors;
    provider: Promise<Provider | undefined> | undefined;
  },
): Promise<ProviderSignIn | undefined> {
  const { ui, jwt, publicUrl, behindProxy } = options.settings;
  const provider = await opening;
  if (provider === undefined || ui === undefined || publicUrl === undefined) return undefined;
  const module = await import("./page/provider-sign-in.ts");
  return new module.ProviderSignIn({
    provider,
    page: ui,
    rights: jwt?.rights ?? [],
    visitors,
    sealer,
    revoked: state.sessions,
    clock: options.clock,
    random: randomBytes,
    behindProxy,
    publicUrl,
    gateway: pageOf(options, state),
  });
}

/** Whose cookies are understood: of this gateway alone, or of all that share its state. */
function pageOf(options: OpenGatewayOptions, { replicas }: SharedState): string {
  return replicas === undefined ? gatewayFile(options.stateDir, configOf(options), "json") : FLEET;
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

function alreadyRuns(file: string | undefined, only: string | undefined): PlugboardError {
  const which = file === undefined ? "" : ` for ${file}`;
  if (only !== undefined) {
    const message = `a worker of the server '${only}'${which} is already running on this machine`;
    return new PlugboardError("SYSTEM_ERROR", message, { hint: "one is enough for all gateways" });
  }
  return new PlugboardError("SYSTEM_ERROR", `a gateway${which} is already running`, {
    hint: "your other commands use it, and plugboard status shows it; to stop it: plugboard down",
  });
}

/** Where people come from links, and from providers. */
function isDocument(path: string): boolean {
  return PAGE_DOCUMENTS.has(path) || isSignInPath(path);
}

/** Asks access/ about every request, and answers those that are refused. */
function admitRequests(
  access: Access,
  agentIds: readonly string[],
  monitoring: Pick<Monitoring, "refused">,
): Pick<GatewayOptions, "admit" | "checkSource" | "openRoutes"> {
  const showMetadata: Route = (request, reply) => {
    const document = access.metadata(pathOf(request), agentIds);
    if (document === undefined) return void reply.writeHead(404).end();
    reply.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify(document));
  };
  return {
    admit(request, reply, agent) {
      const decide = (admission: Admission): Admitted | undefined => {
        if (admission.isAdmitted) return admission;
        monitoring.refused(request, admission, "caller");
        sendRefusal(reply, admission);
        return undefined;
      };
      const admission = access.admit(request, agent);
      return admission instanceof Promise ? admission.then(decide) : decide(admission);
    },
    checkSource(request, reply) {
      const refusal = access.check(request, isDocument(pathOf(request)));
      if (refusal !== undefined) {
        monitoring.refused(request, refusal, "source");
        sendRefusal(reply, refusal);
        return false;
      }
      const headers = access.cors(request);
      for (const [name, value] of Object.entries(headers ?? {})) reply.setHeader(name, value);
      if (headers === undefined || request.method !== "OPTIONS") return true;
      reply.writeHead(204).end();
      return false;
    },
    // RFC 9728: where a client signs in for an endpoint. Some clients leave out the path of the endpoint.
    openRoutes: new Map([
      [WELL_KNOWN, showMetadata],
      [`${WELL_KNOWN}/`, showMetadata],
    ]),
  };
}
