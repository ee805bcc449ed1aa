// Opens the state that processes share, as the configuration says: in the files of this machine, or in PostgreSQL and Valkey.

import { isIPv6 } from "node:net";
import { resolveValue } from "../config/resolve.ts";
import { PlugboardError } from "../types/errors.ts";
import { SHORTEST_KEY, type SharedSettings } from "../types/gateway-settings.ts";
import type { SharedState } from "../types/shared-state.ts";
import { openFileState } from "../state/files/open.ts";
import type { AgentSecrets, AgentSecretsOptions } from "./agent-secrets.ts";

export interface OpenSharedStateOptions extends Pick<
  AgentSecretsOptions,
  "settings" | "proxy" | "env" | "clock" | "logger"
> {
  /** Undefined: in files. */
  shared: SharedSettings | undefined;
  stateDir: string;
  /** A gateway; false for a command. */
  isReplica: boolean;
}

/** Rejects if a reference cannot be resolved, or an engine cannot be used. With files it never does. */
export async function openSharedState(options: OpenSharedStateOptions): Promise<SharedState> {
  const { shared, stateDir, isReplica, clock, logger } = options;
  if (shared === undefined) return openFileState(stateDir, { clock, logger });
  const [{ openEngineState }, { AgentSecrets: Secrets }] = await Promise.all([
    import("../state/engines/open.ts"),
    import("./agent-secrets.ts"),
  ]);
  const secrets = new Secrets(options);
  try {
    const settings = await withValues(shared, secrets, options);
    return await openEngineState({ settings, stateDir, isReplica, clock, logger });
  } finally {
    await secrets.close();
  }
}

async function withValues(
  shared: SharedSettings,
  secrets: AgentSecrets,
  { env }: OpenSharedStateOptions,
): Promise<SharedSettings> {
  const fill = (value: string, key: string): Promise<string> =>
    resolveValue(value, `gateway.shared.${key}`, env, (needed) => secrets.resolve(needed));
  const withPassword = async <Engine extends { password?: string }>(
    engine: Engine,
    key: string,
  ): Promise<Engine> => {
    const { password } = engine;
    return password === undefined
      ? engine
      : { ...engine, password: await fill(password, `${key}.password`) };
  };
  const { postgres, valkey, keys, replica } = shared;
  return {
    ...shared,
    ...(replica && {
      replica: { url: await replicaUrl(replica.url, (each) => fill(each, "replica.url")) },
    }),
    postgres: await withPassword(postgres, "postgres"),
    ...(valkey && { valkey: await withPassword(valkey, "valkey") }),
    keys: await Promise.all(
      keys.map(async (each, at) => longEnough(await fill(each, `keys[${at}]`), at)),
    ),
  };
}

/** The configuration is checked before references are filled in. */
function longEnough(key: string, at: number): string {
  if (key.length >= SHORTEST_KEY) return key;
  throw new PlugboardError(
    "CONFIG_INVALID",
    `gateway.shared.keys[${at}] is shorter than ${SHORTEST_KEY} characters`,
    { hint: "to make one: openssl rand -base64 32" },
  );
}

/** With the variables filled in. An address of IPv6 comes without the brackets that it has in a URL. */
export async function replicaUrl(
  url: string,
  fill: (part: string) => Promise<string>,
): Promise<string> {
  const [, scheme = "", host = "", rest = ""] = /^(https?:\/\/)(\$\{[^}]*\})(.*)$/.exec(url) ?? [];
  if (host === "") return originOf(await fill(url));
  const address = await fill(host);
  const end = rest === "" ? "" : await fill(rest);
  return originOf(`${scheme}${isIPv6(address) ? `[${address}]` : address}${end}`);
}

/** Requests are passed on under the path that they came with. */
function originOf(url: string): string {
  const { origin = "null", pathname = "", search = "" } = URL.canParse(url) ? new URL(url) : {};
  if (/^https?:/.test(origin) && pathname === "/" && search === "") return origin;
  throw new PlugboardError(
    "CONFIG_INVALID",
    "gateway.shared.replica.url is not the address of a gateway",
    { hint: "give it one such as http://10.0.0.7:7777, without a path" },
  );
}
