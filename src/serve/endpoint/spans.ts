// Traces across programs: takes the W3C trace context of a request in, and carries it on to the server. Where an
// OpenTelemetry SDK is registered in the process, each call is a span in between; where none is, nothing is loaded.

import type { IncomingHttpHeaders } from "node:http";
import type { Attributes, Context, Span } from "@opentelemetry/api";
import { isJsonObject, type JsonObject } from "../../core/types/json.ts";
import type { CallFailure } from "../../core/types/tool.ts";
import { packageVersion } from "../../util/version.ts";
import type { Answer, RpcRequest } from "./message.ts";

/** `traceparent`, `tracestate` and `baggage`, as MCP has them in `_meta`. */
export type TraceContext = JsonObject;

const KEYS = ["traceparent", "tracestate", "baggage"] as const;
const PARENT = /^[\da-f]{2}-[\da-f]{32}-[\da-f]{16}-[\da-f]{2}$/;
const LONGEST_STATE = 512;

/** The requests that reach a server. */
const TRACED: ReadonlySet<string> = new Set(["tools/call", "resources/read", "prompts/get"]);

/** Of `_meta`, only the trace context goes on to the server: the rest is between the client and us. */
export function traceInMeta({ _meta: meta }: JsonObject): TraceContext | undefined {
  if (!isJsonObject(meta)) return undefined;
  let found: TraceContext | undefined;
  for (const key of KEYS) if (typeof meta[key] === "string") (found ??= {})[key] = meta[key];
  return found;
}

/** Without baggage: a client's program may add it to every request of any kind. */
export function traceInHeaders(headers: IncomingHttpHeaders): TraceContext | undefined {
  const { traceparent, tracestate } = headers;
  if (typeof traceparent !== "string" || !PARENT.test(traceparent)) return undefined;
  const hasState = typeof tracestate === "string" && tracestate.length <= LONGEST_STATE;
  return { traceparent, ...(hasState && { tracestate }) };
}

/** What the message says counts for more than what its HTTP request says. */
export function joinTrace(
  inMeta: TraceContext | undefined,
  inHeaders: TraceContext | undefined,
): TraceContext | undefined {
  if (inHeaders === undefined || inMeta?.["traceparent"] !== undefined) return inMeta;
  return { ...inMeta, ...inHeaders };
}

/** Where an SDK registers itself, for every copy of the API that a process has loaded. */
const REGISTERED = Symbol.for("opentelemetry.js.api.1");

/** Undefined if no SDK is registered. It has to be there before: load it with `node --import`. */
export async function openSpans(): Promise<Spans | undefined> {
  const registered = (globalThis as Record<symbol, unknown>)[REGISTERED];
  if (!isJsonObject(registered) || registered["trace"] === undefined) return undefined;
  return new Spans(await import("@opentelemetry/api"));
}

interface GivenTrace {
  inMeta: TraceContext | undefined;
  inHeaders: TraceContext | undefined;
}

export class Spans {
  readonly #api: typeof import("@opentelemetry/api");
  readonly #tracer;

  constructor(api: typeof import("@opentelemetry/api")) {
    this.#api = api;
    this.#tracer = api.trace.getTracer("plugboard", packageVersion());
  }

  /** Undefined for requests that are no calls. `server` is the one that the call goes to, if that is known. */
  begin(
    request: RpcRequest,
    { inMeta, inHeaders }: GivenTrace,
    facts: { protocolVersion: string; server: string | undefined },
  ): CallSpan | undefined {
    if (!TRACED.has(request.method)) return undefined;
    const api = this.#api;
    const name = typeof request.params["name"] === "string" ? request.params["name"] : undefined;
    const span = this.#tracer.startSpan(
      // A URI would make a name of its own for every resource.
      name === undefined ? request.method : `${request.method} ${name}`,
      { kind: api.SpanKind.SERVER, attributes: attributesOf(request, name, facts) },
      this.#parent({ inMeta, inHeaders }),
    );
    const context = api.trace.setSpan(api.context.active(), span);
    const carried: Record<string, string> = {};
    api.propagation.inject(context, carried);
    const given = joinTrace(inMeta, inHeaders);
    // An SDK may pass nothing on. Then the client's own context still reaches the server.
    const isPassedOn = carried["traceparent"] !== undefined;
    const baggage = inMeta?.["baggage"];
    return new CallSpan(
      api,
      span,
      context,
      isPassedOn ? { ...(typeof baggage === "string" && { baggage }), ...carried } : given,
    );
  }

  /** Sends what the SDK still holds back. Never rejects. */
  async flush(): Promise<void> {
    const provider: unknown = this.#api.trace.getTracerProvider();
    const { getDelegate } = provider as { getDelegate?: () => unknown };
    const sdk = (getDelegate?.call(provider) ?? provider) as { forceFlush?: () => Promise<void> };
    await sdk.forceFlush?.().catch(() => {});
  }

  #parent({ inMeta, inHeaders }: GivenTrace): Context {
    const { context, propagation, trace } = this.#api;
    const active = context.active();
    if (inMeta?.["traceparent"] !== undefined) return propagation.extract(active, inMeta);
    // If the SDK traces HTTP by itself, its span is active and has the header as its parent.
    if (inHeaders === undefined || trace.getSpan(active) !== undefined) return active;
    return propagation.extract(active, inHeaders);
  }
}

export class CallSpan {
  /** What goes to the server: this span is the parent of its own. */
  readonly carried: TraceContext | undefined;
  readonly #api: typeof import("@opentelemetry/api");
  readonly #span: Span;
  readonly #context: Context;

  constructor(
    api: typeof import("@opentelemetry/api"),
    span: Span,
    context: Context,
    carried: TraceContext | undefined,
  ) {
    this.#api = api;
    this.#span = span;
    this.#context = context;
    this.carried = carried;
  }

  /** Runs `task` with the span as the active one, so that others can add theirs to it. */
  run<Result>(task: () => Result): Result {
    return this.#api.context.with(this.#context, task);
  }

  end(answer: Answer, failure: CallFailure | undefined): void {
    const span = this.#span;
    const { ERROR } = this.#api.SpanStatusCode;
    if ("error" in answer) {
      const { code, message } = answer.error;
      span.setAttribute("rpc.response.status_code", String(code));
      span.setAttribute("error.type", failure?.code ?? String(code));
      span.setStatus({ code: ERROR, message });
    } else if (answer.result["isError"] === true) {
      span.setAttribute("error.type", failure?.code ?? "tool_error");
      span.setStatus({ code: ERROR, ...(failure && { message: failure.message }) });
    }
    span.end();
  }
}

/** As in OpenTelemetry's conventions for MCP. Neither the session nor the caller is among them. */
function attributesOf(
  { method, id, params }: RpcRequest,
  name: string | undefined,
  { protocolVersion, server }: Parameters<Spans["begin"]>[2],
): Attributes {
  return {
    "mcp.method.name": method,
    "mcp.protocol.version": protocolVersion,
    "jsonrpc.request.id": String(id),
    ...(method === "tools/call" && {
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": name,
    }),
    ...(method === "prompts/get" && { "gen_ai.prompt.name": name }),
    ...(typeof params["uri"] === "string" && { "mcp.resource.uri": params["uri"] }),
    ...(server !== undefined && { "plugboard.server": server }),
  };
}
