// One session of this command in a gateway, on a link of its own: what it calls and reads goes over the link, under the
// session's rules, and what that asks comes back to the command. Imports little, since a single warm call pays for every
// module.

import type { CallerOptions } from "../../../core/types/caller-options.ts";
import { PlugboardError, withPossibleEffect } from "../../../core/types/errors.ts";
import type { BoardInGateway } from "../../../core/types/gateway-port.ts";
import type { JsonObject } from "../../../core/types/json.ts";
import type { ServerLogLevel } from "../../../core/types/server-log.ts";
import type { UpdateListener } from "../../../core/types/tool.ts";
import type { Link } from "../link.ts";
import { Questions } from "../questions.ts";
import { ask, type Member, type Result, type WireOptions } from "../wire.ts";

export interface GatewaySessionOptions extends Omit<BoardInGateway, "onNotice"> {
  agent: string;
  /** Hears of resources, prompts, log messages and notices. */
  onEvent?: (event: string, value: JsonObject) => void;
}

interface AskOptions extends CallerOptions, Pick<WireOptions, "server" | "known"> {
  onUpdate?: UpdateListener | undefined;
}

export class GatewaySession {
  readonly link: Link;
  readonly #questions: Questions;

  private constructor(link: Link) {
    this.link = link;
    this.#questions = new Questions(link);
  }

  /** Rejects as `openSession` does, and with SERVER_UNAVAILABLE if the link ends. */
  static async open(
    link: Link,
    { agent, onEvent, ...given }: GatewaySessionOptions,
  ): Promise<GatewaySession> {
    const { onApproval, onElicitation, onSampling, ...options } = given;
    const session = new GatewaySession(link);
    link.hear("event", ({ event, value }) => onEvent?.(event as string, value as JsonObject));
    const handlers = session.#questions.numbersOf({ onApproval, onElicitation, onSampling });
    await ask(link, "session/open", { agent, options: { ...options, handlers } });
    return session;
  }

  /** Also finds tools that the rules hide. Rejects as `board.find` does. */
  find(name: string, signal?: AbortSignal): Promise<Result<"session/find">> {
    return ask(this.link, "session/find", { name }, { signal });
  }

  /** Uses a member of the session's board. A tool is called as `server/tool` or `native/tool`. */
  async ask(member: Member, args: unknown[], given: AskOptions = {}): Promise<unknown> {
    const { signal, onUpdate, callId, caller, approvalsOf, meta, input, server, known } = given;
    const { clientCapabilities } = given;
    const handlers = this.#questions.numbersOf(given);
    const of = { callId, caller, approvalsOf, meta, input, clientCapabilities, server, known };
    const options: WireOptions = { ...of, handlers, wantsUpdates: onUpdate !== undefined };
    const update = onUpdate as (value: unknown) => void;
    const params = { member, args, options };
    try {
      return await ask(this.link, "session/ask", params, { signal, onUpdate: update });
    } catch (error) {
      throw member === "call" ? this.#lost(error as PlugboardError) : error;
    } finally {
      this.#questions.end(handlers);
    }
  }

  setLogLevel(level: ServerLogLevel | undefined): void {
    void ask(this.link, "session/logLevel", { level: level ?? "" }).catch(() => {});
  }

  /** Resolves when the gateway has closed it. */
  async close(): Promise<void> {
    // A gateway that is gone has closed it.
    await ask(this.link, "session/close", {}).catch(() => {});
    this.link.close();
  }

  /** If the gateway went away during a call, nobody knows whether the call has run. */
  #lost(error: PlugboardError): PlugboardError {
    if (this.link.isOpen || error.hasNotRun || error.code !== "SERVER_UNAVAILABLE") return error;
    const message = "the gateway stopped during the call; it may have run";
    return withPossibleEffect(new PlugboardError("SERVER_UNAVAILABLE", message, { quote: "" }));
  }
}
