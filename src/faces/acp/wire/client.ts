// The client over the SDK's connection: what it can do, how it is told and how it is asked.

import {
  type AgentConnection,
  type ClientCapabilities,
  type ClientRequestMethod,
  type ClientRequestParamsByMethod,
  type ClientRequestResponsesByMethod,
  type CompleteElicitationNotification,
  methods,
  RequestError,
  type SessionUpdate,
} from "@agentclientprotocol/sdk";
import type { Peer } from "./peer.ts";

export class ClientSide implements Peer {
  #capabilities: ClientCapabilities = {};
  #connection: AgentConnection | undefined;

  /** To be called before the first message is read. */
  connect(connection: AgentConnection): void {
    this.#connection = connection;
  }

  introduce(capabilities: ClientCapabilities): void {
    this.#capabilities = capabilities;
  }

  capabilities(): ClientCapabilities {
    return this.#capabilities;
  }

  async update(sessionId: string, update: SessionUpdate): Promise<void> {
    const params = { sessionId, update };
    await this.#connection?.client.notify(methods.client.session.update, params).catch(ignore);
  }

  request<Method extends ClientRequestMethod>(
    method: Method,
    params: ClientRequestParamsByMethod[Method],
    signal: AbortSignal | undefined,
  ): Promise<ClientRequestResponsesByMethod[Method]> {
    if (this.#connection === undefined) return Promise.reject(RequestError.requestCancelled());
    const options = signal && { cancellationSignal: signal, stopWaitingOnCancel: true };
    return this.#connection.client.request(method, params, options);
  }

  async completeElicitation(params: CompleteElicitationNotification): Promise<void> {
    const { complete } = methods.client.elicitation;
    await this.#connection?.client.notify(complete, params).catch(ignore);
  }
}

/** It rejects when the connection is gone, and then its sessions are being closed. */
function ignore(): void {}
