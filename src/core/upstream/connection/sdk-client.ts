// Where the MCP SDK is used: on top of a transport whose handshake is done. It passes on the server's
// requests and notifications. It is loaded with the first request: most servers never send any, and the SDK costs more
// than everything else that a start needs. Until then, simple reports are passed on here.

import type { Client, JSONRPCMessage, ServerCapabilities } from "@modelcontextprotocol/client";
import { type ErrorCode, PlugboardError, toPlugboardError } from "../../types/errors.ts";
import type { ContentChange } from "../../types/server-content.ts";
import { errorMessage } from "../../../util/error-message.ts";
import { oneLine } from "../../../util/text.ts";
import type { RequestRouter } from "../requests/request-router.ts";
import { REQUEST_METHODS, type RequestMethod } from "../requests/server-requests.ts";
import type { Wire } from "../transport/carrier.ts";
import type { Handshake, Implementation } from "./handshake.ts";
import { MessageTurns } from "./message-turns.ts";

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
  /** The SDK cannot be loaded, or does not take the handshake: nobody answers what the server asks. */
  onFailed: (error: PlugboardError) => void;
}

const loadSdk = (): Promise<Sdk> => import("@modelcontextprotocol/client");

/** Never rejects: whoever needs it later gets the failure. */
export async function preloadSdk(): Promise<void> {
  await loadSdk().catch(() => {});
}

export class SdkClient implements Pick<
  Client,
  "transport" | "getServerCapabilities" | "listen" | "sendRootsListChanged"
> {
  readonly #options: AttachOptions;
  /** What the server sends waits here while the SDK is being loaded. */
  readonly #turns: MessageTurns;
  /** The SDK's own. */
  #deliver: Wire["onmessage"];
  #attached: Promise<Client> | undefined;
  #isOver = false;

  constructor(options: AttachOptions) {
    this.#options = options;
    const { transport, router } = options;
    this.#turns = new MessageTurns({
      handOver: (message) => this.#handOver(message),
      onWait: (id) => router.arrived(id),
      onDone: (id) => router.forgetArrived(id),
    });
    transport.onmessage = (message) => {
      if (this.#hear(message)) return;
      this.#turns.take(message);
      this.#attach().catch(() => {});
    };
    transport.room = () => this.#turns.room();
    transport.onerror = options.onError;
    transport.onclose = () => {
      this.#isOver = true;
      this.#turns.end();
    };
    transport.onlog = (params, request) => router.log.write(params, request);
  }

  /** Undefined when the conversation is over. */
  get transport(): Wire | undefined {
    return this.#isOver ? undefined : this.#options.transport;
  }

  getServerCapabilities(): ServerCapabilities {
    // oxlint-disable-next-line no-unsafe-type-assertion -- the handshake has kept nothing else
    return this.#options.handshake.statement.capabilities as ServerCapabilities;
  }

  async listen(...args: Parameters<Client["listen"]>): ReturnType<Client["listen"]> {
    return (await this.#attach()).listen(...args);
  }

  /** Without the SDK, so that no call overtakes it. */
  sendRootsListChanged(): Promise<void> {
    return this.#options.transport.send({
      jsonrpc: "2.0",
      method: "notifications/roots/list_changed",
    });
  }

  /** Takes reports at once, so that none comes after the result of the call that it belongs to. */
  #hear(message: JSONRPCMessage): boolean {
    const { router, onToolsChanged, onContentChange } = this.#options;
    switch ("method" in message && !("id" in message) && message.method) {
      case "notifications/message":
        router.log.write("params" in message ? message.params : undefined);
        return true;
      case "notifications/tools/list_changed":
        onToolsChanged();
        return true;
      case "notifications/resources/list_changed":
        onContentChange({ kind: "resources" });
        return true;
      case "notifications/prompts/list_changed":
        onContentChange({ kind: "prompts" });
        return true;
      default:
        return false;
    }
  }

  /** Rejects with a PlugboardError. */
  #attach(): Promise<Client> {
    this.#attached ??= loadSdk()
      .then((sdk) => attachClient(sdk, this.#options))
      .then((client) => {
        const { transport } = this.#options;
        this.#deliver = transport.onmessage;
        transport.onmessage = (message) => this.#turns.take(message);
        this.#turns.release();
        return client;
      })
      .catch((error: unknown) => {
        const message = oneLine(errorMessage(error), 2000);
        const failure = new PlugboardError("HANDSHAKE_FAILED", message, { cause: error });
        // It must not be kept for later: nobody will ever take it.
        delete this.#options.transport.onmessage;
        this.#turns.end();
        this.#options.onFailed(failure);
        throw failure;
      });
    return this.#attached;
  }

  #handOver(message: JSONRPCMessage): void {
    try {
      this.#deliver?.(message);
    } catch (error) {
      // A message that breaks the code that reads it must not end the host.
      this.#options.onError(toPlugboardError(error, "PROTOCOL"));
    }
  }
}

async function attachClient(sdk: Sdk, options: AttachOptions): Promise<Client> {
  const { handshake, transport, router, timeout, onToolsChanged, onContentChange } = options;
  const client = new sdk.Client(options.host, { capabilities: router.requests.capabilities });
  client.onerror = options.onError;
  // All handlers are set before the client connects, because a server may ask at once.
  for (const method of REQUEST_METHODS) {
    if (router.requests.supports(method)) passOnRequests(method, sdk, client, router);
  }
  client.setNotificationHandler("notifications/message", ({ params }) => router.log.write(params));
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
  // The SDK would call these before its own.
  delete transport.onmessage;
  delete transport.onerror;
  if (handshake.era === "legacy") {
    transport.adoptInitializeResult(handshake.statement);
    await client.connect(transport, { timeout });
  } else {
    // oxlint-disable-next-line no-unsafe-type-assertion -- connect() validates it
    const discover = handshake.statement as ModernPrior["discover"];
    await client.connect(transport, { prior: { kind: "modern", discover }, timeout });
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
      return (await router.answer(method, params, mcpReq.signal, mcpReq.id)) as never;
    } catch (error) {
      const reason = error instanceof PlugboardError ? error : undefined;
      const code = (reason && WIRE_CODES[reason.code]) ?? INTERNAL_ERROR;
      throw new sdk.ProtocolError(code, reason?.message ?? "the request could not be answered");
    }
  });
}
