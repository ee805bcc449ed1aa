// A connection to Valkey: which one, how it is reached, and how long it may take to answer.

import type { Socket } from "node:net";
import { PlugboardError } from "../../types/errors.ts";
import type { ValkeySettings } from "../../types/gateway-settings.ts";
import { driver, type ImportOptional, readTlsFiles } from "./driver.ts";
import { guardAnswers } from "./valkey-answers.ts";

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
  /** `true`: it connects again. */
  disconnect(reconnect?: boolean): void;
  on(event: "error", listener: (error: unknown) => void): void;
  on(event: "close", listener: () => void): void;
  defineCommand(name: string, script: { lua: string }): void;
  plugboardTake(keys: number, ...args: readonly (string | number)[]): Promise<unknown>;
  plugboardGiveBack(keys: number, ...args: readonly (string | number)[]): Promise<unknown>;
  plugboardEnter(keys: 1, ...args: readonly (string | number)[]): Promise<unknown>;
  plugboardStay(keys: number, ...args: readonly (string | number)[]): Promise<unknown>;
  zrem(key: string, member: string): Promise<unknown>;
}

/** What of the driver is watched, for each connection to Valkey and to its sentinels. */
interface Connecting {
  readonly stream: Socket;
  readonly connector?: {
    connectToSentinel?: (...given: unknown[]) => Connecting;
    check?: (info: unknown) => boolean;
  };
  on(event: "connect", listener: () => void): void;
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
  const { Redis } = loaded as unknown as {
    Redis: new (given: object) => ValkeyClient & Connecting;
  };
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
  guardConnections(client);
  return { where, client, isTls: Boolean(settings.tls) };
}

/** The driver says that it is connected before it gets the first byte. */
function guardConnections(client: Connecting): void {
  client.on("connect", () => guardAnswers(client.stream));
  const { connector } = client;
  const toSentinel = connector?.connectToSentinel?.bind(connector);
  if (connector === undefined || toSentinel === undefined) return;
  connector.connectToSentinel = (...given) => {
    const sentinel = toSentinel(...given);
    sentinel.on("connect", () => guardAnswers(sentinel.stream));
    return sentinel;
  };
  // It looks for the role in what INFO answers, which may be nothing.
  const check = connector.check?.bind(connector);
  connector.check = (info) => info !== null && check?.(info) !== false;
}

/** A whole number from 0 to `most`. Throws PROTOCOL for anything else: Valkey, or whoever is in its place, answers wrongly. */
export function numberIn(answer: unknown, most: number): number {
  if (Number.isSafeInteger(answer) && Number(answer) >= 0 && Number(answer) <= most) {
    return Number(answer);
  }
  throw new PlugboardError("PROTOCOL", "it answers something else than it was asked");
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
