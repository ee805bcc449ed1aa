// One conversation with one server, whatever carries it: the handshake, the SDK client on top, the lists and
// the calls, until it is closed.

import type {
  CallOptions,
  Connection,
  ProtocolEra,
  ServerIdentity,
  ToolList,
} from "../../types/connection.ts";
import type { Diagnostic } from "../../types/diagnostic.ts";
import { PlugboardError, toPlugboardError } from "../../types/errors.ts";
import { isJsonObject, type JsonObject } from "../../types/json.ts";
import type { Logger } from "../../types/logger.ts";
import type { ServerDefinition } from "../../types/server-definition.ts";
import type { Clock } from "../../../util/clock.ts";
import { deferred } from "../../../util/deferred.ts";
import { duration, oneLine } from "../../../util/text.ts";
import { packageVersion } from "../../../util/version.ts";
import { listPages } from "../lists/list-pages.ts";
import { TOOL_LIST } from "../lists/list-tools.ts";
import { withCause } from "../log/find-cause.ts";
import type { LoggedMessage } from "../log/server-log.ts";
import type { RedactText } from "../../process/stderr-log.ts";
import { RequestRouter } from "../requests/request-router.ts";
import type { HostAnswers } from "../requests/host-answers.ts";
import { type Carrier, INITIALIZED } from "../transport/carrier.ts";
import { isMethodNotFound } from "../transport/errors.ts";
import type { Tap } from "../tap.ts";
import { type ParamHeader, readParamHeaders } from "../../types/param-headers.ts";
import { ChangeStream } from "./change-stream.ts";
import { type Handshake, type Implementation, requestMeta, shakeHands } from "./handshake.ts";
import { hiddenIn, readIdentity } from "./identity.ts";
import { LiveContent } from "./live-content.ts";
import { preloadSdk, SdkClient } from "./sdk-client.ts";

export interface ConnectionOptions {
  /** Only settings that need a new start are read from it. */
  definition: ServerDefinition;
  /** Milliseconds that a start or a list may take, as it is now. */
  timeout: () => number;
  clock: Clock;
  logger: Logger;
  /** What the server may ask the host for. Default: nothing. */
  answers?: HostAnswers;
  /** Removes secrets from stderr and from what the server says about itself and its tools. */
  redact?: RedactText;
  /** What goes over the connection is heard there. */
  tap?: Tap | undefined;
  /** Gets the server's log messages, cleaned and in bounded number. */
  onLog?: (message: LoggedMessage) => void;
  /** What a person should know of how the server was reached; a diagnostic of every list. */
  remark?: string;
}

/** How long a server at a URL may be silent to a question that it need not know. */
const PROBE_MS = 5000;

/** The era to ask a server for first. Every attempt to open a connection updates it. */
export interface ExpectedEra {
  era: ProtocolEra | undefined;
}

/** The rest of a connection that could not be opened: a process that still ends, and its stderr. */
export interface Remains {
  /** Resolves when nothing of it runs any more. */
  gone: Promise<void>;
  stderr: string[];
}

/** Starts a connection to one kind of target; rejects with a PlugboardError. */
export type ConnectTo<ServerTarget> = (
  target: ServerTarget,
  signal: AbortSignal,
  onRemains: (remains: Remains) => void,
) => Promise<Connection>;

export interface OpenConnectionOptions extends ConnectionOptions {
  carrier: Carrier;
  /** When the server's time to get ready ends, by the monotonic clock. */
  deadline: number;
  expected: ExpectedEra;
  signal: AbortSignal;
  onRemains: (remains: Remains) => void;
}

/** Opens the conversation over a carrier that has been started. Rejects with a PlugboardError. */
export async function openConnection(options: OpenConnectionOptions): Promise<Connection> {
  const { definition, timeout, clock, deadline, expected, signal, onRemains } = options;
  const connection = new LiveConnection(options);
  const giveUp = (): void => void connection.close();
  signal.addEventListener("abort", giveUp, { once: true });
  try {
    if (signal.aborted) throw new PlugboardError("CANCELLED", "the start was cancelled");
    await connection.establish(deadline - clock.monotonic(), expected.era);
    const { era, isEraDoubtful } = connection.identity;
    if (!isEraDoubtful) expected.era = era;
    return connection;
  } catch (error) {
    const late = `the server did not answer within ${duration(timeout())}`;
    const reason = explain(error, late, options.carrier);
    // Some servers exit on a question of an era they do not speak: the next attempt starts with the other era.
    if (reason.code === "CONNECTION_CLOSED" && definition.protocol === "auto") {
      expected.era = expected.era === "modern" ? "legacy" : "modern";
    }
    onRemains({ gone: connection.close(), stderr: connection.stderrTail() });
    throw reason;
  } finally {
    signal.removeEventListener("abort", giveUp);
  }
}

const NO_ANSWER =
  'check that the command starts an MCP server; if it downloads itself on its first start, run it once by hand or raise "timeout" for this server';

