// `plugboard up`: the gateway, until a signal stops it.

import { isDeepStrictEqual } from "node:util";
import { type ConfigSource, placeOfSource } from "../../core/config/find.ts";
import type { GatewayConfig } from "../../core/config/gateway.ts";
import { plugboardHome } from "../../core/config/home.ts";
import { setValue } from "../../core/config/text/edit.ts";
import { writeTextFile } from "../../core/config/text/text-file.ts";
import {
  openWorkerState,
  undecidedServers,
  workerAgent,
  workerServer,
  workerSettings,
} from "../../core/board/worker.ts";
import { loadCallPath } from "../../core/board/call-path.ts";
import { DEFAULT_AGENT } from "../../core/types/agent-config.ts";
import { PlugboardError, toPlugboardError } from "../../core/types/errors.ts";
import type { GatewaySettings } from "../../core/types/gateway-settings.ts";
import { bindingProblem } from "../../core/net/binding.ts";
import { withProxy } from "../../core/net/proxy-env.ts";
import { openFileState } from "../../core/state/files/open.ts";
import type { RunningGateway } from "../../core/state/running-gateway.ts";
import { checkHome } from "../../core/state/state-directory.ts";
import { errorMessage } from "../../util/error-message.ts";
import { aborted } from "../../util/abort.ts";
import { duration, oneLine } from "../../util/text.ts";
import {
  openGateway,
  type OpenedGateway,
  type OpenGatewayOptions,
} from "../../serve/gateway/open-gateway.ts";
import { runningGateway } from "../attach/find-channel.ts";
import type { CliContext } from "../context.ts";
import { stopGateway } from "../control/control.ts";
import { EXIT } from "../exit-code.ts";
import {
  closeInherited,
  logInBackground,
  openUnlessRunning,
  tellReady,
} from "../background/background.ts";
import { startGateway } from "../background/start.ts";
import { IdleEnd } from "../background/idle-end.ts";
import { LiveConfig, onceEach } from "../live-config.ts";
import { offeredCommand } from "../offered-command.ts";
import { findSource } from "../find-source.ts";
import { pageApplications } from "../page/applications.ts";
import { pageOfConfiguration } from "../page/changes.ts";
import { alone, modeOf, openServerFile, withEditorSchema } from "../servers/server-file.ts";
import { openGatewayState } from "../shared-state.ts";
import type { UpRequest } from "./command.ts";
import { liveView } from "./live-view.ts";

/** How often the view on a terminal is drawn anew. */
const VIEW_MS = 1000;
/** How many characters of the agents' names are shown. */
const MOST_NAMES = 500;

