// A board as one MCP server on stdio, for the client that started this process.

import { randomBytes, randomUUID } from "node:crypto";
import type { Readable, Writable } from "node:stream";
import type { EndpointBoard, EndpointOptions } from "./endpoint/context.ts";
import { Endpoint } from "./endpoint/endpoint.ts";
import { Sealer } from "./endpoint/sealed.ts";
import { serveOnStdio } from "./endpoint/stdio.ts";
import { openSpans } from "./endpoint/spans.ts";
import {
  CLOCK,
  FLAG,
  FUNCTION,
  type Kinds,
  LOGGER,
  objectWith,
  requireKind,
  requireOptions,
  SIGNAL,
} from "../core/types/kinds.ts";
import { loggerOf, silentLogger } from "../core/types/logger.ts";
import { systemClock } from "../util/clock.ts";

export interface ServeMcpOptions extends Partial<
  Pick<EndpointOptions, "clock" | "logger" | "onApproval" | "onRoots" | "search">
> {
  /** What the client is told about the board as a whole, before what its servers say. */
  about?: string | EndpointOptions["about"];
  /** Leaves the URIs of apps as they are, because there is only one server. */
  keepsApps?: boolean | EndpointOptions["keepsApps"];
  /** Default: stdin. */
  input?: Readable;
  /** Default: stdout. Nothing else may be written to it. */
  output?: Pick<Writable, "write">;
  /** Called once, when the client has said what it is called. */
  onClient?: (client: { name?: string; version?: string }) => void;
  /** Aborting it ends the serving. */
  signal?: AbortSignal;
}

const BOARD = objectWith(
  "a board",
  "tools",
  "find",
  "search",
  "call",
  "status",
  "instructions",
  "setLogLevel",
  "on",
);
const KINDS: Kinds<ServeMcpOptions> = {
  input: objectWith("a readable stream", "on", "off", "pause", "resume"),
  output: objectWith("a writable stream", "write"),
  signal: SIGNAL,
  clock: CLOCK,
  logger: LOGGER,
  onApproval: FUNCTION,
  onRoots: FUNCTION,
  onClient: FUNCTION,
  search: FLAG,
  about: [
    "a string or a function",
    (value) => typeof value === "string" || typeof value === "function",
  ],
  keepsApps: [
    "true, false or a function",
    (value) => typeof value === "boolean" || typeof value === "function",
  ],
};

const NEVER = new AbortController().signal;

/**
 * Serves a board's tools, resources and prompts as one MCP server. Resolves when the client has disconnected. The
 * board stays open: closing it is up to you.
 */
export async function serveMcp(board: EndpointBoard, options: ServeMcpOptions = {}): Promise<void> {
  requireKind("the board", board, BOARD);
  requireOptions<ServeMcpOptions>(options, KINDS);
  const {
    input = process.stdin,
    output = process.stdout,
    signal = NEVER,
    clock = systemClock,
    logger = silentLogger,
    onApproval,
    onRoots,
    about,
    keepsApps,
    search = false,
    onClient,
  } = options;
  const sealer = Sealer.withOwnKey(randomBytes);
  const spans = await openSpans();
  const given = {
    clock,
    logger: loggerOf(logger),
    onApproval,
    onRoots,
    search,
    about: typeof about === "string" ? () => about : about,
    keepsApps: typeof keepsApps === "boolean" ? () => keepsApps : keepsApps,
  };
  const endpoint = new Endpoint({
    board,
    sealer,
    newId: randomUUID,
    ...given,
    spans,
  });
  try {
    await serveOnStdio({ endpoint, input, output, onClient, signal });
  } finally {
    endpoint.close();
  }
}