/** `late` is what a timeout means here. */
function explain(error: unknown, late: string, carrier: Carrier): PlugboardError {
  const reason = toPlugboardError(error, "HANDSHAKE_FAILED");
  if (reason.code !== "TIMEOUT") return reason;
  return withCause("TIMEOUT", late, carrier.cause?.(), {
    cause: reason,
    quote: "",
    hint: carrier.lateHint ?? NO_ANSWER,
  });
}

class LiveConnection implements Connection {
  readonly #options: ConnectionOptions & { carrier: Carrier };
  readonly #host: Implementation = { name: "plugboard", version: packageVersion() };
  readonly #router: RequestRouter;
  readonly #redact: RedactText;
  readonly #closed = deferred<PlugboardError | undefined>();
  readonly #toolsChanged = new Set<() => void>();
  #handshake: Handshake | undefined;
  #content: LiveContent | undefined;
  #closing: Promise<void> | undefined;
  #offLogLevel: (() => void) | undefined;

  constructor(options: ConnectionOptions & { carrier: Carrier }) {
    const { definition, carrier, clock, logger, answers = {}, redact = (text) => text } = options;
    const { onLog } = options;
    this.#options = options;
    this.#redact = redact;
    const { wire } = carrier;
    this.#router = new RequestRouter({
      server: definition.name,
      wire,
      answers,
      clock,
      logger,
      redact,
      onLog,
    });
    void carrier.broken.then((reason) => this.#broke(reason));
  }

  #broke(reason: PlugboardError): void {
    this.#offLogLevel?.();
    this.#router.end(reason);
    this.#options.carrier.wire.end(reason);
    this.#closed.resolve(reason);
  }

  get closed(): Promise<PlugboardError | undefined> {
    return this.#closed.promise;
  }

  get pid(): number | undefined {
    return this.#options.carrier.pid;
  }

  get identity(): ServerIdentity {
    const handshake = this.#handshake;
    if (handshake === undefined) throw notEstablished();
    const identity = readIdentity(handshake, this.#redact);
    return { ...identity, transport: this.#options.carrier.transport };
  }

  get content(): LiveContent {
    if (this.#content === undefined) throw notEstablished();
    return this.#content;
  }

  /** Shakes hands, and makes room for the SDK on top. `timeout` is what is left of the server's time to get ready. */
  async establish(timeout: number, expect: ProtocolEra | undefined): Promise<void> {
    const { wire, transport } = this.#options.carrier;
    const { capabilities } = this.#router.requests;
    // A server that gets roots asks for them at once. Loading costs nothing now: the child is booting meanwhile.
    const mayAskAtOnce = this.#router.requests.supports("roots/list");
    if (mayAskAtOnce) void preloadSdk();
    const handshake = await shakeHands({
      request: (method, params, question) => wire.request(method, params, question),
      host: this.#host,
      capabilities,
      protocol: this.#options.definition.protocol,
      expect,
      timeout,
      // A process that has just been started may be silent for long, and must not be asked twice.
      probeTimeout: transport === undefined ? undefined : Math.min(PROBE_MS, timeout / 3),
    });
    this.#handshake = handshake;
    const { era } = handshake;
    const stated = handshake.statement.capabilities;
    const hasLogging = isJsonObject(stated) && isJsonObject(stated.logging);
    const adoptMeta = (): void => {
      const level = hasLogging ? this.#router.logLevel : undefined;
      wire.adoptMeta(requestMeta(this.#host, capabilities, level));
    };
    if (era === "modern") adoptMeta();
    const onToolsChanged = (): void => {
      for (const listener of this.#toolsChanged) listener();
    };
    // The SDK listens to the changes of a modern server, and must do so before anything is listed.
    if (era === "legacy" ? mayAskAtOnce : reportsChanges(stated)) await preloadSdk();
    const client = new SdkClient({
      transport: wire,
      handshake,
      host: this.#host,
      router: this.#router,
      timeout: this.#options.timeout(),
      onToolsChanged,
      onContentChange: (change) => this.#content?.heard(change),
      onError: (error) =>
        this.#options.logger.debug("a message of the server was not understood", {
          reason: oneLine(error.message, 300),
        }),
      onFailed: (error) => this.#broke(error),
    });
    if (era === "legacy") {
      wire.setProtocolVersion?.(handshake.protocolVersion);
      // At once: when the SDK is on top, the wire takes this for the SDK's own.
      await wire.send(INITIALIZED);
    }
    // A modern server gets the log level with every request, and asks for the roots when it needs them.
    const setLogLevel = (): void => {
      if (era === "legacy" && hasLogging) this.#router.setLogLevel(timeout);
    };
    if (era === "legacy") this.#router.watchRoots(client);
    setLogLevel();
    this.#offLogLevel = this.#options.answers?.logLevel?.onChange(
      era === "modern" ? adoptMeta : setLogLevel,
    );
    const onRenewed = (): void => {
      setLogLevel();
      onToolsChanged();
      void this.#content?.renew();
    };
    this.#content = this.#openContent(era, client, onRenewed);
    this.#options.carrier.established?.(era, onRenewed);
    if (era === "legacy") await this.#router.untilRootsTaken();
  }

  #openContent(era: ProtocolEra, client: SdkClient, onMissed: () => void): LiveContent {
    const { name: server } = this.#options.definition;
    const timeout = this.#options.timeout();
    const onError = ({ message }: PlugboardError): void =>
      this.#options.logger.debug("the server does not report changes", { reason: message });
    const changes =
      era === "modern"
        ? new ChangeStream({ client, clock: this.#options.clock, timeout, onError, onMissed })
        : undefined;
    changes?.start();
    return new LiveContent({
      server,
      timeout,
      capabilities: client.getServerCapabilities(),
      wire: this.#options.carrier.wire,
      changes,
      send: (send, request) => this.#router.send(era, send, request),
      redact: this.#redact,
    });
  }

  async listTools(): Promise<ToolList> {
    const { capabilities } = this.#router.requests;
    const stated = this.#handshake?.statement.capabilities;
    if (!isJsonObject(stated) || !isJsonObject(stated.tools)) {
      return { tools: [], diagnostics: this.#remarks(), capabilities };
    }
    const { name: server } = this.#options.definition;
    const timeout = this.#options.timeout();
    const { wire } = this.#options.carrier;
    try {
      const options = { server, timeout, wire, redact: this.#redact };
      const { items, diagnostics } = await listPages(TOOL_LIST, options);
      return this.#withParamHeaders({
        tools: items,
        diagnostics: [...this.#remarks(), ...diagnostics],
        capabilities,
      });
    } catch (error) {
      const late = `the server did not list its tools within ${duration(timeout)}`;
      if (!isMethodNotFound(error)) throw explain(error, late, this.#options.carrier);
      const message = "the server advertises tools but does not know tools/list";
      const all = [...this.#remarks(), { server, message }];
      return { tools: [], diagnostics: all, capabilities };
    }
  }

  /** What is unusual about the connection itself. */
  #remarks(): Diagnostic[] {
    const { definition, remark } = this.#options;
    const places = this.#handshake && hiddenIn(this.#handshake);
    const messages = [
      ...(this.#handshake?.oddCapabilities ?? []).map(
        (name) => `its capability '${name}' is not an object, so it counts as absent`,
      ),
      ...(places === undefined
        ? []
        : [`invisible characters were removed from the server's ${places}`]),
    ];
    const { name: server } = definition;
    return [
      ...(remark === undefined ? [] : [{ server, message: remark, kind: "transport" as const }]),
      ...messages.map((message) => ({ server, message })),
    ];
  }

  /** Tells the wire which parameters to mirror. A tool that declares them wrongly must not be called. */
  #withParamHeaders(list: ToolList): ToolList {
    const { wire } = this.#options.carrier;
    if (this.#handshake?.era !== "modern" || wire.adoptParamHeaders === undefined) return list;
    const { name: server } = this.#options.definition;
    const byTool = new Map<string, readonly ParamHeader[]>();
    const diagnostics = [...list.diagnostics];
    const tools = list.tools.filter(({ name, inputSchema }) => {
      const headers = readParamHeaders(inputSchema);
      if (typeof headers !== "string") return byTool.set(name, headers);
      const message = `tool left out: its inputSchema ${headers}`;
      diagnostics.push({ server, subject: oneLine(name, 80), message, kind: "left-out" });
      return false;
    });
    wire.adoptParamHeaders(byTool);
    return { ...list, tools, diagnostics };
  }

  callTool(name: string, args: JsonObject, options: CallOptions): Promise<unknown> {
    return this.#router.callTool(this.#handshake?.era ?? "legacy", name, args, options);
  }

  async ping(timeout: number): Promise<number | undefined> {
    if (this.#handshake?.era !== "legacy") return undefined;
    const started = this.#options.clock.monotonic();
    await this.#options.carrier.wire.request("ping", {}, { timeout });
    return this.#options.clock.monotonic() - started;
  }

  onToolsChanged(listener: () => void): void {
    this.#toolsChanged.add(listener);
  }

  missing(): string | undefined {
    return this.#options.carrier.missing?.();
  }

  stderrTail(): string[] {
    return this.#options.carrier.stderrTail?.() ?? [];
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#closed.resolve(undefined);
    this.#offLogLevel?.();
    this.#toolsChanged.clear();
    this.#content?.end();
    const stopped = new PlugboardError(
      "CONNECTION_CLOSED",
      "the server was stopped during the call",
    );
    this.#router.end(stopped);
    this.#options.carrier.wire.end(stopped);
    await this.#options.carrier.stop();
  }
}

function reportsChanges(capabilities: unknown): boolean {
  if (!isJsonObject(capabilities)) return false;
  return Object.values(capabilities).some(
    (each) => isJsonObject(each) && each.listChanged === true,
  );
}

function notEstablished(): PlugboardError {
  return new PlugboardError("HANDSHAKE_FAILED", "not established");
}
