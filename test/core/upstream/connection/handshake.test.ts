import { describe, expect, it } from "vitest";
import type { ProtocolEra } from "../../../../src/core/types/connection.ts";
import { type ErrorCode, PlugboardError } from "../../../../src/core/types/errors.ts";
import type { JsonObject } from "../../../../src/core/types/json.ts";
import type { ProtocolChoice } from "../../../../src/core/types/server-definition.ts";
import {
  type Handshake,
  type HandshakeQuestion,
  LEGACY_VERSIONS,
  MODERN_VERSION,
  requestMeta,
  shakeHands,
} from "../../../../src/core/upstream/connection/handshake.ts";

const host = { name: "host", version: "1.0.0" };
const capabilities = { roots: {} };

/** What a server does with each method: a function throws, a list is one answer after the other, anything else is its result. */
interface Server {
  initialize: unknown;
  discover: unknown;
}

interface Setup {
  protocol?: ProtocolChoice;
  expect?: ProtocolEra;
  probeTimeout?: number;
}

const timeout = 30_000;

async function greet(server: Server, { protocol = "auto", ...setup }: Setup = {}) {
  const asked: [method: string, params: JsonObject][] = [];
  const questions: HandshakeQuestion[] = [];
  const request = async (
    method: string,
    params: JsonObject,
    question: HandshakeQuestion,
  ): Promise<unknown> => {
    asked.push([method, params]);
    questions.push(question);
    const given = method === "initialize" ? server.initialize : server.discover;
    const answer: unknown = Array.isArray(given) ? given.shift() : given;
    if (typeof answer === "function") throw answer();
    return answer;
  };
  const options = { request, host, capabilities, protocol, timeout, ...setup };
  const outcome: Handshake | PlugboardError = await shakeHands(options).catch(
    (error: PlugboardError) => error,
  );
  return { outcome, asked, questions, methods: asked.map(([method]) => method) };
}

function refuses(message: string, code: ErrorCode = "SERVER_ERROR") {
  return () => new PlugboardError(code, message);
}

function answers(status: number | undefined, code: ErrorCode = "HTTP_STATUS") {
  const details = status === undefined ? {} : { status };
  return () => new PlugboardError(code, `HTTP ${status}`, details);
}

const initialized = { protocolVersion: "2025-11-25", capabilities: {}, serverInfo: host };
const discovered = { supportedVersions: [MODERN_VERSION], capabilities: {}, serverInfo: host };
const unknownMethod = refuses("method not found (-32601)");
const unsupported = refuses("unsupported protocol version (-32022)");
const died = refuses("the server exited with code 1", "CONNECTION_CLOSED");
const silent = refuses("no answer to initialize within 30 s", "TIMEOUT");

const legacy: Server = { initialize: initialized, discover: unknownMethod };
const modern: Server = { initialize: unsupported, discover: discovered };
const both: Server = { initialize: initialized, discover: discovered };

describe("the era", () => {
  it.each<[string, Server, Setup, ProtocolEra, methods: string[]]>([
    ["a legacy server", legacy, {}, "legacy", ["initialize"]],
    ["a modern server", modern, {}, "modern", ["initialize", "server/discover"]],
    [
      "a modern server without that method",
      { ...modern, initialize: unknownMethod },
      {},
      "modern",
      ["initialize", "server/discover"],
    ],
    [
      "a server that answers initialize in another version",
      { ...both, initialize: { ...initialized, protocolVersion: MODERN_VERSION } },
      {},
      "modern",
      ["initialize", "server/discover"],
    ],
    ["a server of both", both, {}, "legacy", ["initialize"]],
    ["a server of both, once modern", both, { expect: "modern" }, "modern", ["server/discover"]],
    ["a server of both, once legacy", both, { expect: "legacy" }, "legacy", ["initialize"]],
    [
      "a legacy server, once modern",
      legacy,
      { expect: "modern" },
      "legacy",
      ["server/discover", "initialize"],
    ],
    [
      "a server whose modern versions are others, once modern",
      { ...both, discover: { supportedVersions: ["2027-01-01"] } },
      { expect: "modern" },
      "legacy",
      ["server/discover", "initialize"],
    ],
    ["a server of both, told legacy", both, { protocol: "legacy" }, "legacy", ["initialize"]],
    [
      "a server of both, told modern",
      both,
      { protocol: MODERN_VERSION },
      "modern",
      ["server/discover"],
    ],
  ])("of %s", async (_, server, setup, era, methods) => {
    const greeting = await greet(server, setup);
    expect(greeting.outcome).toMatchObject({ era });
    expect(greeting.methods).toEqual(methods);
  });
});

