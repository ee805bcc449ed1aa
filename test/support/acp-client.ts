// What an ACP client hears of its agent and asks it, whatever carries the one to the other.

import {
  type ClientConnection,
  methods,
  RequestError,
  type RequestPermissionRequest,
  type SessionNotification,
  type SessionUpdate,
} from "@agentclientprotocol/sdk";
import { expect } from "vitest";

export abstract class AcpClient {
  abstract readonly connection: ClientConnection;
  readonly updates: SessionNotification[] = [];
  readonly questions: RequestPermissionRequest[] = [];
  readonly #listeners = new Set<() => void>();

  get agent(): ClientConnection["agent"] {
    return this.connection.agent;
  }

  prompt(sessionId: string, text: string) {
    const prompt = [{ type: "text" as const, text }];
    return this.agent.request(methods.agent.session.prompt, { sessionId, prompt });
  }

  /** Sends a prompt and gives what the agent said to it. */
  async ask(sessionId: string, text: string): Promise<string> {
    const before = this.said(sessionId).length;
    await this.prompt(sessionId, text);
    return this.said(sessionId).slice(before);
  }

  /** Asserts that a prompt fails, and gives the error. */
  async failure(sessionId: string, text: string): Promise<RequestError> {
    const error = await this.prompt(sessionId, text).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(RequestError);
    return error as RequestError;
  }

  of<Kind extends SessionUpdate["sessionUpdate"]>(sessionId: string, kind: Kind) {
    return this.updates.flatMap(({ sessionId: id, update }) =>
      id === sessionId && update.sessionUpdate === kind
        ? [update as Extract<SessionUpdate, { sessionUpdate: Kind }>]
        : [],
    );
  }

  /** The last update of each call that has ended. */
  ended(sessionId: string) {
    return this.of(sessionId, "tool_call_update").filter(
      ({ status }) => status === "completed" || status === "failed",
    );
  }

  said(sessionId: string): string {
    return this.of(sessionId, "agent_message_chunk")
      .map(({ content }) => (content.type === "text" ? content.text : `[${content.type}]`))
      .join("");
  }

  /** Asserts that the client comes to hear what makes `condition` true. */
  async until(condition: () => boolean): Promise<void> {
    let holds = condition();
    while (!holds) {
      await new Promise<void>((resolve) => {
        const listener = (): void => {
          this.#listeners.delete(listener);
          resolve();
        };
        this.#listeners.add(listener);
      });
      holds = condition();
    }
    expect(holds).toBe(true);
  }

  /** Something was heard. */
  protected heard(): void {
    for (const listener of this.#listeners) listener();
  }
}
