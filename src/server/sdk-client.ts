// Where the MCP SDK is used: on top of a transport whose handshake is done. It answers the server's
// requests and hears its notifications.

import type { Client, Transport } from "@modelcontextprotocol/client";
import { PlugboardError } from "../model/errors.ts";
import type { ContentChange } from "../model/server-content.ts";
import { oneLine } from "../util/text.ts";
import type { Wire } from "./carrier.ts";
import type { Handshake, HostInfo } from "./handshake.ts";
import type { Dialogue } from "./requests/dialogue.ts";
import { passOnRequests } from "./requests/sdk-handlers.ts";

type Sdk = typeof import("@modelcontextprotocol/client");

export interface AttachOptions {
  transport: Wire;
  handshake: Handshake;
  host: HostInfo;
  /** Answers what the server asks. */
  dialogue: Dialogue;
  timeout: number;
  onToolsChanged: () => void;
  onContentChange: (change: ContentChange) => void;
  onError: (error: Error) => void;
}

export async function attachClient(sdk: Sdk, options: AttachOptions): Promise<Client> {
  const { handshake, transport, timeout } = options;
  const client = new sdk.Client(options.host, { capabilities: options.dialogue.capabilities });
  client.onerror = options.onError;
  passOnRequests(sdk, client, options.dialogue);
  client.setNotificationHandler("notifications/tools/list_changed", () => options.onToolsChanged());
  const { onContentChange } = options;
  client.setNotificationHandler("notifications/resources/list_changed", () =>
    onContentChange({ kind: "resources" }),
  );
  client.setNotificationHandler("notifications/prompts/list_changed", () =>
    onContentChange({ kind: "prompts" }),
  );
  client.setNotificationHandler("notifications/resources/updated", ({ params }) =>
    onContentChange({ kind: "updated", uri: params.uri }),
  );
  try {
    if (handshake.era === "legacy") {
      transport.adoptInitializeResult(handshake.initialize);
      await client.connect(transport, { timeout });
    } else {
      // oxlint-disable-next-line no-unsafe-type-assertion -- connect() validates it
      const discover = handshake.discover as Parameters<typeof connectModern>[1];
      await connectModern(client, discover, transport, timeout);
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

function asPlugboardError(error: unknown, code: PlugboardError["code"]): PlugboardError {
  if (error instanceof PlugboardError) return error;
  const message = oneLine(error instanceof Error ? error.message : String(error), 2000);
  return new PlugboardError(code, message, { cause: error });
}