describe("the version", () => {
  it.each(LEGACY_VERSIONS)("%s is spoken", async (protocolVersion) => {
    const { outcome } = await greet({ ...legacy, initialize: { ...initialized, protocolVersion } });
    expect(outcome).toMatchObject({ era: "legacy", protocolVersion });
  });

  it("of the modern era is the one the host speaks", async () => {
    const versions = ["2027-01-01", MODERN_VERSION];
    const { outcome } = await greet({ ...modern, discover: { supportedVersions: versions } });
    expect(outcome).toMatchObject({ era: "modern", protocolVersion: MODERN_VERSION });
  });
});

describe("what is asked", () => {
  it("is who the host is and what it can do", async () => {
    const { asked } = await greet(modern);
    expect(asked).toEqual([
      ["initialize", { protocolVersion: LEGACY_VERSIONS[0], capabilities, clientInfo: host }],
      ["server/discover", { _meta: requestMeta(host, capabilities) }],
    ]);
    expect(requestMeta(host, capabilities)).toEqual({
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientInfo": host,
      "io.modelcontextprotocol/clientCapabilities": capabilities,
    });
  });
});

describe("a refusal that names the host's version as one it knows", () => {
  const naming = (data: unknown, code = -32022) => {
    const cause = { error: { code, message: "unsupported protocol version", data } };
    return new PlugboardError("SERVER_ERROR", "unsupported protocol version", { cause });
  };

  async function ask(first: PlugboardError, second: PlugboardError | JsonObject) {
    const script = [first, second];
    let asked = 0;
    const request = async (): Promise<unknown> => {
      const answer = script[asked];
      asked += 1;
      if (answer instanceof PlugboardError) throw answer;
      return answer;
    };
    const outcome: Handshake | PlugboardError = await shakeHands({
      request,
      host,
      capabilities,
      protocol: MODERN_VERSION,
      timeout,
    }).catch((error: PlugboardError) => error);
    return { outcome, asked };
  }

  it("is asked once more", async () => {
    const { outcome, asked } = await ask(naming({ supported: [MODERN_VERSION] }), discovered);
    expect(outcome).toMatchObject({ era: "modern" });
    expect(asked).toBe(2);
  });

  it("is not asked a third time", async () => {
    const refusal = naming({ supported: [MODERN_VERSION] });
    const { outcome, asked } = await ask(refusal, refusal);
    expect(outcome).toBe(refusal);
    expect(asked).toBe(2);
  });

  it.each([
    ["other versions", naming({ supported: ["2027-01-01"] })],
    ["no list", naming({ supported: MODERN_VERSION })],
    ["nothing", naming(undefined)],
    ["it under another code", naming({ supported: [MODERN_VERSION] }, -32600)],
  ])("is final if it names %s", async (_, refusal) => {
    const { outcome, asked } = await ask(refusal, discovered);
    expect(outcome).toBe(refusal);
    expect(asked).toBe(1);
  });
});

