import { describe, expect, it } from "vitest";
import { metaFor } from "../../../../src/core/upstream/transport/request-meta.ts";

const VERSION = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES = "io.modelcontextprotocol/clientCapabilities";
const own = { [VERSION]: "2026-07-28", [CAPABILITIES]: { roots: {} } };

describe("what a caller adds to _meta", () => {
  it.each<[key: string, isSent: boolean]>([
    ["traceparent", true],
    ["tracestate", true],
    ["baggage", true],
    ["example.com/trace", true],
    ["openai/session", true],
    ["com.example.my-agent/call.id", true],
    ["progressToken", false],
    ["anything", false],
    [VERSION, false],
    ["io.modelcontextprotocol/related-task", false],
    ["IO.ModelContextProtocol/x", false],
    ["modelcontextprotocol.io/x", false],
    ["mcp/x", false],
    ["dev.mcp/x", false],
    ["mcp.dev.tools/x", false],
    ["/x", false],
    ["example.com/", false],
    ["example.com/a b", false],
    ["example.com/\u202e", false],
    [`${"a".repeat(200)}/x`, false],
    ["__proto__", false],
  ])("%s: %s", (key, isSent) => {
    const meta = JSON.parse(`{${JSON.stringify(key)}:"x"}`) as Record<string, unknown>;
    expect(metaFor(undefined, { meta })).toEqual(isSent ? { [key]: "x" } : undefined);
    expect(metaFor(own, { meta })).toEqual(isSent ? { ...own, [key]: "x" } : own);
  });

  it("is nothing if it is no object", () => {
    expect(metaFor(undefined, { meta: [] as never })).toBeUndefined();
    expect(metaFor(undefined, {})).toBeUndefined();
    expect(metaFor(own, {})).toBe(own);
  });
});

describe("the capabilities of one request", () => {
  it("replace those of the host", () => {
    const capabilities = { elicitation: { form: {} } };
    expect(metaFor(own, { capabilities })).toEqual({ ...own, [CAPABILITIES]: capabilities });
    expect(metaFor(own, { capabilities: {} })).toEqual({ ...own, [CAPABILITIES]: {} });
  });

  it("are not sent to a legacy server, which has learnt them in its handshake", () => {
    expect(metaFor(undefined, { capabilities: { elicitation: {} } })).toBeUndefined();
  });
});
