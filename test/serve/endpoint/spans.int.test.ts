// Traces through an endpoint: what of a request's trace context reaches the server, and the span in between. The SDK
// here is a small one on the official API: it records spans and speaks W3C trace context.

import {
  type Attributes,
  type Context,
  context,
  type ContextManager,
  propagation,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  type SpanStatus,
  SpanStatusCode,
  trace,
} from "@opentelemetry/api";
import { AsyncLocalStorage } from "node:async_hooks";
import { describe, expect, it, onTestFinished } from "vitest";
import { openSpans } from "../../../src/serve/endpoint/spans.ts";
import { closeBoards, fixture, open } from "../../support/boards.ts";
import { closeServed, legacy, modern, post, serve } from "./harness.ts";

closeBoards();
closeServed();

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const IN_META = `00-${TRACE}-b7ad6b7169203331-01`;
const IN_HEADER = "00-11111111111111111111111111111111-2222222222222222-01";

interface RecordedSpan {
  name: string;
  kind: SpanKind | undefined;
  attributes: Attributes;
  parent: string | undefined;
  context: SpanContext;
  status: SpanStatus | undefined;
  ended: boolean;
}

const storage = new AsyncLocalStorage<Context>();

const localContexts: ContextManager = {
  active: () => storage.getStore() ?? ROOT_CONTEXT,
  with: (current, task, self, ...args) =>
    storage.run(current, () => task.call(self as ThisParameterType<typeof task>, ...args)),
  bind: (_, target) => target,
  enable: () => localContexts,
  disable: () => localContexts,
};

function registerSdk(): RecordedSpan[] {
  const spans: RecordedSpan[] = [];
  const startSpan = (
    name: string,
    { kind, attributes = {} }: { kind?: SpanKind; attributes?: Attributes } = {},
    parent: Context = context.active(),
  ): Span => {
    const above = trace.getSpanContext(parent);
    const spanId = (spans.length + 1).toString(16).padStart(16, "0");
    const record: RecordedSpan = {
      name,
      kind,
      attributes: { ...attributes },
      parent: above?.spanId,
      context: { traceId: above?.traceId ?? "f".repeat(32), spanId, traceFlags: 1 },
      status: undefined,
      ended: false,
    };
    spans.push(record);
    const span = {
      spanContext: () => record.context,
      setAttribute(key: string, value: string) {
        record.attributes[key] = value;
        return span;
      },
      setStatus(status: SpanStatus) {
        record.status = status;
        return span;
      },
      end() {
        record.ended = true;
      },
    } as unknown as Span;
    return span;
  };
  trace.setGlobalTracerProvider({ getTracer: () => ({ startSpan }) as never });
  context.setGlobalContextManager(localContexts);
  propagation.setGlobalPropagator({
    fields: () => ["traceparent"],
    inject(current, carrier, setter) {
      const found = trace.getSpanContext(current);
      if (found) setter.set(carrier, "traceparent", `00-${found.traceId}-${found.spanId}-01`);
    },
    extract(current, carrier, getter) {
      const [, traceId = "", spanId = ""] = String(getter.get(carrier, "traceparent")).split("-");
      return trace.setSpanContext(current, { traceId, spanId, traceFlags: 1, isRemote: true });
    },
  });
  onTestFinished(() => {
    trace.disable();
    context.disable();
    propagation.disable();
  });
  return spans;
}

/** A server that tells what it was told, and one that fails in every way. */
async function served() {
  const board = await open({ faithful: fixture("faithful"), echo: fixture("echo") });
  const spans = await openSpans();
  const { url } = await serve(board, spans ? { spans } : {});
  const told = async (
    { meta, era = "legacy" }: { meta?: object; era?: "legacy" | "modern" },
    headers: Record<string, string> = {},
  ): Promise<Record<string, unknown>> => {
    const params = { name: "mcp__faithful__told", arguments: {}, ...(meta && { _meta: meta }) };
    const request =
      era === "legacy"
        ? { body: legacy("tools/call", params), headers: {} }
        : modern("tools/call", params);
    const { message } = await post(url, request.body, { ...request.headers, ...headers });
    const { progressToken: _, ...rest } =
      JSON.parse(message?.["result"].content[0].text)["_meta"] ?? {};
    return rest;
  };
  return { url, told };
}

