// The unified tool: what an agent sees, whether a server or your own code runs it.

import type { ToolVerdict } from "./tool-verdict.ts";
import type { InputRequired } from "./caller-options.ts";
import type { ContentBlock } from "./content.ts";
import type { ErrorCode } from "./errors.ts";
import type { Icon } from "./icon.ts";
import type { IncludeMode } from "./include.ts";
import type { JsonObject } from "./json.ts";

/** One tool as its server describes it, checked but not changed. */
export interface ToolDefinition {
  name: string;
  title?: string;
  description?: string;
  inputSchema: JsonObject;
  outputSchema?: JsonObject;
  annotations?: JsonObject;
  /** Whether it runs as a task: `{ taskSupport: "forbidden" | "optional" | "required" }`. */
  execution?: JsonObject;
  icons?: Icon[];
  _meta?: JsonObject;
}

/** A tool of a server under its public name. */
export interface CatalogEntry {
  publicName: string;
  /** What the template gives, if the public name is another: it may be cut and end in a hash. */
  fullName?: string;
  server: string;
  tool: ToolDefinition;
}

export type ToolSource = { kind: "mcp"; server: string; tool: string } | { kind: "native" };

export interface Progress {
  progress: number;
  total?: number;
  message?: string;
}

/** The progress of a running call. */
export interface ToolUpdate {
  content: ContentBlock[];
  progress?: Progress;
}

export type UpdateListener = (update: ToolUpdate) => void;

/** Why a call got no answer from the tool itself. */
export interface CallFailure {
  code: ErrorCode;
  /** What happened and, at its end, what to do about it. */
  message: string;
  /** What you can do about it, as it stands in the message. */
  hint?: string;
  /** The server's own words in the message, or "" if there are none. Absent if that is not known. */
  quote?: string;
  /** With SERVER_ERROR: the JSON-RPC error that the server answered with. */
  serverError?: { code: number; data?: unknown };
  /**
   * The call was sent, and nobody knows whether it had an effect. Such a call is never sent again by Plugboard. Absent: it
   * has not run, or the server itself reported the failure.
   */
  mayHaveRun?: true;
}

/**
 * How a call ended. Failures are outcomes too: `isError` is set, and `content` tells a model what happened and
 * what it can do. `failure` is set if the tool itself did not report the error.
 */
export interface CallOutcome {
  content: ContentBlock[];
  structuredContent?: unknown;
  isError?: boolean;
  _meta?: JsonObject;
  failure?: CallFailure;
  /** The server wants answers first; only for calls with `input`. There is no other content then. */
  inputRequired?: InputRequired;
}

/** What `execute` returns to an agent loop. `details` holds the raw outcome. */
export interface ToolResult<Details = unknown> {
  content: ContentBlock[];
  isError?: boolean;
  details?: Details;
}

export interface Tool<Details = unknown> {
  /** The public name: valid for every model provider, unique on the board. */
  name: string;
  label: string;
  /** For a model: it also says which server the tool is from. */
  description: string;
  /** The server's own title of the tool, for people. */
  title?: string;
  /** The description as the server wrote it. */
  ownDescription?: string;
  icons?: Icon[];
  /** JSON Schema of the arguments, as the server wrote it. */
  parameters: JsonObject;
  annotations?: JsonObject;
  outputSchema?: JsonObject;
  /** What the server says about running it: a tool with `taskSupport: "required"` runs only as a task. */
  execution?: JsonObject;
  /** The server's own metadata, unchecked. */
  _meta?: JsonObject;
  ownerOnly?: boolean;
  /** The server is configured as `trusted`: you can believe the annotations. A native tool is yours, and needs no mark. */
  trusted?: true;
  /** The configuration itself asks for framing: a call with `framed` gives text between markers, and nothing else. */
  isFramed?: true;
  /**
   * How a model gets this tool. Absent: it is in the prompt, unless there are too many. `always`: it is in the prompt in
   * any case. `agent`: the model finds it by search. Do not show the others to a model. `manual`: the configuration, or
   * a person, keeps it for people and programs. `app`: the server keeps it for its own app.
   */
  include?: IncludeMode | "app";
  source: ToolSource;
  /** Never rejects because of a server: a failure is a result with `isError`. */
  execute(
    toolCallId: string,
    params: JsonObject,
    signal?: AbortSignal,
    onUpdate?: UpdateListener,
  ): Promise<ToolResult<Details>>;
}

/** `server/tool`: what a person types, and what rules and files are named after. Native tools have no server. */
export function canonicalName({ name, source }: Pick<Tool, "name" | "source">): string {
  return source.kind === "mcp" ? `${source.server}/${source.tool}` : name;
}

/** What its server calls it. */
export function ownName({ name, source }: Pick<Tool, "name" | "source">): string {
  return source.kind === "mcp" ? source.tool : name;
}

/** Plugboard cannot run tasks, so a call of such a tool most likely fails. */
export function needsTask({ execution }: Pick<Tool, "execution">): boolean {
  return execution?.["taskSupport"] === "required";
}

/** A tool of your own. */
export interface NativeTool extends Pick<
  Tool,
  "name" | "description" | "parameters" | "annotations" | "outputSchema" | "ownerOnly"
> {
  label?: string;
  /**
   * Milliseconds that a call may take without an update; `false` for a tool that ends by itself, and soon after its signal
   * has aborted. Default: as for servers whose configuration does not say, 60 000.
   */
  toolTimeout?: number | false;
  /**
   * Gets arguments that fit `parameters`. The call ends with the signal, whose `reason` is that of the caller's or a
   * `TimeoutError`: stop working then.
   */
  execute(...args: Parameters<Tool["execute"]>): Promise<NativeToolResult> | NativeToolResult;
}

export interface NativeToolResult extends ToolResult {
  structuredContent?: unknown;
}

export interface NativeToolContext {
  workspaceDir?: string;
  /** Whether an earlier native tool already has the name. */
  has: (name: string) => boolean;
}

/** Creates a tool for one board. Return `undefined` to leave it out. */
export type NativeToolFactory = (context: NativeToolContext) => NativeTool | undefined;

/** Says that a result was written by a server, and how it is marked for a model. */
export interface ExternalContent {
  untrusted: true;
  source: "mcp_server";
  server: string;
  /** The server's own name of the tool. */
  tool: string;
  /** Whether the text is between markers. */
  wrapped: boolean;
  /** How many blocks of other kinds there are. Markers cannot cover what an image shows. */
  kinds: Partial<Record<Exclude<ContentBlock["type"], "text">, number>>;
}

/** The `details` of a tool's result: the raw outcome, with `externalContent` if a server wrote it. */
export interface ModelDetails extends CallOutcome {
  externalContent?: ExternalContent;
}

export interface JudgedTool {
  tool: Tool;
  verdict: ToolVerdict;
}
