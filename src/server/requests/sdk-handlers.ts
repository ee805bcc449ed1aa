// Has the SDK's client pass on what a server asks, and what it says to the log.

import type { Client } from "@modelcontextprotocol/client";
import { type ErrorCode, PlugboardError } from "../../model/errors.ts";
import type { Dialogue } from "./dialogue.ts";
import { REQUEST_METHODS, type RequestMethod } from "./requests.ts";

type Sdk = typeof import("@modelcontextprotocol/client");

/** By JSON-RPC's numbers; -1 is the protocol's for what a person did not want. */
const WIRE_CODES: Partial<Record<ErrorCode, number>> = {
  NOT_APPROVED: -1,
  CANCELLED: -1,
  RATE_LIMITED: -32000,
  PROTOCOL: -32602,
};
const INTERNAL_ERROR = -32603;

/** To be called before the client connects: a server may ask at once. */
export function passOnRequests(sdk: Sdk, client: Client, dialogue: Dialogue): void {
  for (const method of REQUEST_METHODS) {
    if (dialogue.requests.offers(method)) passOn(sdk, client, dialogue, method);
  }
  client.setNotificationHandler("notifications/message", ({ params }) =>
    dialogue.log.write(params),
  );
  client.setNotificationHandler("notifications/elicitation/complete", ({ params }) =>
    dialogue.requests.completed(params),
  );
}

function passOn(sdk: Sdk, client: Client, dialogue: Dialogue, method: RequestMethod): void {
  client.setRequestHandler(method, async ({ params }, { mcpReq }) => {
    try {
      // oxlint-disable-next-line no-unsafe-type-assertion -- the SDK checks it before it is sent
      return (await dialogue.answer(method, params, mcpReq.signal)) as never;
    } catch (error) {
      const reason = error instanceof PlugboardError ? error : undefined;
      const code = (reason && WIRE_CODES[reason.code]) ?? INTERNAL_ERROR;
      throw new sdk.ProtocolError(code, reason?.message ?? "the request could not be answered");
    }
  });
}