export async function runUp(command: UpRequest, context: CliContext): Promise<number> {
  if (command.only !== undefined) return runWorker(command.only, command, context);
  if (!command.background) await makeOwnFile(context);
  if (command.detach) return startDetached(context);
  const { clock, signal, screen } = context;
  if (command.readyFd !== undefined) closeInherited(command.readyFd);
  const { background } = command;
  const say = sayer(context);
  const live = await LiveConfig.open(context);
  const config = await live.readGateway();
  const place = placeOfSource(live.source);
  if (background || command.detached) await logInBackground(place, context);
  if (!background) await replaceBackground(live.source, say, context);
  /** Aborted by `plugboard down`, and when nobody uses a gateway in the background. The reason says which. */
  const stopping = new AbortController();
  const ending = AbortSignal.any([signal, stopping.signal]);
  const idle = background
    ? new IdleEnd(clock, config.settings.idleTimeout, () =>
        stopping.abort(`no command has used it for ${duration(config.settings.idleTimeout)}`),
      )
    : undefined;
  const gatewayOptions: OpenGatewayOptions = {
    ...configuredBy(live, config, command, context),
    onStop: () => stopping.abort(`plugboard ${background ? "down or up" : "down"} was run`),
    ...(idle && { onAttached: () => idle.attached() }),
  };
  // One that a command waits for is ready first.
  if (!background) await loadCallPath();
  const open = (): Promise<OpenedGateway> => openGateway(gatewayOptions);
  const gateway = background
    ? await openUnlessRunning(open, place, context)
    : await openOrStop(gatewayOptions, command.detached ? undefined : ending);
  if (background && gateway !== undefined) {
    const file = live.source.kind === "file" ? ` with ${live.source.path}` : "";
    const { idleTimeout } = config.settings;
    say(
      `The gateway runs in the background${file} (pid ${process.pid}), until no command has used it for ${duration(idleTimeout)}`,
    );
  }
  tellReady(command.readyFd);
  if (gateway === undefined) {
    if (!background) say("The gateway has stopped");
    await live.close();
    return EXIT.ok;
  }
  if (background) await loadCallPath();
  const { http, monitoring } = gateway;
  const view = screen.live(liveView(monitoring, http?.url, { ...context, signal: ending }), {
    everyMs: VIEW_MS,
    isWhole: true,
  });
  if (http !== undefined) sayWhere(http, config, say);
  // Whoever reads a journal must not get in.
  if (http !== undefined && screen.terminal.err.isTerminal) {
    say("To look at it in a browser, within a minute; later, run plugboard ui:");
    say(`  ${http.newPageLink("owner")}`);
  }
  followEdits(live, gateway, config.settings, context);
  if (config.settings.shared !== undefined) await tellUndecided(live, config, context);
  await aborted(ending);
  idle?.stop();
  await live.close();
  await gateway.close();
  // Until here the view shows what the gateway still waits for.
  view.stop();
  const why = stopping.signal.aborted ? `, since ${String(stopping.signal.reason)}` : "";
  say(`The gateway has stopped${why}`);
  return EXIT.ok;
}

/** Waits for PostgreSQL until `ending`, unless somebody waits for the gateway itself. Undefined if it was stopped meanwhile. */
async function openOrStop(
  options: OpenGatewayOptions,
  ending: AbortSignal | undefined,
): Promise<OpenedGateway | undefined> {
  try {
    return await openGateway({ ...options, ...(ending && { waits: ending }) });
  } catch (error) {
    if (ending?.aborted && toPlugboardError(error, "SYSTEM_ERROR").code === "CANCELLED") {
      return undefined;
    }
    throw error;
  }
}

/** One server, for other gateways. */
async function runWorker(only: string, command: UpRequest, context: CliContext): Promise<number> {
  if (command.detach) {
    throw new PlugboardError("INVALID_ARGUMENTS", "--only does not go with --detach", {
      hint: "a service manager keeps a worker running; for its unit: plugboard deploy systemd",
    });
  }
  const { io, options, clock, logger, signal, onHangup } = context;
  const say = sayer(context);
  await using live = await LiveConfig.open(context);
  const config = await live.readGateway();
  const agentId = options.agent ?? DEFAULT_AGENT;
  const agent = await live.readAgent(agentId);
  const server = workerServer(agent, only);
  const settings = withOptions(workerSettings(config.settings, server), command);
  const stateDir = plugboardHome(io.env, io.homedir);
  const env = withProxy(io.env, config.networkProxy);
  await loadCallPath();
  const gateway = await openGateway({
    settings,
    only,
    agentIds: [agentId],
    defaultAgent: agentId,
    readAgent: async (id) => workerAgent(await live.readAgent(id), only),
    openState: () =>
      openWorkerState({
        server,
        settings: agent.secrets,
        proxy: config.networkProxy,
        stateDir,
        env: io.env,
        clock,
        logger,
      }),
    ...(live.source.kind === "file" && { configFile: live.source.path }),
    network: { allow: config.networkAllow ?? [], env },
    stateDir,
    cwd: io.cwd,
    env: io.env,
    serverLogLevel: options.logLevel === "silent" ? undefined : options.logLevel,
    clock,
    logger,
  });
  const { http } = gateway;
  if (http !== undefined) {
    say(`The worker of ${only} listens on ${http.url}. Its token is ${http.tokenFile}`);
  }
  live.follow({
    apply: () => gateway.reload([agentId]),
    onUnapplied: (edit) => gateway.monitoring.showEdit(edit),
  });
  onHangup(() => live.reload());
  await aborted(signal);
  await gateway.close();
  say(`The worker of ${only} has stopped`);
  return EXIT.ok;
}

