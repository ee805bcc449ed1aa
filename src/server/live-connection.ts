// One conversation with one server: the handshake, the SDK client on top, and the calls, whatever carries it.

import type { Client } from "@modelcontextprotocol/client";
import type {
  CallOptions,
  Connection,
  ProtocolEra,
  ServerIdentity,
  ToolList,
} from "../model/connection.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import { PlugboardError } from "../model/errors.ts";
import { isJsonObject, type JsonObject } from "../model/json.ts";
import type { Logger } from "../model/logger.ts";
import type { ServerDefinition } from "../model/server-definition.ts";
import type { Clock } from "../util/clock.ts";
import { oneLine } from "../util/text.ts";
import type { Carrier } from "./carrier.ts";
import { type Handshake, type HostInfo, requestMeta, shakeHands } from "./handshake.ts";
import { hiddenIn, readIdentity } from "./identity.ts";
import { listTools } from "./list-tools.ts";
import { Listening } from "./listening.ts";
import { LiveContent } from "./live-content.ts";
import { isMethodNotFound } from "./method-not-found.ts";
import { type ParamHeader, readParamHeaders } from "./param-headers.ts";
import { Dialogue } from "./requests/dialogue.ts";
import { type HostAnswers, NOTHING } from "./requests/requests.ts";
import { attachClient } from "./sdk-client.ts";

export interface LiveConnectionOptions {
  definition: ServerDefinition;
  carrier: Carrier;
  host: HostInfo;
  clock: Clock;
  logger: Logger;
  /** What the server may ask for. Default: nothing. */
  answers?: HostAnswers;
  /** Takes secrets out of what the server says about itself and its tools. */
  redact?: (text: string) => string;
}

export class LiveConnection implements Connection {
  readonly closed: Promise<PlugboardError | undefined>;

  readonly #definition: ServerDefinition;
  readonly #carrier: Carrier;
  readonly #host: HostInfo;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #dialogue: Dialogue;
  readonly #redact: (text: string) => string;
  readonly #toolsChanged = new Set<() => void>();
  #settleClosed: (reason: PlugboardError | undefined) => void = () => {};
  #client: Client | undefined;
  #handshake: Handshake | undefined;
  #content: LiveContent | undefined;
  #closing: Promise<void> | undefined;

