// Connects to a server on stdio: starts its process, and carries the conversation over its pipes.

import type { Readable } from "node:stream";
import type { ProtocolEra } from "../types/connection.ts";
import { cancelled, PlugboardError } from "../types/errors.ts";
import type { StdioTarget } from "../types/server-definition.ts";
import { untilAborted } from "../../util/abort.ts";
import { within } from "../../util/clock.ts";
import { deferred } from "../../util/deferred.ts";
import { duration, excerpt, oneLine, plainText } from "../../util/text.ts";
import {
  type ConnectionOptions,
  type ConnectTo,
  type ExpectedEra,
  openConnection,
} from "./connection/live-connection.ts";
import { errorInEntry, type FailureCause, findCause, withCause } from "./log/find-cause.ts";
import type { CauseName } from "./log/known-causes.ts";
import { nodeRemedy } from "./log/node-version.ts";
import { watchForQuestion } from "./log/question-watch.ts";
import { StderrLog } from "../process/stderr-log.ts";
import { containerEngine, reapContainers } from "../process/containers.ts";
import { INSTALL_MS, installerOf, watchInstall } from "../process/install-watch.ts";
import { type ServerProcess, startProcess } from "../process/start-process.ts";
import type { ExitStatus } from "../process/stop-process-tree.ts";
import type { Carrier } from "./transport/carrier.ts";
import { BREAKS_OFF } from "./transport/dropped-line.ts";
import type { Quote } from "./transport/errors.ts";
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
  /** A program such as npx gets the package of the server now; undefined once it has it. */
  onInstalling?: (installer: string | undefined) => void;
}

export function stdioConnector(options: StdioConnectOptions): ConnectTo<StdioTarget> {
  const { definition, clock, logger, cwd, env } = options;
  const expected: ExpectedEra = { era: options.era };
  let containersReaped = false;

  return async (target, signal, onRemains) => {
    // Before the server's own time starts: a slow lookup of the PATH is not the server's fault.
    const path = await untilAborted(Promise.resolve(options.path), signal, cancelled);
    await untilAborted(ownTurn(), signal, cancelled);
    // Where a person has set a limit, it is one for everything.
    const installer = definition.hasTimeout ? undefined : installerOf(target.command);
    const patience = installer === undefined ? 0 : INSTALL_MS;
    const deadline = clock.monotonic() + options.timeout() + patience;
    const ambient = path === undefined ? env : { ...env, PATH: path };
    const engine = containerEngine({ cwd, ...target }, ambient);
    // The first start waits for this: what a killed host left behind may hold the container's name.
    if (engine !== undefined && !containersReaped) {
      containersReaped = true;
      await reapContainers(engine, { clock, logger });
    }
    const server = definition.name;
    const child = await startProcess({ cwd, ...target, server, ambient, clock, logger });
    const carrier = stdioCarrier(child, target, options, installer);
    return openConnection({ ...options, carrier, deadline, expected, signal, onRemains });
  };
}

let lastTurn: Promise<void> = Promise.resolve();

/**
 * To start a program blocks this process for many milliseconds, so no two are started in one turn of the event loop: clients
 * are answered and a screen is drawn while many servers start.
 */
function ownTurn(): Promise<void> {
  lastTurn = lastTurn.then(() => new Promise((resolve) => setImmediate(resolve)));
  return lastTurn;
}

/** How long a closed pipe waits for the exit status that explains it, and an exit for the rest of the pipe. */
const EXIT_STATUS_GRACE_MS = 250;

/** How many characters of a dropped line we look at. */
const MAX_DROPPED = 1000;
/** What a server writes so soon after its start still belongs to it. */
const LINES_AFTER_START = 10;
/** How many dropped lines, and how many logged errors, are kept to find out why the server failed. */
const KEPT_LINES = 40;

/** What a server can lack and still run. */
const MISSING: ReadonlySet<CauseName> = new Set([
  "variable-missing",
  "credential-missing",
  "path-missing",
]);

const ONE_LINE =
  "each message must be a line of JSON in UTF-8 that ends with LF: report this to the server's author";

