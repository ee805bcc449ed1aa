// Where OpenClaw's gateway is, and what it asks for, by OpenClaw's own configuration and variables. Reads no file.

import { isJsonObject, valueIn } from "../core/types/json.ts";
import type { Environment } from "../util/environment.ts";
import type { GatewayAddress } from "./gateway-connection.ts";

const DEFAULT_PORT = 18_789;

export interface FoundGateway {
  address: GatewayAddress;
  /** It is on another machine, where `127.0.0.1` is not this one. */
  isRemote: boolean;
}

/** `given` is what somebody has said on the command line. An address that is given gets no credentials of another. */
export function gatewayAddress(
  config: unknown,
  env: Environment,
  given: Partial<GatewayAddress> = {},
): FoundGateway {
  const read = (...path: string[]): string | undefined => text(valueIn(config, path), env);
  const isRemote = read("gateway", "mode") === "remote";
  const named = given.url ?? (env["OPENCLAW_GATEWAY_URL"]?.trim() || undefined);
  const remote = isRemote ? read("gateway", "remote", "url") : undefined;
  const url = named ?? remote ?? localUrl(config, env);
  return {
    address: {
      url,
      ...(given.url === undefined && secrets(read, env, { isRemote, named })),
      ...given,
    },
    // A tunnel ends on this machine, and the gateway is on the other one.
    isRemote: !isLoopback(url) || url === remote,
  };
}

function localUrl(config: unknown, env: Environment): string {
  const port = Number(env["OPENCLAW_GATEWAY_PORT"] || valueIn(config, ["gateway", "port"]));
  const isTls = valueIn(config, ["gateway", "tls", "enabled"]) === true;
  return `${isTls ? "wss" : "ws"}://127.0.0.1:${Number.isInteger(port) && port > 0 ? port : DEFAULT_PORT}`;
}

/** In OpenClaw's order: the configuration before the environment, and only the environment for an address from there. */
function secrets(
  read: (...path: string[]) => string | undefined,
  env: Environment,
  { isRemote, named }: { isRemote: boolean; named: string | undefined },
): Partial<GatewayAddress> {
  const places = isRemote ? ["remote", "auth"] : ["auth", "remote"];
  const found = (key: "token" | "password"): string | undefined => {
    const variable = env[`OPENCLAW_GATEWAY_${key.toUpperCase()}`]?.trim() || undefined;
    if (named !== undefined) return variable;
    const [first, second] = places.map((place) => read("gateway", place, key));
    return first ?? variable ?? second;
  };
  const [token, password] = [found("token"), found("password")];
  return { token, password };
}

/** With its variables; undefined where one is not set, and for a reference to a secret, which OpenClaw alone resolves. */
function text(value: unknown, env: Environment): string | undefined {
  const isVariable = isJsonObject(value) && value["source"] === "env";
  if (isVariable) return env[String(value["id"])] || undefined;
  if (typeof value !== "string" || value === "") return undefined;
  let isWhole = true;
  const resolved = value.replace(/\$\{([A-Z_][A-Z0-9_]*)\}/g, (_, name: string) => {
    isWhole &&= Boolean(env[name]);
    return env[name] ?? "";
  });
  return isWhole ? resolved : undefined;
}

function isLoopback(url: string): boolean {
  return (
    URL.canParse(url) && /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(new URL(url).hostname)
  );
}
