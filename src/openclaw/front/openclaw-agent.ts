// OpenClaw as the agent behind the front: where its gateway is, by OpenClaw's own configuration, and what its ACP side is
// told of it.

import { places } from "../../core/config/foreign/places.ts";
import { readDocument } from "../../core/config/text/read.ts";
import { PlugboardError } from "../../core/types/errors.ts";
import { gatewayAddress } from "../gateway-address.ts";
import type { GatewayAddress } from "../gateway-connection.ts";
import type { Environment } from "../../util/environment.ts";
import { pathExists } from "../../util/path-exists.ts";

export interface OpenclawAgent {
  address: GatewayAddress;
  /** Variables for the agent beside the environment of the front. */
  env: Readonly<Record<string, string>>;
}

export interface OpenclawAgentOptions {
  /** The gateway's address, if somebody has given one. */
  url: string | undefined;
  platform: NodeJS.Platform;
  env: Environment;
  homedir: string;
  cwd: string;
}

/**
 * Rejects with CONFIG_INVALID for a configuration that cannot be read, for a gateway on another machine, and for an address
 * with credentials in it.
 */
export async function findOpenclaw({
  url,
  ...where
}: OpenclawAgentOptions): Promise<OpenclawAgent> {
  const config = await readConfig(where);
  const { address, isRemote } = addressOf(config, where.env, url);
  if (!/^wss?:/.test(address.url) || !URL.canParse(address.url)) {
    throw new PlugboardError("CONFIG_INVALID", `'${address.url}' is not the address of a gateway`, {
      hint: "give one such as ws://127.0.0.1:18789",
    });
  }
  const { username, password } = new URL(address.url);
  if (username !== "" || password !== "") {
    throw new PlugboardError(
      "CONFIG_INVALID",
      "the address of OpenClaw's gateway has a name or a password in it, which would be in every message",
      { hint: "leave it out, and set OPENCLAW_GATEWAY_PASSWORD or OPENCLAW_GATEWAY_TOKEN" },
    );
  }
  if (isRemote) {
    throw new PlugboardError(
      "CONFIG_INVALID",
      `the gateway of OpenClaw at ${address.url} is on another machine, and cannot reach the servers here`,
      { hint: "run 'plugboard acp --openclaw' on the machine of the gateway" },
    );
  }
  return {
    address,
    // Without an address of ours it finds the gateway and its token as we have found them. In the environment, because
    // everybody on the machine can read arguments.
    env: url === undefined ? {} : variables(address),
  };
}

async function readConfig(where: Omit<OpenclawAgentOptions, "url">): Promise<unknown> {
  const files = places(where).filter(({ application }) => application === "openclaw");
  for (const { path } of files) {
    // oxlint-disable-next-line no-await-in-loop -- the first that is there
    if (await pathExists(path)) return (await readDocument(path)).value;
  }
  return undefined;
}

/** For an address that was given, the variables count first: the configuration may be about another gateway. */
function addressOf(
  config: unknown,
  env: Environment,
  url: string | undefined,
): ReturnType<typeof gatewayAddress> {
  if (url === undefined) return gatewayAddress(config, env);
  const { OPENCLAW_GATEWAY_TOKEN: token, OPENCLAW_GATEWAY_PASSWORD: password } = env;
  const isGiven = Boolean(token || password);
  const { address } = gatewayAddress(isGiven ? undefined : config, env);
  const { url: _, ...secrets } = address;
  return gatewayAddress(config, env, { ...secrets, url });
}

function variables({ url, token, password }: GatewayAddress): Record<string, string> {
  return {
    OPENCLAW_GATEWAY_URL: url,
    ...(token !== undefined && { OPENCLAW_GATEWAY_TOKEN: token }),
    ...(password !== undefined && { OPENCLAW_GATEWAY_PASSWORD: password }),
  };
}
