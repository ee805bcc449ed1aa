// Connects to a server on stdio: starts its process, and carries the conversation over its pipes.

import type { ProtocolEra } from "../model/connection.ts";
import { cancelled, PlugboardError } from "../model/errors.ts";
import type { StdioEndpoint } from "../model/server-definition.ts";
import { untilAborted } from "../util/abort.ts";
import { within } from "../util/clock.ts";
import { deferred } from "../util/deferred.ts";
import { oneLine, plainText, truncate } from "../util/text.ts";
import {
  type ConnectionOptions,
  type ConnectTo,
  type ExpectedEra,
  openConnection,
} from "./connection/live-connection.ts";
import { StderrLog } from "./log/stderr-log.ts";
import { containerEngine, reapContainers } from "./process/containers.ts";
import { type ServerProcess, startProcess } from "./process/start-process.ts";
import type { ExitStatus } from "./process/stop-process-tree.ts";
import type { Carrier } from "./transport/carrier.ts";
import { StdioTransport } from "./transport/stdio.ts";

export interface StdioConnectOptions extends ConnectionOptions {
  /** Where the server runs unless its definition says otherwise. */
  cwd: string;
  /** The host's environment; the server gets the baseline of it. */
  env: Readonly<Record<string, string | undefined>>;
  /** The PATH for programs, instead of the one in `env`. Must not reject. */
  path?: Promise<string | undefined>;
  /** The era that an earlier run found. */
  era?: ProtocolEra;
}

export function stdioConnector(options: StdioConnectOptions): ConnectTo<StdioEndpoint> {
  const { definition, clock, logger, cwd, env } = options;
  const expected: ExpectedEra = { era: options.era };
  let containersReaped = false;

  return async (endpoint, signal, onRemains) => {
    // Before the server's own time starts: a slow lookup of the PATH is not the server's fault.
    const path = await untilAborted(Promise.resolve(options.path), signal, cancelled);
    const deadline = clock.monotonic() + definition.timeout;
    const ambient = { ...env, ...(path !== undefined && { PATH: path }) };
    const engine = containerEngine({ cwd, ...endpoint }, ambient);
    // The first start waits for this: what a killed host left behind may hold the container's name.
    if (engine !== undefined && !containersReaped) {
      containersReaped = true;
      await reapContainers(engine, { clock, logger });
    }
    const server = definition.name;
    const child = await startProcess({ cwd, ...endpoint, server, ambient, clock, logger });
    const carrier = stdioCarrier(child, options);
    return openConnection({ ...options, carrier, deadline, expected, signal, onRemains });
  };
}

/** How long a closed pipe waits for the exit status that explains it, and an exit for the rest of the pipe. */
const EXIT_STATUS_GRACE_MS = 250;
/** How many characters of a dropped line we look at. */
const MAX_DROPPED = 1000;

function stdioCarrier(
  child: ServerProcess,
  { definition, clock, logger, redact = (text) => text }: StdioConnectOptions,
): Carrier {
  const warn = (line: string): void => logger.warn(line, { stream: "stderr" });
  const stderr = new StderrLog(child.stderr, clock, warn, redact);
  let stopped = false;
  const broken = deferred<PlugboardError>();
  const explain = async (seen?: PlugboardError): Promise<void> => {
    if (seen !== undefined && seen.code !== "CONNECTION_CLOSED") return broken.resolve(seen);
    const status = await within(clock, EXIT_STATUS_GRACE_MS, child.exited);
    broken.resolve(exitReason(status, stderr.tail(), seen));
  };
  const wire = new StdioTransport({
    stdin: child.stdin,
    stdout: child.stdout,
    maxMessageBytes: definition.maxMessageBytes,
    clock,
    onJunk: (line) => {
      const isCut = line.length > MAX_DROPPED;
      const shown = oneLine(redact(plainText(line.slice(0, MAX_DROPPED)), isCut), 200);
      logger.debug("dropped a line that is not a message", { line: shown });
    },
    onFatal: (error) => void explain(error),
  });
  // The last answers may still be in the pipe, and a grandchild may hold the pipe open for ever.
  void child.exited.then(() => {
    if (!stopped) clock.after(EXIT_STATUS_GRACE_MS, () => void explain());
  });
  return {
    wire,
    pid: child.pid,
    broken: broken.promise,
    stderrTail: () => stderr.tail(),
    stop() {
      stopped = true;
      return child.stop();
    },
  };
}

const LAST_LINES = 3;
const MAX_LAST_WORDS = 400;

/** Says how a server ended and what it wrote last. `seen` is what the transport noticed, if anything. */
export function exitReason(
  status: ExitStatus | undefined,
  stderr: readonly string[],
  seen?: PlugboardError,
): PlugboardError {
  const quote = truncate(stderr.slice(-LAST_LINES).join(" | "), MAX_LAST_WORDS);
  const said = quote === "" ? "" : `; it last wrote: ${quote}`;
  return new PlugboardError("CONNECTION_CLOSED", `${howItEnded(status, seen)}${said}`, {
    cause: seen,
    // What the transport noticed may repeat what the server sent.
    ...((status !== undefined || seen === undefined) && { quote }),
  });
}

function howItEnded(status: ExitStatus | undefined, seen: PlugboardError | undefined): string {
  if (status === undefined) return seen?.message ?? "the connection ended";
  if (status.signal !== null) return `the server was ended by ${status.signal}`;
  return `the server exited with code ${status.code ?? "unknown"}`;
}
