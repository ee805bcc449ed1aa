import { describe, expect, it, vi } from "vitest";
import type { OnElicitation } from "../../../../src/core/types/elicitation.ts";
import type { JsonObject } from "../../../../src/core/types/json.ts";
import type { SamplingHandler } from "../../../../src/core/types/sampling.ts";
import {
  type AnswerInput,
  callInRounds,
} from "../../../../src/core/upstream/requests/input-rounds.ts";
import { serve } from "../../net/servers.ts";
import { closeBoards, open, textOf } from "../../../support/boards.ts";

closeBoards();

const DONE = { resultType: "complete", content: [] };

function asking(inputRequests?: unknown, requestState?: unknown): JsonObject {
  return {
    resultType: "input_required",
    ...(inputRequests !== undefined && { inputRequests }),
    ...(requestState !== undefined && { requestState }),
  };
}

function question(message: string): JsonObject {
  return { method: "elicitation/create", params: { message } };
}

/** Answers with what it was asked. */
const echo: AnswerInput = (method, params) =>
  method === "elicitation/create" ? Promise.resolve({ heard: params }) : undefined;

/** A tool with these results in turn; the last one over and over. */
function tool(...results: unknown[]) {
  const given: (JsonObject | undefined)[] = [];
  const call = async (extra: JsonObject | undefined): Promise<unknown> => {
    given.push(extra);
    return results[given.length - 1] ?? results.at(-1);
  };
  return { call, given };
}

describe("a call", () => {
  it.each([[DONE], [undefined], ["text"], [{ content: [] }]])(
    "that asks for nothing is made once: %j",
    async (result) => {
      const { call, given } = tool(result);
      expect(await callInRounds(call, echo)).toEqual(result);
      expect(given).toEqual([undefined]);
    },
  );

  it("that asks is made again with the answers, round by round", async () => {
    const { call, given } = tool(
      asking({ a: question("A?"), b: question("B?") }, "state-1"),
      asking({ c: question("C?") }, { opaque: [1] }),
      DONE,
    );
    expect(await callInRounds(call, echo)).toBe(DONE);
    expect(given).toEqual([
      undefined,
      {
        inputResponses: { a: { heard: { message: "A?" } }, b: { heard: { message: "B?" } } },
        requestState: "state-1",
      },
      { inputResponses: { c: { heard: { message: "C?" } } }, requestState: { opaque: [1] } },
    ]);
  });

  it("puts one question at a time", async () => {
    let asked = 0;
    const answer: AnswerInput = async () => {
      asked += 1;
      expect(asked).toBe(1);
      await new Promise((resolve) => setImmediate(resolve));
      asked -= 1;
      return {};
    };
    await callInRounds(tool(asking({ a: question("A?"), b: question("B?") }), DONE).call, answer);
  });

  it.each([
    ["none", undefined, {}],
    ["an empty one", "", { requestState: "" }],
    ["null", null, { requestState: null }],
  ])("sends back the server's state: %s", async (_, state, expected) => {
    const { call, given } = tool(asking({}, state), DONE);
    await callInRounds(call, echo);
    expect(given[1]).toEqual({ inputResponses: {}, ...expected });
  });

  it("may ask under any key", async () => {
    const requests = JSON.parse('{ "__proto__": { "method": "elicitation/create" } }');
    const { call, given } = tool(asking(requests), DONE);
    await callInRounds(call, echo);
    expect(JSON.stringify(given[1])).toBe('{"inputResponses":{"__proto__":{}}}');
  });

  it("that asks for nothing in particular is made again", async () => {
    const { call, given } = tool(asking("odd"), DONE);
    expect(await callInRounds(call, echo)).toBe(DONE);
    expect(given[1]).toEqual({ inputResponses: {} });
  });

  it.each([
    [{ method: "sampling/createMessage" }, "sampling/createMessage"],
    [{ method: "x\u001b[31m\ny" }, "x y"],
    [{}, "nothing that can be named"],
    ["odd", "nothing that can be named"],
  ])("that asks for something unsupported ends: %j", async (request, what) => {
    await expect(callInRounds(tool(asking({ a: request })).call, echo)).rejects.toMatchObject({
      code: "UNSUPPORTED",
      message: `the tool asks for input (${what}) that nobody can give here`,
    });
  });

  it("that never stops asking ends", async () => {
    const { call, given } = tool(asking({ a: question("More?") }));
    await expect(callInRounds(call, echo)).rejects.toMatchObject({
      code: "PROTOCOL",
      message: "the tool asks for input more than 10 times",
    });
    expect(given).toHaveLength(11);
  });

  it("that asks too much at once ends before anyone is asked", async () => {
    const many = Object.fromEntries(
      Array.from({ length: 33 }, (_, index) => [index, question("?")]),
    );
    const answer = vi.fn<AnswerInput>(echo);
    await expect(callInRounds(tool(asking(many)).call, answer)).rejects.toMatchObject({
      code: "PROTOCOL",
      message: "the tool asks for 33 inputs at once",
    });
    expect(answer).not.toHaveBeenCalled();
  });
});