  constructor(options: LiveConnectionOptions) {
    this.#definition = options.definition;
    this.#carrier = options.carrier;
    this.#host = options.host;
    this.#clock = options.clock;
    this.#logger = options.logger;
    this.#redact = options.redact ?? ((text) => text);
    const { definition, carrier, answers = NOTHING } = options;
    this.#dialogue = new Dialogue({
      ...options,
      answers,
      server: definition.name,
      wire: carrier.wire,
      redact: this.#redact,
    });
    this.closed = new Promise((resolve) => {
      this.#settleClosed = resolve;
    });
    void options.carrier.broken.then((reason) => {
      this.#dialogue.end(reason);
      this.#carrier.wire.end(reason);
      this.#settleClosed(reason);
    });
  }

  get pid(): number | undefined {
    return this.#carrier.pid;
  }

  get identity(): ServerIdentity {
    const handshake = this.#handshake;
    if (handshake === undefined) throw new PlugboardError("HANDSHAKE_FAILED", "not established");
    const { transport } = this.#carrier;
    return {
      ...readIdentity(handshake, this.#client?.getServerVersion(), this.#redact),
      ...(transport !== undefined && { transport }),
    };
  }

  get content(): LiveContent {
    if (this.#content === undefined)
      throw new PlugboardError("HANDSHAKE_FAILED", "not established");
    return this.#content;
  }

  /** Handshake, then the SDK on top. `timeout` is what is left of the server's own. */
  async establish(timeout: number, expect: ProtocolEra | undefined): Promise<void> {
    // A child is booting meanwhile: loading the SDK costs nothing then.
    const sdk = import("@modelcontextprotocol/client");
    const { capabilities } = this.#dialogue;
    this.#handshake = await shakeHands({
      request: (method, params) => this.#carrier.wire.request(method, params, { timeout }),
      host: this.#host,
      capabilities,
      protocol: this.#definition.protocol,
      ...(expect !== undefined && { expect }),
    });
    if (this.#handshake.era === "modern") {
      const level = hasLogging(this.#handshake) ? this.#dialogue.logLevel : undefined;
      this.#carrier.wire.adoptMeta(requestMeta(this.#host, capabilities, level));
    }
    const onToolsChanged = (): void => {
      for (const listener of this.#toolsChanged) listener();
    };
    this.#client = await attachClient(await sdk, {
      transport: this.#carrier.wire,
      handshake: this.#handshake,
      host: this.#host,
      dialogue: this.#dialogue,
      timeout,
      onToolsChanged,
      onContentChange: (change) => this.#content?.heard(change),
      onError: (error) =>
        this.#logger.debug("the server's message was not understood", {
          reason: oneLine(error.message, 300),
        }),
    });
    const setLogLevel = this.#tellHost(this.#handshake, this.#client, timeout);
    const onRenewed = (): void => {
      setLogLevel();
      onToolsChanged();
      void this.#content?.renew();
    };
    this.#content = this.#makeContent(this.#handshake.era, this.#client, onRenewed);
    this.#carrier.established?.(this.#handshake.era, onRenewed);
  }

  /** What a server of the old era is told unasked. Gives what to repeat when it may have forgotten. */
  #tellHost(handshake: Handshake, client: Client, timeout: number): () => void {
    if (handshake.era === "modern") return () => {};
    this.#dialogue.watchRoots(client);
    const setLogLevel = (): void => {
      if (hasLogging(handshake)) this.#dialogue.setLogLevel(timeout);
    };
    setLogLevel();
    return setLogLevel;
  }

  #makeContent(era: ProtocolEra, client: Client, onMissed: () => void): LiveContent {
    const { name: server, timeout } = this.#definition;
    const onError = ({ message }: PlugboardError): void =>
      this.#logger.debug("the server does not tell of changes", { reason: message });
    const listening =
      era === "modern"
        ? new Listening({ client, clock: this.#clock, timeout, onError, onMissed })
        : undefined;
    listening?.start();
    return new LiveContent({
      server,
      timeout,
      era,
      capabilities: client.getServerCapabilities(),
      wire: this.#carrier.wire,
      listening,
      inRounds: (ask, signal?: AbortSignal) => this.#dialogue.inRounds(ask, undefined, signal),
      redact: this.#redact,
    });
  }

  async listTools(): Promise<ToolList> {
    if (this.#capability("tools") === undefined) return { tools: [], diagnostics: this.#hidden() };
    const { name, timeout } = this.#definition;
    try {
      const request = (cursor: string | undefined): Promise<unknown> =>
        this.#carrier.wire.request("tools/list", cursor === undefined ? {} : { cursor }, {
          timeout,
        });
      const list = await listTools(name, request, this.#redact);
      return this.#mirrored({ ...list, diagnostics: [...this.#hidden(), ...list.diagnostics] });
    } catch (error) {
      if (!isMethodNotFound(error)) throw error;
      const message = "the server advertises tools and then knows no tools/list";
      return { tools: [], diagnostics: [{ server: name, message }] };
    }
  }

  #hidden(): Diagnostic[] {
    const info = this.#client?.getServerVersion();
    const places = this.#handshake && hiddenIn(this.#handshake, info);
    if (places === undefined) return [];
    const message = `invisible characters were removed from the server's ${places}`;
    return [{ server: this.#definition.name, message }];
  }

  /** A tool whose parameters cannot be mirrored as it asks must not be called. */
  #mirrored(list: ToolList): ToolList {
    const { wire } = this.#carrier;
    if (this.#handshake?.era !== "modern" || wire.adoptParamHeaders === undefined) return list;
    const { name: server } = this.#definition;
    const byTool = new Map<string, readonly ParamHeader[]>();
    const diagnostics = [...list.diagnostics];
    const tools = list.tools.filter(({ name, inputSchema }) => {
      const headers = readParamHeaders(inputSchema);
      if (typeof headers !== "string") return byTool.set(name, headers);
      const message = `tool left out: its inputSchema ${headers}`;
      diagnostics.push({ server, subject: oneLine(name, 80), message });
      return false;
    });
    wire.adoptParamHeaders(byTool);
    return { tools, diagnostics };
  }

  callTool(name: string, args: JsonObject, options: CallOptions): Promise<unknown> {
    return this.#dialogue.callTool(this.#handshake?.era ?? "legacy", name, args, options);
  }

  async ping(timeout: number): Promise<number | undefined> {
    if (this.#handshake?.era !== "legacy") return undefined;
    const started = this.#clock.monotonic();
    await this.#carrier.wire.request("ping", {}, { timeout });
    return this.#clock.monotonic() - started;
  }

  onToolsChanged(listener: () => void): void {
    this.#toolsChanged.add(listener);
  }

  stderrTail(): string[] {
    return this.#carrier.stderrTail();
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#settleClosed(undefined);
    this.#toolsChanged.clear();
    this.#content?.end();
    const stopped = new PlugboardError(
      "CONNECTION_CLOSED",
      "the server was stopped during the call",
    );
    this.#dialogue.end(stopped);
    this.#carrier.wire.end(stopped);
    await this.#carrier.stop();
  }

  #capability(name: string): JsonObject | undefined {
    const capabilities: unknown = this.#client?.getServerCapabilities();
    const value = isJsonObject(capabilities) ? capabilities[name] : undefined;
    return isJsonObject(value) ? value : undefined;
  }
}

function hasLogging(handshake: Handshake): boolean {
  const said = handshake.era === "legacy" ? handshake.initialize : handshake.discover;
  return isJsonObject(said.capabilities) && isJsonObject(said.capabilities.logging);
}
