// What a session asks of the board it is laid over: its servers, and who answers what comes up in its calls.

import type { AsyncLocalStorage } from "node:async_hooks";
import { methods } from "@agentclientprotocol/sdk";
import type { Mode } from "./mode.ts";
import type { Peer } from "./peer.ts";
import { permissionPrompt } from "./permission.ts";
import type { SessionRequest } from "./ports.ts";

export type BareRequest = Pick<SessionRequest, "id" | "cwd" | "roots" | "servers">;

/** What the board's questions need to know of the session it belongs to. */
export interface Shared {
  mode: Mode;
  /** The id of the call that the code is part of: questions come from deep inside it. */
  calling: AsyncLocalStorage<string>;
}

export function withHandlers(
  request: BareRequest,
  shared: Shared,
  { peer }: { peer: Peer },
): SessionRequest {
  const onApproval = permissionPrompt({
    sessionId: request.id,
    mode: () => shared.mode,
    toolCallId: () => shared.calling.getStore(),
    request: (params, signal) =>
      peer.request(methods.client.session.requestPermission, params, signal),
  });
  return { ...request, onApproval };
}