/** A server of 2026-07-28 whose tool answers as `next` says. */
async function startModern(next: (params: JsonObject) => JsonObject) {
  const calls: { id: unknown; params: JsonObject }[] = [];
  const cache = { ttlMs: 0, cacheScope: "private", resultType: "complete" };
  const url = await serve((request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString()));
    request.on("end", () => {
      const { id, method, params } = JSON.parse(body) as {
        id: unknown;
        method: string;
        params: JsonObject;
      };
      const results: Record<string, () => JsonObject> = {
        "server/discover": () => ({
          supportedVersions: ["2026-07-28"],
          capabilities: { tools: {} },
          ...cache,
        }),
        "tools/list": () => ({
          tools: [{ name: "ask", inputSchema: { type: "object" } }],
          ...cache,
        }),
        "tools/call": () => {
          calls.push({ id, params });
          return next(params);
        },
      };
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify({ jsonrpc: "2.0", id, result: results[method]?.() }));
    });
  });
  return { url, calls };
}

describe("a server of 2026-07-28 that asks during a call", () => {
  const requestedSchema = { type: "object", properties: { n: { type: "number", default: 1 } } };
  const ask = { method: "elicitation/create", params: { message: "How many?", requestedSchema } };

  it("gets what a person says, under another id, with the arguments as they were", async () => {
    const { url, calls } = await startModern(({ inputResponses }) =>
      inputResponses === undefined
        ? asking({ n: ask }, "opaque state")
        : {
            resultType: "complete",
            content: [{ type: "text", text: JSON.stringify(inputResponses) }],
          },
    );
    const onElicitation: OnElicitation = () => ({ action: "accept", content: {} });
    const board = await open({ docs: { url } }, { onElicitation });
    const outcome = await board.call("docs/ask", { x: 1 });
    expect(textOf(outcome)).toBe('{"n":{"action":"accept","content":{"n":1}}}');
    expect(calls).toHaveLength(2);
    expect(calls[0]?.id).not.toBe(calls[1]?.id);
    expect(calls[1]?.params).toMatchObject({
      name: "ask",
      arguments: { x: 1 },
      requestState: "opaque state",
    });
    expect(calls[0]?.params["_meta"]).toMatchObject({
      "io.modelcontextprotocol/clientCapabilities": { elicitation: { form: {} } },
    });
  });

  it("gets the model's answer and the roots in the same way", async () => {
    const { url } = await startModern(({ inputResponses }) =>
      inputResponses === undefined
        ? asking({
            model: {
              method: "sampling/createMessage",
              params: { messages: [{ role: "user", content: { type: "text", text: "Hi" } }] },
            },
            roots: { method: "roots/list" },
          })
        : {
            resultType: "complete",
            content: [{ type: "text", text: JSON.stringify(inputResponses) }],
          },
    );
    const onSampling: SamplingHandler = () => ({
      model: "m",
      content: { type: "text", text: "Hello" },
    });
    const board = await open({ docs: { url, sampling: "allow" } }, { onSampling, roots: ["/a"] });
    expect(JSON.parse(textOf(await board.call("docs/ask")))).toMatchObject({
      model: { role: "assistant", model: "m", content: { type: "text", text: "Hello" } },
      roots: { roots: [{ name: "a" }] },
    });
  });

  it("does not hold up a caller who gives up while a person is asked", async () => {
    const { url } = await startModern(() => asking({ n: ask }));
    const onElicitation = vi.fn<OnElicitation>(() => new Promise(() => {}));
    const board = await open({ docs: { url } }, { onElicitation });
    const giveUp = new AbortController();
    const call = board.call("docs/ask", {}, { signal: giveUp.signal });
    await expect.poll(() => onElicitation.mock.calls.length).toBe(1);
    giveUp.abort();
    expect((await call).failure?.code).toBe("CANCELLED");
  });

  it("fails if nobody can answer", async () => {
    const { url, calls } = await startModern(() => asking({ n: ask }));
    const board = await open({ docs: { url } });
    const outcome = await board.call("docs/ask");
    expect(outcome.failure).toEqual({
      code: "UNSUPPORTED",
      message:
        "server 'docs': the tool asks for input (elicitation/create) that nobody can give here",
      quote: "elicitation/create",
    });
    expect(calls).toHaveLength(1);
  });
});
