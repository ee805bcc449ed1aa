// Where the MCP SDK is used: on top of a transport whose handshake is done. It answers the server's
// requests, hears its notifications and, in 2026-07-28, keeps the subscription that brings them.

import type { Client, ElicitResult, Transport } from "@modelcontextprotocol/client";
import { PlugboardError } from "../model/errors.ts";
import type { JsonObject } from "../model/json.ts";
import { oneLine } from "../util/text.ts";
import type { Wire } from "./carrier.ts";
import type { Elicit } from "./elicit.ts";
import type { Handshake, HostInfo } from "./handshake.ts";

type Sdk = typeof import("@modelcontextprotocol/client");

const RELISTEN_MS = 1000;
const LONGEST_RELISTEN_MS = 30_000;

export interface AttachOptions {
  transport: Wire;
  handshake: Handshake;
  host: HostInfo;
  capabilities: JsonObject;
  timeout: number;
  /** Answers the server's questions to a person. */
  elicit?: Elicit;
  onToolsChanged: () => void;
  onError: (error: Error) => void;
}

export async function attachClient(sdk: Sdk, options: AttachOptions): Promise<Client> {
  const { handshake, transport, timeout } = options;
  const client = new sdk.Client(options.host, { capabilities: options.capabilities });
  client.onerror = options.onError;
  const { elicit } = options;
  if (elicit !== undefined) {
    client.setRequestHandler("elicitation/create", async ({ params }) => {
      // oxlint-disable-next-line no-unsafe-type-assertion -- the SDK checks it before it is sent
      return (await elicit(params)) as ElicitResult;
    });
  }
  client.setNotificationHandler("notifications/tools/list_changed", () => options.onToolsChanged());
  try {
    if (handshake.era === "legacy") {
      transport.adoptInitializeResult(handshake.initialize);
      await client.connect(transport, { timeout });
    } else {
      // oxlint-disable-next-line no-unsafe-type-assertion -- connect() validates it
      const discover = handshake.discover as Parameters<typeof connectModern>[1];
      await connectModern(client, discover, transport, timeout);
      void listen(client, options);
    }
  } catch (error) {
    throw asPlugboardError(error, "HANDSHAKE_FAILED");
  }
  return client;
}

type Prior = NonNullable<NonNullable<Parameters<Client["connect"]>[1]>["prior"]>;

function connectModern(
  client: Client,
  discover: Extract<Prior, { kind: "modern" }>["discover"],
  transport: Transport,
  timeout: number,
): Promise<void> {
  return client.connect(transport, { prior: { kind: "modern", discover }, timeout });
}

/** 2026-07-28 sends list changes only to those who listen; a stream that ends is opened again. */
async function listen(
  client: Client,
  { timeout, onError, onToolsChanged }: AttachOptions,
): Promise<void> {
  if (client.getServerCapabilities()?.tools?.listChanged !== true) return;
  for (let wait = RELISTEN_MS; ; wait = Math.min(wait * 2, LONGEST_RELISTEN_MS)) {
    const started = performance.now();
    try {
      const subscription = await client.listen({ toolsListChanged: true }, { timeout });
      if ((await subscription.closed) === "local") return;
      if (performance.now() - started > LONGEST_RELISTEN_MS) wait = RELISTEN_MS;
    } catch (error) {
      onError(asPlugboardError(error, "PROTOCOL"));
    }
    if (client.transport === undefined) return;
    await new Promise((resolve) => setTimeout(resolve, wait).unref());
    if (client.transport === undefined) return;
    // What changed meanwhile was not heard.
    onToolsChanged();
  }
}

function asPlugboardError(error: unknown, code: PlugboardError["code"]): PlugboardError {
  if (error instanceof PlugboardError) return error;
  const message = oneLine(error instanceof Error ? error.message : String(error), 2000);
  return new PlugboardError(code, message, { cause: error });
}