describe("over HTTP", () => {
  const expectModern: Setup = { expect: "modern" };

  const asksBoth = ["server/discover", "initialize"];

  it.each([400, 404, 405, 406, 415, 499, 500, 501, 502, 503])(
    "a status of %i refuses the question, and the other era is asked",
    async (status) => {
      const old = await greet({ ...legacy, discover: answers(status) }, expectModern);
      expect(old.outcome).toMatchObject({ era: "legacy" });
      expect(old.methods).toEqual(asksBoth);
      const recent = await greet({ ...modern, initialize: answers(status) });
      expect(recent.outcome).toMatchObject({ era: "modern" });
      expect(recent.methods).toEqual(["initialize", "server/discover"]);
    },
  );

  it.each<[string, unknown]>([
    ["is no result", refuses("not a result", "PROTOCOL")],
    ["is a web page", refuses("text/html instead of JSON", "PROTOCOL")],
    ["ends before it is complete", refuses("the answer was cut", "CONNECTION_CLOSED")],
    ["is too large", refuses("too large", "MESSAGE_TOO_LARGE")],
    ["is a broken connection", refuses("reset", "NETWORK")],
    ["is no object", 5],
    ["has no versions", {}],
  ])("an answer to discover that %s leads to initialize", async (_, discover) => {
    const { outcome, methods } = await greet({ ...legacy, discover }, expectModern);
    expect(outcome).toMatchObject({ era: "legacy" });
    expect(outcome).not.toHaveProperty("isEraDoubtful");
    expect(methods).toEqual(asksBoth);
  });

  it.each([
    [404, undefined],
    [499, undefined],
    [500, true],
    [503, true],
  ])("an era that was found after HTTP %i is doubtful: %s", async (status, isEraDoubtful) => {
    const old = await greet({ ...legacy, discover: answers(status) }, expectModern);
    expect((old.outcome as Handshake).isEraDoubtful).toBe(isEraDoubtful);
    const recent = await greet({ ...modern, initialize: answers(status) });
    expect((recent.outcome as Handshake).isEraDoubtful).toBe(isEraDoubtful);
  });

  it.each<[string, () => PlugboardError]>([
    ["out of order for a moment", answers(503)],
    ["slow", silent],
    ["cut off for a moment", refuses("reset", "NETWORK")],
  ])("a modern server that was only %s is asked once more", async (_, momentary) => {
    const server = { ...modern, discover: [momentary, discovered] };
    const { outcome, methods } = await greet(server, { ...expectModern, probeTimeout: 5000 });
    expect(outcome).toMatchObject({ era: "modern" });
    expect(methods).toEqual([...asksBoth, "server/discover"]);
  });

  it("silence leads to initialize, which gets the rest of the time", async () => {
    const server = { ...legacy, discover: silent };
    const setup: Setup = { ...expectModern, probeTimeout: 5000 };
    const { outcome, questions } = await greet(server, setup);
    expect(outcome).toMatchObject({ era: "legacy" });
    expect(questions).toEqual([
      { timeout: 5000, isProbe: true },
      { timeout: 25_000, isProbe: false },
    ]);
  });

  it.each<[string, () => PlugboardError, ErrorCode]>([
    ["429", answers(429), "HTTP_STATUS"],
    ["429 with a message", answers(429, "SERVER_ERROR"), "SERVER_ERROR"],
    ["401", answers(401, "NEEDS_AUTH"), "NEEDS_AUTH"],
    ["403", answers(403, "NEEDS_AUTH"), "NEEDS_AUTH"],
    ["an address that is not allowed", answers(undefined, "REFUSED_ADDRESS"), "REFUSED_ADDRESS"],
    ["silence for all of the time", silent, "TIMEOUT"],
  ])("%s concerns both eras: there is no second question", async (_, answer, code) => {
    const { outcome, methods } = await greet({ ...both, discover: answer }, expectModern);
    expect(outcome).toMatchObject({ code });
    expect(methods).toEqual(["server/discover"]);
  });

  it("what fails both is unreachable, for the reason that initialize gave", async () => {
    const server = {
      initialize: refuses("refused the connection", "NETWORK"),
      discover: answers(502),
    };
    const { outcome, methods } = await greet(server, expectModern);
    expect(outcome).toMatchObject({ code: "NETWORK", message: "refused the connection" });
    expect(methods).toEqual(asksBoth);
  });

  it.each<[ProtocolEra]>([["legacy"], ["modern"]])(
    "two refusals end in what was said to initialize (%s first)",
    async (era) => {
      const server = { initialize: answers(405), discover: answers(404) };
      const { outcome, methods } = await greet(server, { expect: era });
      expect(outcome).toMatchObject({ code: "HTTP_STATUS", status: 405 });
      expect(methods).toHaveLength(2);
    },
  );

  it("a second question that needs a sign-in fails with NEEDS_AUTH", async () => {
    const server = { initialize: answers(401, "NEEDS_AUTH"), discover: answers(404) };
    const { outcome } = await greet(server, expectModern);
    expect(outcome).toMatchObject({ code: "NEEDS_AUTH", status: 401 });
  });
});