describe("without an SDK", () => {
  it("the trace context of the message goes on to the server, else that of the HTTP request", async () => {
    expect(await openSpans()).toBeUndefined();
    const { told } = await served();
    const meta = { traceparent: IN_META, tracestate: "a=1", baggage: "k=v", other: "mine" };
    const header = { traceparent: IN_HEADER, tracestate: "b=2", baggage: "not=this" };
    expect(await told({ meta }, header)).toEqual({
      traceparent: IN_META,
      tracestate: "a=1",
      baggage: "k=v",
    });
    expect(await told({ meta, era: "modern" }, header)).toMatchObject({ traceparent: IN_META });
    expect(await told({}, header)).toEqual({ traceparent: IN_HEADER, tracestate: "b=2" });
    expect(await told({ era: "modern" }, header)).toMatchObject({ traceparent: IN_HEADER });
    expect(await told({ meta: { baggage: "k=v" } }, header)).toMatchObject({
      traceparent: IN_HEADER,
      baggage: "k=v",
    });
    expect(await told({}, { traceparent: "garbage", tracestate: "b=2" })).toEqual({});
    expect(await told({}, { ...header, tracestate: "x".repeat(600) })).toEqual({
      traceparent: IN_HEADER,
    });
  });
});

describe("with an SDK", () => {
  it("a call is a span between the client's and the server's", async () => {
    const spans = registerSdk();
    const { told } = await served();
    const meta = await told({ meta: { traceparent: IN_META, baggage: "k=v" } });
    expect(spans).toMatchObject([
      {
        name: "tools/call mcp__faithful__told",
        kind: SpanKind.SERVER,
        parent: "b7ad6b7169203331",
        context: { traceId: TRACE },
        status: undefined,
        ended: true,
        attributes: {
          "mcp.method.name": "tools/call",
          "gen_ai.tool.name": "mcp__faithful__told",
          "plugboard.server": "faithful",
        },
      },
    ]);
    expect(meta).toEqual({ traceparent: `00-${TRACE}-0000000000000001-01`, baggage: "k=v" });
    await told({ era: "modern" }, { traceparent: IN_HEADER });
    expect(spans[1]).toMatchObject({ parent: "2222222222222222", ended: true });
    await told({});
    expect(spans[2]).toMatchObject({ parent: undefined, ended: true });
  });

  it("that passes nothing on, the client's own context still reaches the server", async () => {
    const spans = registerSdk();
    propagation.disable();
    const { told } = await served();
    expect(await told({}, { traceparent: IN_HEADER })).toEqual({ traceparent: IN_HEADER });
    expect(spans).toMatchObject([{ ended: true }]);
  });

  it.each<[string, object, string, object]>([
    ["an error of the tool itself", { name: "mcp__echo__fail" }, "tool_error", {}],
    ["a server that goes away", { name: "mcp__echo__crash" }, "CONNECTION_CLOSED", {}],
    [
      "a tool that is not there",
      { name: "nope" },
      "UNKNOWN_TOOL",
      { "rpc.response.status_code": "-32602" },
    ],
    [
      "a request that is malformed",
      { name: 7 },
      "-32602",
      { "rpc.response.status_code": "-32602" },
    ],
  ])("%s is in the span", async (_, params, type, attributes) => {
    const spans = registerSdk();
    const { url } = await served();
    await post(url, legacy("tools/call", { arguments: {}, ...params }));
    expect(spans).toMatchObject([
      {
        ended: true,
        status: { code: SpanStatusCode.ERROR },
        attributes: { "error.type": type, ...attributes },
      },
    ]);
  });

  it("only what reaches a server is a span, and it tells no session", async () => {
    const spans = registerSdk();
    const { url } = await served();
    await post(url, legacy("tools/list"));
    await post(url, legacy("ping"));
    const uri = "nope://x";
    await post(url, legacy("resources/read", { uri }));
    expect(spans.map(({ name, attributes }) => [name, attributes["mcp.resource.uri"]])).toEqual([
      ["resources/read", uri],
    ]);
    expect(JSON.stringify(spans)).not.toContain("session");
  });
});
