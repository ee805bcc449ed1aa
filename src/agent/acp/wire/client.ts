// The ACP client at the other end of the connection: what it can do, how to notify it and how to ask it.

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

/** A client as questions and updates reach it. */
export interface SessionClient {
  capabilities(): ClientCapabilities;
  showsNotices(): boolean;
  update(sessionId: string, update: SessionUpdate): Promise<void>;
  request<Method extends ClientRequestMethod>(
    method: Method,
    params: ClientRequestParamsByMethod[Method],
    signal: AbortSignal | undefined,
  ): Promise<ClientRequestResponsesByMethod[Method]>;
  completeElicitation(params: CompleteElicitationNotification): Promise<void>;
}

export class AcpClient implements SessionClient {
  #capabilities: ClientCapabilities = {};
  #connection: AgentConnection | undefined;

  /** Call it before the first message is read. */
  connect(connection: AgentConnection): void {
    this.#connection = connection;
  }

  initialize(capabilities: ClientCapabilities): void {
    this.#capabilities = capabilities;
  }

  /** As the client declared them in `initialize`. */
  capabilities(): ClientCapabilities {
    return this.#capabilities;
  }

  /** Whether the client shows notices apart from messages. */
  showsNotices(): boolean {
    return Boolean(this.#capabilities.session?.notices);
  }

  /** Updates arrive in order. Never rejects: sessions end by themselves when the client is gone. */
  async update(sessionId: string, update: SessionUpdate): Promise<void> {
    const params = { sessionId, update };
    await this.#connection?.client.notify(methods.client.session.update, params).catch(ignore);
  }

  /** Rejects as soon as the signal aborts, and when the client is gone or answers with an error. */
  request<Method extends ClientRequestMethod>(
    method: Method,
    params: ClientRequestParamsByMethod[Method],
    signal: AbortSignal | undefined,
  ): Promise<ClientRequestResponsesByMethod[Method]> {
    if (this.#connection === undefined) return Promise.reject(RequestError.requestCancelled());
    const options = signal && { cancellationSignal: signal, stopWaitingOnCancel: true };
    return this.#connection.client.request(method, params, options);
  }

  /** Like `request`, for methods that are not in the stable protocol. */
  ask(method: string, params: object, signal: AbortSignal): Promise<unknown> {
    if (this.#connection === undefined) return Promise.reject(RequestError.requestCancelled());
    const options = { cancellationSignal: signal, stopWaitingOnCancel: true };
    return this.#connection.client.request(method, params, options);
  }

  /** Tells the client that the user has finished on a page it showed. Never rejects. */
  async completeElicitation(params: CompleteElicitationNotification): Promise<void> {
    const { complete } = methods.client.elicitation;
    await this.#connection?.client.notify(complete, params).catch(ignore);
  }
}

function ignore(): void {}