describe("an answer to initialize", () => {
  it.each<[string, JsonObject, JsonObject]>([
    ["keeps what the server says", { instructions: "Be brief." }, { instructions: "Be brief." }],
    ["may lack capabilities", { capabilities: null }, { capabilities: {} }],
    [
      "may lack who the server is",
      { serverInfo: undefined },
      { serverInfo: { name: "unnamed", version: "0" } },
    ],
    [
      "may lack a part of it",
      { serverInfo: { name: "docs", title: "Docs" } },
      { serverInfo: { name: "docs", version: "0" } },
    ],
    [
      "may have it malformed",
      { serverInfo: { name: 1, version: "2" } },
      { serverInfo: { name: "unnamed", version: "2" } },
    ],
    ["loses instructions that are no text", { instructions: [1] }, { instructions: undefined }],
  ])("%s", async (_, answer, expected) => {
    const { outcome } = await greet({ ...legacy, initialize: { ...initialized, ...answer } });
    expect(outcome).toMatchObject({ era: "legacy", statement: expected });
  });
});

describe("capabilities", () => {
  const deep: unknown = JSON.parse(`${"[".repeat(20_000)}${"]".repeat(20_000)}`);

  it.each<[string, unknown, JsonObject, odd: string[]]>([
    ["switches are kept", { tools: { listChanged: true } }, { tools: { listChanged: true } }, []],
    [
      "both switches are kept",
      { resources: { subscribe: true, listChanged: false } },
      { resources: { subscribe: true } },
      [],
    ],
    ["null is absent", { tools: {}, resources: null, prompts: null }, { tools: {} }, []],
    ["false is absent", { tools: {}, resources: false }, { tools: {} }, []],
    ["true is odd", { tools: true, prompts: {} }, { prompts: {} }, ["tools"]],
    ["a list and a text are odd", { tools: [], logging: "info" }, {}, ["tools", "logging"]],
    ["a switch that is not a boolean is off", { tools: { listChanged: "yes" } }, { tools: {} }, []],
    ["what nobody knows is left out", { experimental: null, x: 1, tools: {} }, { tools: {} }, []],
    [
      "what is too deep is left out",
      { experimental: { deep }, tools: { deep } },
      { tools: {} },
      [],
    ],
    ["an inherited name is ignored", JSON.parse('{"__proto__": {"tools": {}}}'), {}, []],
    ["a list is ignored", [], {}, []],
  ])("%s, in either era", async (_, stated, expected, odd) => {
    const part = { capabilities: stated };
    const old = await greet({ ...legacy, initialize: { ...initialized, ...part } });
    const current = await greet({ ...modern, discover: { ...discovered, ...part } });
    for (const { outcome } of [old, current]) {
      const { oddCapabilities, statement } = outcome as Handshake;
      expect(oddCapabilities).toEqual(odd);
      expect(statement.capabilities).toEqual(expected);
    }
  });
});

describe("a version that both speak, but not like this", () => {
  it.each<[string, Server, Setup, message: string, hint: string | undefined]>([
    [
      "the modern one, in an answer to initialize",
      { ...legacy, initialize: { ...initialized, protocolVersion: MODERN_VERSION } },
      {},
      "the server names protocol version 2026-07-28 in its answer to initialize, but a conversation in that version begins with server/discover",
      "update the server, or report this to its author",
    ],
    [
      "a legacy one, in an answer to server/discover",
      { ...modern, discover: { supportedVersions: ["2025-11-25"] } },
      { protocol: MODERN_VERSION },
      "the server names protocol version 2025-11-25 in its answer to server/discover, but a conversation in that version begins with initialize",
      'set "protocol" to "auto" for this server',
    ],
    [
      "one with something invisible behind it",
      { ...legacy, initialize: { ...initialized, protocolVersion: "2025-11-25\u200b\n" } },
      {},
      'the server misspells its protocol version in its answer to initialize: "2025-11-25\\u200b\\n" instead of "2025-11-25"',
      undefined,
    ],
  ])("%s, is explained", async (_, server, setup, message, hint) => {
    const { outcome } = await greet(server, setup);
    expect(outcome).toMatchObject({ code: "UNSUPPORTED_VERSION", message, hint, permanent: true });
  });
});

