// The client at the other end, as sessions see it.

import type {
  ClientCapabilities,
  ClientRequestMethod,
  ClientRequestParamsByMethod,
  ClientRequestResponsesByMethod,
  CompleteElicitationNotification,
  SessionUpdate,
} from "@agentclientprotocol/sdk";

export interface Peer {
  /** What the client says it can do. */
  capabilities(): ClientCapabilities;
  /** In order. Never rejects: a client that is gone ends its sessions by itself. */
  update(sessionId: string, update: SessionUpdate): Promise<void>;
  /** Rejects as soon as the signal aborts, and when the client is gone or answers with an error. */
  request<Method extends ClientRequestMethod>(
    method: Method,
    params: ClientRequestParamsByMethod[Method],
    signal: AbortSignal | undefined,
  ): Promise<ClientRequestResponsesByMethod[Method]>;
  /** The person is through with a page that was shown. Never rejects. */
  completeElicitation(params: CompleteElicitationNotification): Promise<void>;
}

/** Whether it shows notices apart from messages. */
export function takesNotices(peer: Pick<Peer, "capabilities">): boolean {
  return Boolean(peer.capabilities().session?.notices);
}
