import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../../src/core/types/json.ts";
import {
  mirroredHeaders,
  sessionHeaders,
  type SessionHeaders,
} from "../../../../src/core/upstream/transport/http-headers.ts";

describe("the session's headers", () => {
  it.each<[string, SessionHeaders, Record<string, string>]>([
    ["nothing before the handshake", { sessionId: undefined, protocolVersion: undefined }, {}],
    [
      "the session alone until a version is agreed",
      { sessionId: "s1", protocolVersion: undefined },
      { "mcp-session-id": "s1" },
    ],
    [
      "the version alone where there are no sessions",
      { sessionId: undefined, protocolVersion: "2025-11-25" },
      { "mcp-protocol-version": "2025-11-25" },
    ],
    [
      "both",
      { sessionId: "s1", protocolVersion: "2025-11-25" },
      { "mcp-session-id": "s1", "mcp-protocol-version": "2025-11-25" },
    ],
  ])("are %s", (_, session, headers) => {
    expect(sessionHeaders(session)).toEqual(headers);
  });
});

describe("the headers mirrored from the body", () => {
  const version = "2026-07-28";
  const _meta = { "io.modelcontextprotocol/protocolVersion": version };

  it.each<[string, string, JsonObject, name: string | undefined]>([
    ["a tool by its name", "tools/call", { name: "echo", arguments: {} }, "echo"],
    ["a prompt by its name", "prompts/get", { name: "greet" }, "greet"],
    ["a resource by its URI", "resources/read", { uri: "file:///a b" }, "file:///a b"],
    [
      "a name that is no plain text, encoded",
      "tools/call",
      { name: "grüße" },
      "=?base64?Z3LDvMOfZQ==?=",
    ],
    ["nothing where the method is about nothing", "tools/list", { name: "echo" }, undefined],
    ["nothing for a method of another's making", "toString", { name: "echo" }, undefined],
    ["nothing where the name is missing", "tools/call", {}, undefined],
    ["nothing where the name is no text", "tools/call", { name: 7 }, undefined],
  ])("name %s", (_, method, params, name) => {
    expect(mirroredHeaders(method, { ...params, _meta })).toEqual({
      "mcp-protocol-version": version,
      "mcp-method": method,
      ...(name !== undefined && { "mcp-name": name }),
    });
  });

  it.each<[string, JsonObject]>([
    ["no _meta", { name: "echo" }],
    ["a _meta without a version", { name: "echo", _meta: { progressToken: 1 } }],
    [
      "a version that is no text",
      { name: "echo", _meta: { "io.modelcontextprotocol/protocolVersion": 20260728 } },
    ],
  ])("are empty for a request with %s", (_, params) => {
    expect(mirroredHeaders("tools/call", params)).toEqual({});
  });
});
