// A connection to Valkey: which one, how it is reached, and how long it may take to answer.

import type { ValkeySettings } from "../../types/gateway-settings.ts";
import { driver, type ImportOptional, readTlsFiles } from "./driver.ts";

/** A call waits for this. */
const ANSWER_MS = 500;
const CONNECT_MS = 2000;
const RETRY_MS = 1000;
const DEFAULT_PORT = 6379;
const DEFAULT_SENTINEL_PORT = 26_379;
const PACKAGE = { name: "iovalkey", install: "iovalkey" };

/** The part of `iovalkey` that is used. */
export interface ValkeyClient {
  connect(): Promise<void>;
  disconnect(): void;
  on(event: "error", listener: (error: unknown) => void): void;
  on(event: "close", listener: () => void): void;
  defineCommand(name: string, script: { lua: string }): void;
  plugboardTake(keys: number, ...args: readonly (string | number)[]): Promise<unknown>;
  plugboardGiveBack(keys: number, ...args: readonly (string | number)[]): Promise<unknown>;
  plugboardEnter(keys: 1, ...args: readonly (string | number)[]): Promise<unknown>;
  plugboardStay(keys: number, ...args: readonly (string | number)[]): Promise<unknown>;
  zrem(key: string, member: string): Promise<unknown>;
}

export interface Valkey {
  /** For people, without credentials. */
  where: string;
  client: ValkeyClient;
  isTls: boolean;
}

/** Not connected yet. Rejects with CONFIG_INVALID if the driver is not installed or a file cannot be read. */
export async function openValkey(
  settings: ValkeySettings,
  importOptional: ImportOptional,
): Promise<Valkey> {
  const loaded = await driver(PACKAGE, importOptional);
  const { Redis } = loaded as unknown as { Redis: new (given: object) => ValkeyClient };
  const { where, address } = addressIn(settings);
  const client = new Redis({
    ...address,
    ...(settings.password !== undefined && { password: settings.password }),
    ...(settings.tls && { tls: await readTlsFiles(settings.tls, address.host ?? "") }),
    lazyConnect: true,
    connectTimeout: CONNECT_MS,
    commandTimeout: ANSWER_MS,
    // A call must not wait until it is there again.
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    enableAutoPipelining: true,
    // `ValkeyLimits` already puts the takes of one turn of the event loop into one command, which must not wait for another.
    autoPipeliningIgnoredCommands: ["plugboardTake"],
    retryStrategy: (tries: number) => Math.min(100 * tries, RETRY_MS),
  });
  return { where, client, isTls: Boolean(settings.tls) };
}

interface Address {
  host?: string;
  [option: string]: unknown;
}

function addressIn({ url, sentinels = [], primary }: ValkeySettings): {
  where: string;
  address: Address;
} {
  const { hostname, port, username, pathname } = new URL(url);
  const host = hostname.replace(/^\[(.*)\]$/, "$1");
  const shared = {
    ...(username !== "" && { username: decodeURIComponent(username) }),
    db: Number(pathname.slice(1) || 0),
  };
  if (sentinels.length === 0) {
    const own = { host, port: Number(port || DEFAULT_PORT) };
    return { where: `${host}:${own.port}`, address: { ...own, ...shared } };
  }
  const asked = sentinels.map((each) => {
    const { hostname: name, port: at } = new URL(`valkey://${each}`);
    return { host: name, port: Number(at || DEFAULT_SENTINEL_PORT) };
  });
  return { where: sentinels.join(", "), address: { sentinels: asked, name: primary, ...shared } };
}
