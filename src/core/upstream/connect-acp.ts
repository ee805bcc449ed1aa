// Connects to a server that runs in the ACP client of the session, over that client's connection.

import { randomUUID } from "node:crypto";
import { PlugboardError } from "../types/errors.ts";
import type { SendMcpMessage } from "../types/mcp-message.ts";
import type { AcpTarget } from "../types/server-definition.ts";
import { deferred } from "../../util/deferred.ts";
import { excerpt } from "../../util/text.ts";
import {
  type ConnectionOptions,
  type ConnectTo,
  openConnection,
} from "./connection/live-connection.ts";
import { AcpTransport } from "./transport/acp.ts";
import type { Carrier } from "./transport/carrier.ts";
import { isMethodNotFound } from "./transport/errors.ts";

export interface AcpConnectOptions extends ConnectionOptions {
  /** The way to the client. Only sessions have one. */
  sendMcpMessage?: SendMcpMessage | undefined;
}

export function acpConnector(options: AcpConnectOptions): ConnectTo<AcpTarget> {
  const { definition, clock, sendMcpMessage: send, redact = (text) => text } = options;
  return async ({ serverId }, signal, onRemains) => {
    if (send === undefined) {
      const message = "the session has no way to servers in the editor";
      throw new PlugboardError("UNSUPPORTED", message, { permanent: true });
    }
    const deadline = clock.monotonic() + options.timeout();
    const broken = deferred<PlugboardError>();
    const wire = new AcpTransport(
      {
        serverId,
        send,
        idPrefix: `plugboard:${randomUUID()}`,
        clock,
        maxMessageBytes: definition.maxMessageBytes,
        quote: (received, max) => excerpt(received, redact, max),
        tap: options.tap,
      },
      broken.resolve,
    );
    // Nothing is left of it: the client goes on, and `wire.end` cancels what runs there.
    const carrier: Carrier = {
      wire,
      broken: broken.promise,
      lateHint: "it runs in the editor: see there why it does not answer",
      stop: async () => {},
    };
    const opening = { carrier, deadline, expected: { era: "modern" as const }, signal, onRemains };
    return openConnection({ ...options, ...opening }).catch((error: unknown) => {
      throw isMethodNotFound(error) ? tooOld(error) : error;
    });
  };
}

function tooOld(cause: unknown): PlugboardError {
  const message = "the server does not know server/discover, with which MCP over ACP begins";
  const hint = "update the editor, or whatever in it brings the server";
  return new PlugboardError("UNSUPPORTED_VERSION", message, {
    cause,
    quote: "",
    hint,
    permanent: true,
  });
}
