// Where the MCP SDK is used: on top of a transport whose handshake is done. It passes on the server's
// requests and notifications.

import type { Client } from "@modelcontextprotocol/client";
import { type ErrorCode, PlugboardError } from "../../model/errors.ts";
import type { ContentChange } from "../../model/server-content.ts";
import { errorMessage } from "../../util/error-message.ts";
import { oneLine } from "../../util/text.ts";
import type { RequestRouter } from "../requests/request-router.ts";
import { REQUEST_METHODS, type RequestMethod } from "../requests/server-requests.ts";
import type { Wire } from "../transport/carrier.ts";
import type { Handshake, Implementation } from "./handshake.ts";

type Sdk = typeof import("@modelcontextprotocol/client");

export interface AttachOptions {
  transport: Wire;
  handshake: Handshake;
  host: Implementation;
  router: RequestRouter;
  timeout: number;
  onToolsChanged: () => void;
  onContentChange: (change: ContentChange) => void;
  onError: (error: Error) => void;
}

export async function attachClient(sdk: Sdk, options: AttachOptions): Promise<Client> {
  const { handshake, transport, router, timeout, onToolsChanged, onContentChange } = options;
  const client = new sdk.Client(options.host, { capabilities: router.requests.capabilities });
  client.onerror = options.onError;
  // All handlers are set before the client connects, because a server may ask at once.
  for (const method of REQUEST_METHODS) {
    if (router.requests.supports(method)) passOnRequests(method, sdk, client, router);
  }
  client.setNotificationHandler("notifications/message", ({ params }) => router.log.write(params));
  transport.onlog = (params, request) => router.log.write(params, request);
  client.setNotificationHandler("notifications/elicitation/complete", ({ params }) =>
    router.requests.completed(params),
  );
  client.setNotificationHandler("notifications/tools/list_changed", () => onToolsChanged());
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
      transport.adoptInitializeResult(handshake.statement);
      await client.connect(transport, { timeout });
    } else {
      // oxlint-disable-next-line no-unsafe-type-assertion -- connect() validates it
      const discover = handshake.statement as ModernPrior["discover"];
      await client.connect(transport, { prior: { kind: "modern", discover }, timeout });
    }
  } catch (error) {
    if (error instanceof PlugboardError) throw error;
    const message = oneLine(errorMessage(error), 2000);
    throw new PlugboardError("HANDSHAKE_FAILED", message, { cause: error });
  }
  return client;
}

type Prior = NonNullable<NonNullable<Parameters<Client["connect"]>[1]>["prior"]>;
type ModernPrior = Extract<Prior, { kind: "modern" }>;

/** JSON-RPC codes for our own; -1 is the protocol's code for what a person declined. */
const WIRE_CODES: Partial<Record<ErrorCode, number>> = {
  NOT_APPROVED: -1,
  CANCELLED: -1,
  RATE_LIMITED: -32000,
  PROTOCOL: -32602,
};
const INTERNAL_ERROR = -32603;

function passOnRequests(
  method: RequestMethod,
  sdk: Sdk,
  client: Client,
  router: RequestRouter,
): void {
  client.setRequestHandler(method, async ({ params }, { mcpReq }) => {
    try {
      // oxlint-disable-next-line no-unsafe-type-assertion -- the SDK checks it before it is sent
      return (await router.answer(method, params, mcpReq.signal)) as never;
    } catch (error) {
      const reason = error instanceof PlugboardError ? error : undefined;
      const code = (reason && WIRE_CODES[reason.code]) ?? INTERNAL_ERROR;
      throw new sdk.ProtocolError(code, reason?.message ?? "the request could not be answered");
    }
  });
}