/**
 * A gateway without a file could not be given a server while it runs, and a file that is made later would be that of
 * another gateway. So your own is made, without servers.
 */
async function makeOwnFile(context: CliContext): Promise<void> {
  const { io } = context;
  if (findSource(context).kind === "file") return;
  checkHome(plugboardHome(io.env, io.homedir), io.env);
  const own: CliContext = { ...context, options: { ...context.options, agent: undefined } };
  const { source } = await openServerFile(undefined, own);
  await alone(source, own, async () => {
    const file = await openServerFile(undefined, own);
    const { original } = file;
    if (original.text !== undefined) return;
    const { text } = await withEditorSchema(file, source, own);
    await writeTextFile(original, setValue(text, ["mcpServers"], {}), modeOf(source));
  });
}

/** A server that keeps something would be another one in each gateway. */
async function tellUndecided(
  live: LiveConfig,
  { agentIds }: GatewayConfig,
  { logger }: CliContext,
): Promise<void> {
  const agents = await Promise.all(agentIds.map((id) => live.readAgent(id)));
  const names = [...new Set(agents.flatMap(undecidedServers))];
  if (names.length === 0) return;
  logger.warn(
    `each gateway starts a process of its own of ${oneLine(names.join(", "), MOST_NAMES)}; say "replicas": "each" if that is right, else "worker": docs/fleet.md says how`,
  );
}

type Say = (line: string) => void;

/** Starts the same command in the background, where all that it says goes into its log. */
async function startDetached(context: CliContext): Promise<number> {
  const { io, screen, options, argv } = context;
  const source = findSource(context);
  const own = argv.filter((word) => word !== "-d" && word !== "--detach");
  const running = await runningGateway(source, context);
  if (running !== undefined && running.background !== true) throw alreadyRuns(running);
  const started = await startGateway(source, ["--no-color", ...own, "--detached"], context);
  if (started.kind === "failed") {
    throw new PlugboardError("SERVER_UNAVAILABLE", `the gateway was not started: ${started.why}`, {
      hint: `everything that it said is in ${started.log}${started.hint === undefined ? "" : `; ${started.hint}`}`,
      quote: "",
    });
  }
  const gateway = await runningGateway(source, context);
  const url = gateway?.url === undefined ? undefined : `${gateway.url}/mcp`;
  if (options.json) screen.json({ pid: gateway?.pid, url, log: started.log });
  else {
    const { tokens } = openFileState(plugboardHome(io.env, io.homedir), { clock: context.clock });
    screen.lines([
      `The gateway runs in the background (pid ${gateway?.pid}) and listens on ${url}`,
      `The token is in ${tokens.defaultFile}`,
      "To look at it in a browser, and add servers there:",
      `  ${offeredCommand("ui", options)}`,
      "To see what it and its servers say:",
      `  ${offeredCommand("logs -f", options)}`,
      "To stop it:",
      `  ${offeredCommand("down", options)}`,
    ]);
  }
  return EXIT.ok;
}

function alreadyRuns({ pid, url }: RunningGateway): PlugboardError {
  const where = url === undefined ? "" : `, at ${url}/mcp`;
  return new PlugboardError("SYSTEM_ERROR", `a gateway runs already (pid ${pid}${where})`, {
    hint: "to stop it: plugboard down",
  });
}

/** Where every line of the log is JSON, so are these. */
function sayer({ io, logger, screen }: CliContext): Say {
  return (line) =>
    io.env["PLUGBOARD_LOG_FORMAT"] === "json"
      ? logger.info(line, { visit: "gateway" })
      : screen.note(line);
}

