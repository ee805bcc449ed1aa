// One conversation with one stdio server: its process, its transport and the SDK client on top.

import type { Client } from "@modelcontextprotocol/client";
import type {
  CallOptions,
  Connection,
  ProtocolEra,
  ServerIdentity,
  ToolList,
} from "../model/connection.ts";
import { PlugboardError } from "../model/errors.ts";
import { isJsonObject, type JsonObject } from "../model/json.ts";
import { type Logger, loggerFor } from "../model/logger.ts";
import type { ServerDefinition } from "../model/server-definition.ts";
import { type Clock, within } from "../util/clock.ts";
import { oneLine, truncate } from "../util/text.ts";
import { type Handshake, type HostInfo, requestMeta, shakeHands } from "./handshake.ts";
import { listTools } from "./list-tools.ts";
import type { ServerProcess } from "./process/spawn.ts";
import { exitReason } from "./exit-reason.ts";
import { attachClient } from "./sdk-client.ts";
import { StderrLog } from "./stderr-log.ts";
import { StdioTransport } from "./transport/stdio.ts";

/** How long a closed pipe waits for the exit status that explains it, and an exit for the rest of the pipe. */
const EXIT_STATUS_GRACE_MS = 250;
const METHOD_NOT_FOUND = -32601;
/** Characters; they end up in prompts and in the cache. */
const MAX_INSTRUCTIONS = 64 * 1024;

export interface StdioConnectionOptions {
  definition: ServerDefinition;
  process: ServerProcess;
  host: HostInfo;
  clock: Clock;
  logger: Logger;
  /** The era to ask for first. */
  expect?: ProtocolEra;
}

export class StdioConnection implements Connection {
  readonly closed: Promise<PlugboardError | undefined>;

  readonly #definition: ServerDefinition;
  readonly #process: ServerProcess;
  readonly #host: HostInfo;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #transport: StdioTransport;
  readonly #stderr: StderrLog;
  readonly #toolsChanged = new Set<() => void>();
  #settleClosed: (reason: PlugboardError | undefined) => void = () => {};
  #client: Client | undefined;
  #handshake: Handshake | undefined;
  #closing: Promise<void> | undefined;

