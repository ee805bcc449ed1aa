import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { askProvider } from "../../../src/agent/loop/ask-provider.ts";
import type { ModelProviderType } from "../../../src/core/types/agent-config.ts";
import { ManualClock } from "../../support/manual-clock.ts";

const KEY = "key-of-the-provider";

let server: Server;
let baseUrl = "";
let answer: { status: number; body: unknown } = { status: 200, body: {} };
let asked: { url?: string; headers: IncomingHttpHeaders }[] = [];

beforeAll(async () => {
  server = createServer(({ url, headers }, response) => {
    asked.push({ ...(url !== undefined && { url }), headers });
    if (answer.status === 0) return;
    response.writeHead(answer.status, { "content-type": "application/json" });
    response.end(JSON.stringify(answer.body));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
});

afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await once(server, "close");
});

function ask(type: ModelProviderType, model = "gpt", url = baseUrl) {
  asked = [];
  return askProvider(`own/${model}`, {
    env: {},
    providers: { own: { type, baseUrl: url, apiKey: KEY } },
  });
}

describe("a provider is asked about a model", () => {
  it.each<[ModelProviderType, string, Record<string, string>]>([
    ["anthropic", "/v1/models/gpt", { "x-api-key": KEY }],
    ["openai", "/v1/models/gpt", { authorization: `Bearer ${KEY}` }],
    ["google", "/v1/models/gpt", { "x-goog-api-key": KEY }],
    ["openai-compatible", "/v1/models", { authorization: `Bearer ${KEY}` }],
  ])("of the type %s in its own way", async (type, url, headers) => {
    answer = { status: 200, body: { data: [{ id: "gpt" }] } };
    expect(await ask(type)).toEqual({ kind: "known" });
    expect(asked).toMatchObject([{ url, headers }]);
  });

  it.each<[string, ModelProviderType, number, unknown, object]>([
    ["a refused key", "openai", 401, {}, { kind: "key-refused", status: 401 }],
    ["Google's way to refuse a key", "google", 400, {}, { kind: "key-refused", status: 400 }],
    ["a proxy that has no such page", "openai", 404, {}, { kind: "unsure", status: 404 }],
    ["a fault", "anthropic", 500, {}, { kind: "unsure", status: 500 }],
    ["no list", "openai-compatible", 200, "hello", { kind: "unsure", status: 200 }],
    [
      "another list",
      "openai-compatible",
      200,
      { data: [null, { id: "gpt:latest" }] },
      { kind: "known" },
    ],
    [
      "a list without it",
      "openai-compatible",
      200,
      { data: [{ id: "gpt2" }, { id: 7 }] },
      { kind: "unknown-model", nearest: "gpt2" },
    ],
    ["an empty list", "openai-compatible", 200, { data: [] }, { kind: "unknown-model" }],
  ])("and understands %s", async (_, type, status, body, expected) => {
    answer = { status, body };
    expect(await ask(type)).toEqual(expected);
  });

  it("where nobody listens: the failure says so, without the key", async () => {
    const found = await ask("openai", "gpt", "http://127.0.0.1:9/v1");
    expect(found).toEqual({ kind: "unreachable", reason: expect.stringContaining("127.0.0.1:9") });
    expect(JSON.stringify(found)).not.toContain(KEY);
  });

  it("that does not answer: it is given up", async () => {
    answer = { status: 0, body: {} };
    const clock = new ManualClock();
    const asking = askProvider("own/gpt", {
      env: {},
      clock,
      providers: { own: { type: "openai-compatible", baseUrl } },
    });
    asked = [];
    await expect.poll(() => asked.length).toBe(1);
    await clock.advance(5000);
    expect(await asking).toEqual({
      kind: "unreachable",
      reason: expect.stringContaining("within 5 s"),
    });
  });

  it("only if there is a key", async () => {
    await expect(askProvider("anthropic/x", { env: {} })).rejects.toMatchObject({
      code: "NEEDS_AUTH",
    });
  });
});
