// The client at the other end, as sessions see it.

import type {
  RequestPermissionRequest,
  RequestPermissionResponse,
  SessionUpdate,
} from "@agentclientprotocol/sdk";

export interface Peer {
  /** The client shows notices apart from messages. */
  takesNotices(): boolean;
  /** In order. Never rejects: a client that is gone ends its sessions by itself. */
  update(sessionId: string, update: SessionUpdate): Promise<void>;
  /** Rejects as soon as the signal aborts. */
  requestPermission(
    params: RequestPermissionRequest,
    signal: AbortSignal | undefined,
  ): Promise<RequestPermissionResponse>;
}
