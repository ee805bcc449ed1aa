// Opens the conversation with a server over whatever carries it. Holds what is known of its era between
// starts.

import type { Connection, ProtocolEra } from "../model/connection.ts";
import { PlugboardError, toPlugboardError } from "../model/errors.ts";
import type { Logger } from "../model/logger.ts";
import type { ServerDefinition } from "../model/server-definition.ts";
import type { Clock } from "../util/clock.ts";
import { duration } from "../util/text.ts";
import type { Carrier } from "./carrier.ts";
import type { HostInfo } from "./handshake.ts";
import { LiveConnection } from "./live-connection.ts";
import type { HostAnswers } from "./requests/requests.ts";

/** What is left of a connection that did not come about. */
interface Remains {
  /** Resolves when nothing of it runs any more. */
  gone: Promise<void>;
  stderr: string[];
}

/**
 * Opens a connection; `signal` gives up. Rejects with a PlugboardError as soon as the reason is known,
 * handing over what is left before.
 */
export type OpenConnection = (
  signal: AbortSignal,
  onRemains: (remains: Remains) => void,
) => Promise<Connection>;

export interface OpenerOptions {
  definition: ServerDefinition;
  /** Starts what carries the conversation. */
  carry: () => Promise<Carrier>;
  host: HostInfo;
  clock: Clock;
  logger: Logger;
  /** What the server may ask for. Default: nothing. */
  answers?: HostAnswers;
  /** Takes secrets out of what the server says about itself and its tools. */
  redact?: (text: string) => string;
  /** The era to ask for first, from an earlier run or by the kind of carrier. */
  era?: ProtocolEra;
}

export function connectionOpener(options: OpenerOptions): OpenConnection {
  const { definition, clock } = options;
  let expect = options.era;
  return async (signal, onRemains) => {
    const deadline = clock.monotonic() + definition.timeout;
    const connection = new LiveConnection({ ...options, carrier: await options.carry() });
    const giveUp = (): void => void connection.close();
    signal.addEventListener("abort", giveUp, { once: true });
    try {
      if (signal.aborted) throw new PlugboardError("CANCELLED", "the start was given up");
      await connection.establish(deadline - clock.monotonic(), expect);
      expect = connection.identity.era;
      return connection;
    } catch (error) {
      const reason = explain(error, definition.timeout);
      // A server that died of one era's question is asked the other's next time.
      if (reason.code === "CONNECTION_CLOSED" && definition.protocol === "auto") {
        expect = expect === "modern" ? "legacy" : "modern";
      }
      onRemains({ gone: connection.close(), stderr: connection.stderrTail() });
      throw reason;
    } finally {
      signal.removeEventListener("abort", giveUp);
    }
  };
}

function explain(error: unknown, timeout: number): PlugboardError {
  const reason = toPlugboardError(error, "HANDSHAKE_FAILED");
  if (reason.code !== "TIMEOUT") return reason;
  return new PlugboardError("TIMEOUT", `the server did not answer within ${duration(timeout)}`, {
    cause: reason,
    hint: "if it downloads itself on its first start, run its command once by hand or raise its timeout",
  });
}