function stdioCarrier(
  child: ServerProcess,
  { env }: StdioTarget,
  options: StdioConnectOptions,
  installer: string | undefined,
): Carrier {
  const { definition, clock, logger, tap, redact = (text) => text } = options;
  const stderr = new StderrLog(
    child.stderr,
    clock,
    (line) => {
      logger.warn(line, { stream: "stderr" });
      tap?.listener?.({ kind: "stderr", text: line });
    },
    redact,
  );
  const dropped: string[] = [];
  /** Errors that the server sent as messages. */
  const logged: string[] = [];
  let stopped = false;
  let establishedAt = 0;
  let linesBefore = 0;
  const broken = deferred<PlugboardError>();
  const drained = Promise.all([child.stdout, child.stderr].map(untilEnded));
  const cause = (): FailureCause | undefined => {
    const lines = [...logged, ...stderr.lines(linesBefore)];
    const known = findCause({ stderr: lines, stdout: dropped });
    const forNode = known && nodeRemedy(known.line, lines);
    const remedyHere = forNode ?? checkValues(known?.lacks, env);
    // A remedy from here takes the place of the advice to set the variables.
    const found =
      known && remedyHere !== undefined ? { ...known, remedy: remedyHere, lacks: [] } : known;
    // An error that the server logs on stdout says more than that the line is no message.
    if (found?.isReason && (found.from === "stderr" || found.isLogged)) return found;
    const { fault, shown } = wire.droppedSince(establishedAt) ?? {};
    if (fault === undefined || shown === undefined) return found;
    const remedy = fault === BREAKS_OFF ? undefined : ONE_LINE;
    return { line: shown, from: "stdout", isReason: true, fault, remedy };
  };
  const explain = async (seen?: PlugboardError): Promise<void> => {
    if (seen !== undefined && seen.code !== "CONNECTION_CLOSED") return broken.resolve(seen);
    // A pipe may break before what the server said about it has been read.
    const [status] = await Promise.all([
      within(clock, EXIT_STATUS_GRACE_MS, child.exited),
      within(clock, EXIT_STATUS_GRACE_MS, drained),
    ]);
    broken.resolve(exitReason(status, cause(), seen));
  };
  const quote: Quote = (received, max) => excerpt(received, redact, max);
  const wire = new StdioTransport({
    stdin: child.stdin,
    stdout: child.stdout,
    maxMessageBytes: definition.maxMessageBytes,
    clock,
    quote,
    tap,
    onJunk: (line) => {
      const isCut = line.length > MAX_DROPPED;
      const plain = redact(plainText(line.slice(0, MAX_DROPPED)), isCut);
      logger.debug("dropped a line that is not a message", {
        stream: "stdout",
        line: oneLine(plain, 200),
      });
      dropped.push(plain);
      if (dropped.length > KEPT_LINES) dropped.shift();
    },
    onLog: (entry) => {
      const error = errorInEntry(entry);
      if (error === undefined) return;
      logged.push(redact(plainText(error)));
      if (logged.length > KEPT_LINES) logged.shift();
    },
    onFatal: (error) => void explain(error),
  });
  const watch = (name: string): (() => void) | undefined => {
    const timeout = options.timeout();
    const ofServer = (): void => broken.resolve(new PlugboardError("TIMEOUT", "no answer"));
    const end = watchInstall({
      pid: child.pid,
      clock,
      timeout,
      onInstalling: (isInstalling) => options.onInstalling?.(isInstalling ? name : undefined),
      onLate: (whose) => (whose === "server" ? ofServer() : broken.resolve(notInstalled(name))),
    });
    if (end !== undefined) return end;
    const timer = clock.later(timeout, ofServer);
    return () => timer.cancel();
  };
  const endWatch = watchForQuestion([child.stdout, child.stderr], clock, ({ text, remedy }) => {
    const message = `the server waits for an answer: ${oneLine(redact(text, true), 200)}`;
    broken.resolve(
      new PlugboardError("HANDSHAKE_FAILED", message, { hint: remedy, permanent: true }),
    );
  });
  const endInstall = installer === undefined ? undefined : watch(installer);
  // The last answers may still be in the pipe, and a grandchild may hold the pipe open for ever.
  void child.exited.then(() => {
    endWatch();
    endInstall?.();
    if (!stopped) clock.after(EXIT_STATUS_GRACE_MS, () => void explain());
  });
  return {
    wire,
    pid: child.pid,
    broken: broken.promise,
    stderrTail: () => stderr.tail(),
    missing: () => {
      const atStart = stderr.lines().slice(0, linesBefore + LINES_AFTER_START);
      const found = findCause({ stderr: atStart, stdout: [] });
      if (found?.name === undefined || !MISSING.has(found.name)) return undefined;
      return `it runs, but says: ${found.line}${found.remedy === undefined ? "" : ` (${found.remedy})`}`;
    },
    cause,
    established() {
      // What a server wrote while it started does not say why it crashed later.
      establishedAt = clock.monotonic();
      dropped.length = 0;
      logged.length = 0;
      linesBefore = stderr.count;
      endWatch();
      endInstall?.();
    },
    stop() {
      stopped = true;
      endWatch();
      endInstall?.();
      return child.stop();
    },
  };
}

/** Advice to check the variables that the server lacks, if all of them are set. Undefined otherwise. */
function checkValues(
  lacks: readonly string[] = [],
  env: Readonly<Record<string, string>>,
): string | undefined {
  if (lacks.length === 0 || !lacks.every((name) => Object.hasOwn(env, name))) return undefined;
  const [are, their] = lacks.length === 1 ? ["is", "its value"] : ["are", "their values"];
  return `${lacks.join(" and ")} ${are} set in its "env": check ${their}`;
}

function notInstalled(installer: string): PlugboardError {
  const message = `${installer} did not install the server within ${duration(INSTALL_MS)}`;
  return new PlugboardError("HANDSHAKE_FAILED", message, {
    hint: "check your network and its proxy, or run the command once by hand",
    quote: "",
  });
}

function untilEnded(output: Readable): Promise<void> {
  return new Promise((resolve) => {
    for (const event of ["end", "error", "close"]) output.once(event, () => resolve());
  });
}

/** Says how a server ended and why. `seen` is what the transport noticed, if anything. */
export function exitReason(
  status: ExitStatus | undefined,
  cause: FailureCause | undefined,
  seen?: PlugboardError,
): PlugboardError {
  return withCause("CONNECTION_CLOSED", howItEnded(status, seen), cause, {
    cause: seen,
    // What the transport noticed may repeat what the server sent.
    ...((status !== undefined || seen === undefined) && { quote: "" }),
  });
}

function howItEnded(status: ExitStatus | undefined, seen: PlugboardError | undefined): string {
  if (status === undefined) return seen?.message ?? "the connection ended";
  if (status.signal !== null) return `the server was ended by ${status.signal}`;
  return `the server exited with code ${status.code ?? "unknown"}`;
}
