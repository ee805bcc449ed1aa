// Reads the settings of the gateway from the configuration that the command names or finds.

import { isDeepStrictEqual } from "node:util";
import { type GatewayConfig, gatewaySettings, loadGateway } from "../../config/gateway.ts";
import { DEFAULT_AGENT } from "../../model/agent-config.ts";
import { visible } from "../../util/visible.ts";
import type { CliContext } from "./context.ts";
import { findSource } from "./open.ts";
import { needsTrust } from "./trust/needs-trust.ts";
import { judgeFile } from "./trust/require-trust.ts";

/**
 * Of a file that nobody has trusted, only the names of the agents are used: its settings could open the gateway to the
 * network, to web pages, or to whoever somebody else's issuer vouches for.
 */
export async function readGateway(context: CliContext): Promise<GatewayConfig> {
  const source = findSource(context);
  const { io, logger } = context;
  const unconfigured = gatewaySettings();
  if (source.kind !== "file") return { settings: unconfigured, agentIds: [DEFAULT_AGENT] };
  const config = await loadGateway(source.path, { cwd: io.cwd, homedir: io.homedir });
  if (!needsTrust(source, io)) return config;
  const { trust } = await judgeFile(source.path, io);
  if (trust.kind === "trusted") return config;
  if (!isDeepStrictEqual(config.settings, unconfigured)) {
    logger.warn(
      `${visible(source.path)} is not trusted, so its settings of the gateway are not used; if you trust it, run in its directory: plugboard trust`,
    );
  }
  return { settings: unconfigured, agentIds: config.agentIds };
}
