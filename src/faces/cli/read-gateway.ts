// Reads the settings of the gateway from the configuration that the command names or finds.

import { type GatewayConfig, gatewaySettings, loadGateway } from "../../config/gateway.ts";
import type { CliContext } from "./context.ts";
import { findSource } from "./open.ts";

export async function readGateway(context: CliContext): Promise<GatewayConfig> {
  const source = findSource(context);
  const { cwd, homedir } = context.io;
  if (source.kind !== "file") return { settings: gatewaySettings(), agentIds: ["default"] };
  return loadGateway(source.path, { cwd, homedir });
}
