import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { acceptForm, callsOf, oauthOf } from "../scenarios.mjs";

const tool = (name, parameters) => ({
  source: { kind: "mcp", server: "one", tool: name },
  parameters,
});

describe("the client's configuration", () => {
  for (const { scenario, context, oauth } of [
    { scenario: "tools_call", context: {}, oauth: undefined },
    { scenario: "auth/metadata-default", context: {}, oauth: true },
    {
      scenario: "auth/basic-cimd",
      context: {},
      oauth: { clientMetadataUrl: "https://conformance-test.local/client-metadata.json" },
    },
    {
      scenario: "auth/pre-registration",
      context: { name: "auth/pre-registration", client_id: "i", client_secret: "s", issuer: "u" },
      oauth: { clientId: "i", clientSecret: "s", issuer: "u" },
    },
    {
      scenario: "auth/client-credentials-jwt",
      context: { client_id: "i", private_key_pem: "k", signing_algorithm: "ES256" },
      oauth: { clientId: "i", privateKey: "k", algorithm: "ES256", grant: "client_credentials" },
    },
  ]) {
    it(`for ${scenario}`, () => assert.deepEqual(oauthOf(scenario, context), oauth));
  }
});

describe("the client's calls", () => {
  it("are one for each tool, with what its schema requires", () => {
    const schema = {
      type: "object",
      properties: {
        count: { type: "integer", minimum: 3 },
        ratio: { type: "number" },
        on: { type: "boolean" },
        list: { type: "array" },
        inner: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
        kind: { enum: ["a", "b"] },
        fixed: { const: 7 },
        nothing: { type: "null" },
        given: { type: "string", default: "x" },
        optional: { type: "string" },
      },
      required: [
        "count",
        "ratio",
        "on",
        "list",
        "inner",
        "kind",
        "fixed",
        "nothing",
        "given",
        "odd",
      ],
    };
    assert.deepEqual(callsOf("any", {}, [tool("big", schema), tool("bare", {})]), [
      {
        name: "big",
        arguments: {
          count: 3,
          ratio: 1,
          on: true,
          list: [],
          inner: { name: "conformance" },
          kind: "a",
          fixed: 7,
          nothing: null,
          odd: "conformance",
        },
      },
      { name: "bare", arguments: {} },
    ]);
  });

  it("are the suite's own where it names them", () => {
    const toolCalls = [{ name: "one", arguments: { a: null } }];
    assert.deepEqual(callsOf("http-custom-headers", { toolCalls }, [tool("two", {})]), toolCalls);
  });

  it("hand a schema back untouched where that is the question", () => {
    const schema = { $schema: "s", $defs: { a: {} } };
    const tools = [tool("json_schema_2020_12_tool", schema), tool("json_schema_echo", {})];
    const [call, ...more] = callsOf("json-schema-2020-12-preservation", {}, tools);
    assert.equal(call.name, "json_schema_echo");
    assert.equal(call.arguments.schema, schema);
    assert.deepEqual(more, []);
  });
});

describe("the client's answer to a server's question", () => {
  it("accepts a form and leaves the defaults to the board", async () => {
    const schema = { properties: { a: { type: "string", default: "x" }, b: { type: "boolean" } } };
    assert.deepEqual(
      await acceptForm({ mode: "form", schema: { ...schema, required: ["a", "b"] } }),
      {
        action: "accept",
        content: { b: true },
      },
    );
    assert.deepEqual(await acceptForm({ mode: "form", schema }), { action: "accept", content: {} });
  });

  it("declines to open an address", async () => {
    assert.deepEqual(await acceptForm({ mode: "url", url: "https://example.com" }), {
      action: "decline",
    });
  });
});