  constructor(options: StdioConnectionOptions) {
    this.#definition = options.definition;
    this.#process = options.process;
    this.#host = options.host;
    this.#clock = options.clock;
    this.#logger = loggerFor(options.definition.name, options.logger);
    this.closed = new Promise((resolve) => {
      this.#settleClosed = resolve;
    });
    const { maxMessageBytes } = options.definition;
    this.#stderr = new StderrLog(options.process.stderr, options.clock, (line) =>
      this.#logger.warn(line, { stream: "stderr" }),
    );
    this.#transport = new StdioTransport({
      stdin: options.process.stdin,
      stdout: options.process.stdout,
      maxMessageBytes,
      clock: options.clock,
      onJunk: (line) =>
        this.#logger.debug("dropped a line that is no message", { line: oneLine(line, 200) }),
      onFatal: (error) => void this.#break(error),
    });
    // Its last answers may still be in the pipe; a grandchild may hold the pipe open for ever.
    void this.#process.exited.then(() => {
      if (this.#closing !== undefined) return;
      this.#clock.after(EXIT_STATUS_GRACE_MS, () => void this.#break(undefined));
    });
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  get identity(): ServerIdentity {
    const handshake = this.#handshake;
    if (handshake === undefined) throw new PlugboardError("HANDSHAKE_FAILED", "not established");
    const said = handshake.era === "legacy" ? handshake.initialize : handshake.discover;
    const info = this.#client?.getServerVersion();
    return {
      era: handshake.era,
      protocolVersion: handshake.protocolVersion,
      ...(info !== undefined && {
        name: oneLine(info.name, 100),
        version: oneLine(info.version, 50),
      }),
      ...(typeof said.instructions === "string" && {
        instructions: truncate(said.instructions, MAX_INSTRUCTIONS),
      }),
    };
  }

  /** Handshake, then the SDK on top. `timeout` is what is left of the server's own. */
  async establish(timeout: number, expect: ProtocolEra | undefined): Promise<void> {
    // The child is booting meanwhile: loading the SDK costs nothing here.
    const sdk = import("@modelcontextprotocol/client");
    const capabilities = {};
    this.#handshake = await shakeHands({
      request: (method, params) => this.#transport.request(method, params, { timeout }),
      host: this.#host,
      capabilities,
      protocol: this.#definition.protocol,
      ...(expect !== undefined && { expect }),
    });
    if (this.#handshake.era === "modern") {
      this.#transport.adoptMeta(requestMeta(this.#host, capabilities));
    }
    this.#client = await attachClient(await sdk, {
      transport: this.#transport,
      handshake: this.#handshake,
      host: this.#host,
      capabilities,
      timeout,
      onToolsChanged: () => {
        for (const listener of this.#toolsChanged) listener();
      },
      onError: (error) =>
        this.#logger.debug("the server's message was not understood", {
          reason: oneLine(error.message, 300),
        }),
    });
  }

  async listTools(): Promise<ToolList> {
    if (this.#capability("tools") === undefined) return { tools: [], diagnostics: [] };
    const { name, timeout } = this.#definition;
    try {
      return await listTools(name, (cursor) =>
        this.#transport.request("tools/list", cursor === undefined ? {} : { cursor }, { timeout }),
      );
    } catch (error) {
      if (!isMethodNotFound(error)) throw error;
      const message = "the server advertises tools and then knows no tools/list";
      return { tools: [], diagnostics: [{ server: name, message }] };
    }
  }

  callTool(name: string, args: JsonObject, options: CallOptions): Promise<unknown> {
    const result = this.#transport.callTool(name, args, options);
    return this.#handshake?.era === "modern" ? result.then(requireComplete) : result;
  }

  async ping(timeout: number): Promise<number | undefined> {
    if (this.#handshake?.era !== "legacy") return undefined;
    const started = this.#clock.monotonic();
    await this.#transport.request("ping", {}, { timeout });
    return this.#clock.monotonic() - started;
  }

  onToolsChanged(listener: () => void): void {
    this.#toolsChanged.add(listener);
  }

  stderrTail(): string[] {
    return this.#stderr.tail();
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#settleClosed(undefined);
    this.#toolsChanged.clear();
    this.#transport.end(
      new PlugboardError("CONNECTION_CLOSED", "the server was stopped during the call"),
    );
    await this.#process.stop();
  }

  /** The conversation is over and nobody asked for it. `error` is what was seen first, if not the exit. */
  async #break(error: PlugboardError | undefined): Promise<void> {
    const explained =
      error === undefined || error.code === "CONNECTION_CLOSED"
        ? exitReason(
            await within(this.#clock, EXIT_STATUS_GRACE_MS, this.#process.exited),
            this.#stderr.tail(),
            error,
          )
        : error;
    this.#transport.end(explained);
    this.#settleClosed(explained);
  }

  #capability(name: string): JsonObject | undefined {
    const capabilities: unknown = this.#client?.getServerCapabilities();
    const value = isJsonObject(capabilities) ? capabilities[name] : undefined;
    return isJsonObject(value) ? value : undefined;
  }
}

/** 2026-07-28 asks the client for more by way of a result. Nothing to ask for has been offered. */
function requireComplete(result: unknown): unknown {
  if (!isJsonObject(result) || result.resultType !== "input_required") return result;
  const message = "the tool asks for input, and nobody is there to give it";
  throw new PlugboardError("UNSUPPORTED", message);
}

function isMethodNotFound(error: unknown): boolean {
  if (!(error instanceof PlugboardError) || !isJsonObject(error.cause)) return false;
  const wire = error.cause.error;
  return isJsonObject(wire) && wire.code === METHOD_NOT_FOUND;
}
