// A model that says what a script tells it to: an HTTP server on loopback that speaks OpenAI's chat and
// responses APIs, Anthropic's messages API and Google's generateContent.

export interface ToolCall {
  name: string;
  /** A string is sent as it is, so it need not even be JSON. */
  arguments: { [key: string]: unknown } | string;
  /** Default: made up, unique in this model. */
  id?: string;
}

export interface TurnError {
  status: number;
  message: string;
  /** Seconds, for the `Retry-After` header. */
  retryAfter?: number;
  /** Inside a stream that began well, after this many chunks of the turn. */
  after?: number;
}

export interface Usage {
  /** Tokens, `cached` ones included. */
  input: number;
  /** Tokens, `reasoning` ones included. */
  output: number;
  cached?: number;
  reasoning?: number;
}

/** What the model answers to one request: thoughts first, then text, then tool calls. */
export interface Turn {
  text?: string;
  thinking?: string;
  toolCalls?: readonly ToolCall[];
  /** Default: as the rest of the turn suggests. */
  finish?: "stop" | "tools" | "length" | "filter";
  error?: TurnError;
  /** Before the first byte. */
  delayMs?: number;
  /** Between chunks. */
  chunkDelayMs?: number;
  /** Before the last chunk. */
  until?: Promise<unknown>;
  /** The connection is lost after this many chunks. */
  cut?: number;
  /** The answer ends after this many chunks, in good order as far as HTTP goes. */
  endAfter?: number;
  /** Default: a token for every four characters. */
  usage?: Usage;
}

/** Nothing means that the script has ended. `index` counts the turns given so far. */
export type TurnMaker = (
  request: ModelRequest,
  index: number,
) => Turn | undefined | Promise<Turn | undefined>;

export type ApiName = "chat" | "responses" | "messages" | "google";

export interface Message {
  role: "system" | "user" | "assistant" | "tool";
  text: string;
  /** Of an assistant; `arguments` as text. */
  toolCalls: { id: string; name: string; arguments: string }[];
  /** Of a tool: the call it answers. */
  toolCallId?: string;
}

export interface OfferedTool {
  name: string;
  description: string;
  /** JSON Schema of the arguments. */
  schema: { [key: string]: unknown };
}

export interface ToolResult {
  /** Of the call. */
  id: string;
  /** Of the tool; empty where the call is not in the conversation. */
  name: string;
  text: string;
  /** Only one API can say so. */
  isError: boolean;
  /** As it came. */
  content: unknown;
}

export interface ModelRequest {
  api: ApiName;
  model: string;
  stream: boolean;
  /** Parsed, otherwise as it came. */
  body: { [key: string]: unknown };
  headers: { [name: string]: string | string[] | undefined };
  /** The same shape for every API, the system prompt included. */
  messages: Message[];
  tools: OfferedTool[];
  /** Every one in the conversation, oldest first. */
  toolResults: ToolResult[];
  /** `dropped`: the connection went away before the whole answer was out, whoever closed it. */
  outcome: "pending" | "answered" | "dropped";
}

export interface ModelOptions {
  turns: readonly (Turn | TurnMaker)[] | TurnMaker;
  /** Default: a free one. */
  port?: number;
  /** Asked for as a bearer token, as `x-api-key` or as `x-goog-api-key`. */
  apiKey?: string;
  /** What `GET /v1/models` lists. */
  models?: readonly string[];
  /** Milliseconds since the epoch. */
  now?: () => number;
}

export interface Model extends AsyncDisposable {
  /** Without `/v1`. */
  readonly url: string;
  /** In the order they came. Those that were refused for want of a key are left out. */
  readonly requests: readonly ModelRequest[];
  /** Idempotent. Drops what is being streamed; resolves when no socket is left. */
  close(): Promise<void>;
}

export function startModel(options: ModelOptions): Promise<Model>;
