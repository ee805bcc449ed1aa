// A server's process as the carrier of a conversation: its pipes, its stderr, and why it ended.

import type { PlugboardError } from "../model/errors.ts";
import type { Logger } from "../model/logger.ts";
import { type Clock, within } from "../util/clock.ts";
import { oneLine, plainText } from "../util/text.ts";
import type { Carrier } from "./carrier.ts";
import { exitReason } from "./exit-reason.ts";
import type { ServerProcess } from "./process/start-process.ts";
import { type Redact, StderrLog } from "./stderr-log.ts";
import { StdioTransport } from "./transport/stdio.ts";

/** How long a closed pipe waits for the exit status that explains it, and an exit for the rest of the pipe. */
const EXIT_STATUS_GRACE_MS = 250;
/** Characters of a line that are looked at for what to show of it. */
const MAX_JUNK = 1000;

export interface StdioCarrierOptions {
  process: ServerProcess;
  maxMessageBytes: number;
  clock: Clock;
  logger: Logger;
  redact?: Redact;
}

export function stdioCarrier(options: StdioCarrierOptions): Carrier {
  const { process: child, clock, logger, redact = (text) => text } = options;
  const warn = (line: string): void => logger.warn(line, { stream: "stderr" });
  const stderr = new StderrLog(child.stderr, clock, warn, redact);
  let stopped = false;
  let settle: (reason: PlugboardError) => void = () => {};
  const broken = new Promise<PlugboardError>((resolve) => {
    settle = resolve;
  });
  const explain = async (seen?: PlugboardError): Promise<void> => {
    if (seen !== undefined && seen.code !== "CONNECTION_CLOSED") return settle(seen);
    const status = await within(clock, EXIT_STATUS_GRACE_MS, child.exited);
    settle(exitReason(status, stderr.tail(), seen));
  };
  const wire = new StdioTransport({
    stdin: child.stdin,
    stdout: child.stdout,
    maxMessageBytes: options.maxMessageBytes,
    clock,
    onJunk: (line) =>
      logger.debug("dropped a line that is no message", {
        line: oneLine(redact(plainText(line.slice(0, MAX_JUNK)), line.length > MAX_JUNK), 200),
      }),
    onFatal: (error) => void explain(error),
  });
  // Its last answers may still be in the pipe; a grandchild may hold the pipe open for ever.
  void child.exited.then(() => {
    if (!stopped) clock.after(EXIT_STATUS_GRACE_MS, () => void explain());
  });
  return {
    wire,
    pid: child.pid,
    broken,
    stderrTail: () => stderr.tail(),
    stop() {
      stopped = true;
      return child.stop();
    },
  };
}