/** Only one gateway runs for a configuration. One that a command has started makes room for yours. */
async function replaceBackground(
  source: ConfigSource,
  say: Say,
  context: CliContext,
): Promise<void> {
  const running = await runningGateway(source, context);
  if (!running?.background) return;
  say(`This gateway takes the place of the one in the background (pid ${running.pid})`);
  await stopGateway(running, "up", context);
}

/** What follows from the configuration, the command line and the surroundings. */
function configuredBy(
  live: LiveConfig,
  config: GatewayConfig,
  command: UpRequest,
  context: CliContext,
): OpenGatewayOptions {
  const { io, options, clock, logger } = context;
  const { source } = live;
  const { background } = command;
  return {
    settings: withOptions(config.settings, command),
    agentIds: config.agentIds,
    readAgent: (id) => live.readAgent(id),
    openState: () => openGatewayState(live, config, context, true),
    fingerprint: () => live.fingerprint(),
    onReload: () => live.reload(),
    ...pageOfConfiguration(live, context),
    applications: () => pageApplications(context),
    defaultAgent: options.agent ?? DEFAULT_AGENT,
    ...(source.kind === "file" && { configFile: source.path }),
    network: { allow: config.networkAllow ?? [], env: withProxy(io.env, config.networkProxy) },
    stateDir: plugboardHome(io.env, io.homedir),
    cwd: io.cwd,
    env: io.env,
    serverLogLevel: options.logLevel === "silent" ? undefined : options.logLevel,
    ...(command.search && { search: true }),
    // Servers that nobody has used yet need not run for the one that is kept alive.
    ...(background && { http: false, background, start: "none" }),
    clock,
    logger,
  };
}

function sayWhere(
  { url, tokenFile }: NonNullable<OpenedGateway["http"]>,
  { agentIds }: GatewayConfig,
  say: Say,
): void {
  say(`The gateway listens on ${url}. The token is in ${tokenFile}`);
  const others = agentIds.slice(1);
  if (others.length > 0) {
    say(`Further agents, at /agents/<id>/mcp: ${oneLine(others.join(", "), MOST_NAMES)}`);
  }
}

/** Applies edits of the configuration from now on. `started` are the settings that the gateway was started with. */
function followEdits(
  live: LiveConfig,
  gateway: OpenedGateway,
  started: GatewaySettings,
  { logger, onHangup }: CliContext,
): void {
  const tellLater = onceEach((names) =>
    logger.warn(`${names} will be used when the gateway is started again`),
  );
  live.follow({
    apply: async () => {
      const next = await live.readGateway();
      const report = await gateway.reload(next.agentIds);
      // The boards have the edit by now, so it is applied, whatever becomes of the record.
      await gateway.writeRecord().catch((error: unknown) => {
        const why = oneLine(errorMessage(error), MOST_NAMES);
        logger.warn(
          `the gateway's record, by which other commands find it, could not be written, so they start servers of their own: ${why}; to try again: plugboard reload`,
        );
      });
      tellLater(gatewayDifferences(started, next.settings));
      return report;
    },
    onUnapplied: (edit) => gateway.monitoring.showEdit(edit),
  });
  onHangup(() => live.reload());
}

/** The settings that another start is needed for. */
function gatewayDifferences(started: GatewaySettings, now: GatewaySettings): string[] {
  const keys = Object.keys({ ...started, ...now }) as (keyof GatewaySettings)[];
  return keys.flatMap((key) =>
    isDeepStrictEqual(started[key], now[key]) ? [] : [`gateway.${key}`],
  );
}

function withOptions(settings: GatewaySettings, { host, port }: UpRequest): GatewaySettings {
  const chosen = { ...settings, ...(host && { host }), ...(port !== undefined && { port }) };
  const problem = bindingProblem(chosen);
  if (problem === undefined) return chosen;
  throw new PlugboardError("CONFIG_INVALID", `the host ${chosen.host} ${problem}`);
}
