// The questions of calls that one client of 2026-07-28 makes side by side. A server up to 2025-11-25 does not say which
// call it asks about, and such a client is asked in the answer to one of its calls. So all its calls to a server share
// their handlers, by which the board knows that they are one client's, and any of them carries a question.

import type { RequestHandlers } from "../../../core/types/request-handlers.ts";
import type { LightSignal } from "../../../util/abort.ts";
import { canonicalJson } from "../../../util/canonical-json.ts";
import type { Exchange } from "../client.ts";
import { refuse, RPC } from "../message.ts";
import { META, metaOf } from "../protocol.ts";
import { type Ask, askClient } from "./ask-client.ts";

/** A call that can be asked, until it is over or its client has cancelled it. */
interface Carrier {
  ask: Ask;
  signal: LightSignal;
}

interface SideBySide {
  handlers: Required<RequestHandlers>;
  /** By their ids, in the order in which they began. */
  calls: Map<string, Carrier>;
}

export class SharedQuestions {
  readonly #namesServer: () => boolean;
  readonly #isForMany: boolean;
  readonly #shared = new Map<string, SideBySide>();

  /**
   * `isForMany`: the client makes calls of many callers, and one must not get another's question. Then no calls share
   * their handlers, and a question that could be about several of them is refused.
   */
  constructor(namesServer: () => boolean, isForMany: boolean) {
    this.#namesServer = namesServer;
    this.#isForMany = isForMany;
  }

  /** Makes a call to the server with the handlers that it shares. */
  async during<Result>(
    exchange: Exchange,
    server: string | undefined,
    carrier: Carrier,
    make: (handlers: Required<RequestHandlers>) => Promise<Result>,
  ): Promise<Result> {
    const { client, request, capabilities, callId } = exchange;
    const info = metaOf(request.params)[META.clientInfo] ?? null;
    const call = this.#isForMany ? callId : null;
    const key = canonicalJson([client.caller.id, info, capabilities, server ?? null, call]);
    const shared = this.#shared.get(key) ?? this.#begin(exchange);
    this.#shared.set(key, shared);
    shared.calls.set(callId, carrier);
    try {
      return await make(shared.handlers);
    } finally {
      shared.calls.delete(callId);
      if (shared.calls.size === 0) this.#shared.delete(key);
    }
  }

  #begin({ capabilities }: Exchange): SideBySide {
    const calls: SideBySide["calls"] = new Map();
    /** Through the call that the question is about, else through any. */
    const ask: Ask = async (method, params, signal, callId = "") => {
      const carrier = calls.get(callId) ?? [...calls.values()].find((each) => !each.signal.aborted);
      if (carrier === undefined) return refuse(RPC.internalError, "nobody waits for the answer");
      return carrier.ask(method, params, signal, callId);
    };
    const handlers = askClient({ capabilities, ask, namesServer: this.#namesServer });
    return { handlers, calls };
  }
}
