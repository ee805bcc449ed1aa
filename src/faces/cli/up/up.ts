// `plugboard up`: the gateway, until a signal stops it.

import { isDeepStrictEqual } from "node:util";
import { placeOf } from "../../../config/find.ts";
import { plugboardHome } from "../../../config/home.ts";
import { type AgentConfig, DEFAULT_AGENT } from "../../../model/agent-config.ts";
import { PlugboardError } from "../../../model/errors.ts";
import type { GatewaySettings } from "../../../model/gateway-settings.ts";
import { bindingProblem } from "../../../net/binding.ts";
import { withProxy } from "../../../net/proxy-env.ts";
import { oneLine } from "../../../util/text.ts";
import {
  openGateway,
  type OpenedGateway,
  type OpenGatewayOptions,
} from "../../gateway/open-gateway.ts";
import { runningGateway } from "../attach/find-channel.ts";
import { gatewayFingerprint } from "../attach/gateway-fingerprint.ts";
import type { CliContext } from "../context.ts";
import { stopGateway } from "../control/control.ts";
import { EXIT } from "../exit-code.ts";
import { logInBackground, openUnlessRunning, tellReady } from "../keep-alive/background.ts";
import { IdleEnd } from "../keep-alive/idle-end.ts";
import { LiveConfig, onceEach } from "../live-config.ts";
import type { UpCommand } from "./command.ts";
import { liveView } from "./live-view.ts";

/** How often the view on a terminal is drawn anew. */
const VIEW_MS = 1000;
/** How many characters of the agents' names are shown. */
const MOST_NAMES = 500;

export async function runUp(command: UpCommand, context: CliContext): Promise<number> {
  const { io, logger, clock, signal, screen, options } = context;
  /** Where every line is JSON, so are these. */
  const say = (line: string): void =>
    io.env["PLUGBOARD_LOG_FORMAT"] === "json"
      ? logger.info(line, { visit: "gateway" })
      : screen.note(line);
  const live = await LiveConfig.open(context);
  const { source } = live;
  const config = await live.readGateway();
  const running = await runningGateway(source, context);
  if (running?.background && !command.background) {
    say(`This gateway takes the place of the one in the background (pid ${running.pid})`);
    await stopGateway(running, "up", context);
  }
  const readOne = (id: string): Promise<AgentConfig> => live.readAgent(id);
  /** Aborted by `plugboard down`. */
  const stopping = new AbortController();
  const { background } = command;
  const place = source.kind === "file" ? placeOf(source.path) : undefined;
  if (background) logInBackground(place, context);
  const idle = background
    ? new IdleEnd(clock, config.settings.idleTimeout, () => stopping.abort())
    : undefined;
  const gatewayOptions: OpenGatewayOptions = {
    settings: withOptions(config.settings, command),
    agentIds: config.agentIds,
    readAgent: readOne,
    // An edit may be on disk by now that is not applied.
    fingerprint: (applied = live.hash) => gatewayFingerprint(source, readOne, context, applied),
    onStop: () => stopping.abort(),
    onReload: () => live.reload(),
    defaultAgent: options.agent ?? DEFAULT_AGENT,
    ...(source.kind === "file" && { configFile: source.path }),
    network: { allow: config.networkAllow ?? [], env: withProxy(io.env, config.networkProxy) },
    stateDir: plugboardHome(io.env, io.homedir),
    cwd: io.cwd,
    env: io.env,
    serverLogLevel: options.logLevel === "silent" ? undefined : options.logLevel,
    // Servers that nobody has used yet need not run for the one that is kept alive.
    ...(background && { http: false, background, start: "none" }),
    ...(idle && { onAttached: () => idle.attached() }),
    clock,
    logger,
  };
  const open = (): Promise<OpenedGateway> => openGateway(gatewayOptions);
  const gateway = background ? await openUnlessRunning(open, place, context) : await open();
  tellReady(command.readyFd);
  if (gateway === undefined) return EXIT.ok;
  const { http, seeing } = gateway;
  const tellLater = onceEach((names) =>
    logger.warn(`${names} will be used when the gateway is started again`),
  );
  const ending = AbortSignal.any([signal, stopping.signal]);
  const view = screen.live(liveView(seeing, http?.url, { ...context, signal: ending }), {
    everyMs: VIEW_MS,
    isWhole: true,
  });
  if (http !== undefined) {
    say(`The gateway listens on ${http.url}. The token is in ${http.tokenFile}`);
    const others = config.agentIds.slice(1);
    if (others.length > 0) {
      say(`Further agents, at /agents/<id>/mcp: ${oneLine(others.join(", "), MOST_NAMES)}`);
    }
  }
  live.follow({
    apply: async () => {
      const next = await live.readGateway();
      const report = await gateway.reload(next.agentIds);
      await gateway.renote(live.hash);
      tellLater(gatewayDifferences(config.settings, next.settings));
      return report;
    },
    onHeld: (held) => seeing.hold(held),
  });
  context.onHangup(() => live.reload());
  await aborted(ending);
  idle?.stop();
  await live.close();
  await gateway.close();
  // Until here the view shows what the gateway still waits for.
  view.stop();
  say("The gateway has stopped");
  return EXIT.ok;
}

/** The settings that another start is needed for. */
function gatewayDifferences(started: GatewaySettings, now: GatewaySettings): string[] {
  const keys = Object.keys({ ...started, ...now }) as (keyof GatewaySettings)[];
  return keys.flatMap((key) =>
    isDeepStrictEqual(started[key], now[key]) ? [] : [`gateway.${key}`],
  );
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
