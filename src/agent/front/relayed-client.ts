// The ACP client before the front, reached with lines of our own among those of the agent.

import {
  type ClientCapabilities,
  type ClientRequestMethod,
  type ClientRequestParamsByMethod,
  type ClientRequestResponsesByMethod,
  type CompleteElicitationNotification,
  methods,
  RequestError,
  type SessionUpdate,
} from "@agentclientprotocol/sdk";
import { isJsonObject, type JsonObject, objectIn } from "../../core/types/json.ts";
import type { SessionClient } from "../acp/wire/client.ts";
import type { LineWriter } from "./lines.ts";
import { type Answer, encode, errorText, idKey, type OwnIds, type RpcId } from "./message.ts";

export const CANCEL_REQUEST = "$/cancel_request";

const GONE: Answer = {};

export class RelayedClient implements SessionClient {
  readonly #writer: LineWriter;
  readonly #ids: OwnIds;
  readonly #asked = new Map<string, (answer: Answer) => void>();
  #capabilities: ClientCapabilities = {};

  constructor(writer: LineWriter, ids: OwnIds) {
    this.#writer = writer;
    this.#ids = ids;
  }

  /** As the client sent them: nothing has checked them. */
  initialize(capabilities: unknown): void {
    this.#capabilities = objectIn(capabilities);
  }

  capabilities(): ClientCapabilities {
    return this.#capabilities;
  }

  showsNotices(): boolean {
    return Boolean(this.#capabilities.session?.notices);
  }

  async update(sessionId: string, update: SessionUpdate): Promise<void> {
    this.notify(methods.client.session.update, { sessionId, update });
  }

  async completeElicitation(params: CompleteElicitationNotification): Promise<void> {
    this.notify(methods.client.elicitation.complete, { ...params });
  }

  async request<Method extends ClientRequestMethod>(
    method: Method,
    params: ClientRequestParamsByMethod[Method],
    signal: AbortSignal | undefined,
  ): Promise<ClientRequestResponsesByMethod[Method]> {
    const result = await this.ask(method, params, signal);
    return result as ClientRequestResponsesByMethod[Method];
  }

  /** Like `request`, for methods that are not in the stable protocol. */
  async ask(method: string, params: object, signal: AbortSignal | undefined): Promise<unknown> {
    if (signal?.aborted) throw RequestError.requestCancelled();
    const id = this.#ids.next();
    const answer = await new Promise<Answer>((resolve, reject) => {
      const withdraw = (): void => {
        this.#asked.delete(idKey(id));
        this.notify(CANCEL_REQUEST, { requestId: id });
        reject(RequestError.requestCancelled());
      };
      this.#asked.set(idKey(id), (given) => {
        signal?.removeEventListener("abort", withdraw);
        resolve(given);
      });
      signal?.addEventListener("abort", withdraw, { once: true });
      this.#writer.send(encode({ id, method, params }));
    });
    if (answer === GONE) throw new Error("the client is gone");
    const { result, error } = answer;
    if (error === undefined) return result;
    const code = isJsonObject(error) && typeof error["code"] === "number" ? error["code"] : -32603;
    throw new RequestError(code, errorText(error));
  }

  notify(method: string, params: JsonObject): void {
    this.#writer.send(encode({ method, params }));
  }

  answer(id: RpcId, answer: Answer): void {
    this.#writer.send(encode({ id, ...answer }));
  }

  /** Whether the answer is to a question of ours, even if we have withdrawn it. */
  takeAnswer(id: RpcId, answer: Answer): boolean {
    this.#asked.get(idKey(id))?.(answer);
    this.#asked.delete(idKey(id));
    return this.#ids.has(id);
  }

  /** Nobody will answer any more. */
  close(): void {
    for (const resolve of this.#asked.values()) resolve(GONE);
    this.#asked.clear();
  }
}