describe("it fails", () => {
  const HANDSHAKE = "HANDSHAKE_FAILED";
  const old = { ...initialized, protocolVersion: "1999-01-01" };
  const future = { supportedVersions: ["2027-01-01", 5] };

  it.each<[string, Server, Setup, ErrorCode, message: string, methods: number]>([
    ["when the server dies", { ...legacy, initialize: died }, {}, "CONNECTION_CLOSED", "exited", 1],
    ["when the server is silent", { ...legacy, initialize: silent }, {}, "TIMEOUT", "no answer", 1],
    [
      "on an answer to initialize that is not an object",
      { ...both, initialize: "hello" },
      {},
      HANDSHAKE,
      "initialize is malformed",
      1,
    ],
    [
      "on an answer without a version",
      { ...both, initialize: {} },
      {},
      HANDSHAKE,
      "initialize is malformed",
      1,
    ],
    [
      "on an answer without a list of versions",
      { ...modern, discover: {} },
      {},
      HANDSHAKE,
      "discover is malformed",
      2,
    ],
    [
      "on an answer to server/discover that is not an object",
      { ...modern, discover: 1 },
      {},
      HANDSHAKE,
      "discover is",
      2,
    ],
    [
      "with what was refused first",
      { ...modern, discover: unknownMethod },
      {},
      "SERVER_ERROR",
      "-32022",
      2,
    ],
    [
      "when it dies of the second question",
      { ...modern, discover: died },
      {},
      "CONNECTION_CLOSED",
      "exited",
      2,
    ],
    [
      "on an old version",
      { ...legacy, initialize: old },
      {},
      "UNSUPPORTED_VERSION",
      "version 1999-01-01;",
      2,
    ],
    [
      "on future versions",
      { ...modern, discover: future },
      {},
      "UNSUPPORTED_VERSION",
      "version 2027-01-01, 5;",
      2,
    ],
    ["on both", { initialize: old, discover: future }, {}, "UNSUPPORTED_VERSION", "2027-01-01", 2],
    [
      "on no version at all",
      { ...modern, discover: { supportedVersions: [] } },
      {},
      "UNSUPPORTED_VERSION",
      "version none;",
      2,
    ],
    ["in the era it was told", modern, { protocol: "legacy" }, "SERVER_ERROR", "-32022", 1],
    [
      "in the new era, told so",
      legacy,
      { protocol: MODERN_VERSION },
      "SERVER_ERROR",
      "not found",
      1,
    ],
  ])("%s", async (_, server, setup, code, message, asked) => {
    const { outcome, methods } = await greet(server, setup);
    expect(outcome).toMatchObject({ code, message: expect.stringContaining(message) });
    expect(methods).toHaveLength(asked);
  });

  it.each([
    ["an old", { ...legacy, initialize: old }],
    ["a future", { ...modern, discover: future }],
  ])("for good on %s version, and says what the host speaks", async (_, server) => {
    const { outcome } = await greet(server);
    expect(outcome).toMatchObject({
      permanent: true,
      message: expect.stringContaining(
        `Plugboard speaks ${MODERN_VERSION}, 2025-11-25, 2025-06-18`,
      ),
    });
  });

  it.each([
    ["a long one", { ...legacy, initialize: { protocolVersion: "9".repeat(100_000) } }],
    ["with escapes", { ...legacy, initialize: { protocolVersion: "\u001b[31m9\u001b[0m" } }],
    ["many", { ...modern, discover: { supportedVersions: Array(100_000).fill("9".repeat(50)) } }],
  ])("in few and plain words, whatever the versions: %s", async (_, server) => {
    const { outcome } = await greet(server);
    const { message } = outcome as PlugboardError;
    expect(message.length).toBeLessThan(600);
    expect(message).not.toContain("\u001b");
  });
});
