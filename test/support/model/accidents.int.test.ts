// What can go wrong between a client and the scripted model, on purpose or not.

import { afterEach, describe, expect, it } from "vitest";
import { eventually } from "../processes.ts";
import { startModel, type ApiName, type Model, type ModelOptions } from "./start.mjs";
import { APIS, eventsOf, PATHS, post } from "./wire.ts";

let model: Model | undefined;

async function start(options: ModelOptions): Promise<Model> {
  model = await startModel(options);
  return model;
}

afterEach(() => model?.close());

describe("accidents", () => {
  it.each(APIS)("a failure has the provider's form and headers: %s", async (api) => {
    const error = { status: 429, message: "slow down", retryAfter: 7 };
    const { url } = await start({ turns: [{ error }, { error: { ...error, status: 599 } }] });
    const response = await post(url, api, { stream: true });
    expect(response.status).toBe(429);
    expect(response.headers.get("retry-after")).toBe("7");
    expect(await response.json()).toMatchObject({
      error: { type: "rate_limit_error", message: "slow down" },
    });
    const type = api === "messages" ? "api_error" : "server_error";
    expect(await (await post(url, api)).json()).toMatchObject({ error: { type } });
  });

  it.each<[ApiName, unknown]>([
    ["chat", { error: { message: "too much" } }],
    ["responses", { type: "error", message: "too much", code: "http_529" }],
    ["messages", { type: "error", error: { type: "overloaded_error", message: "too much" } }],
  ])("a failure may come in the middle of a stream: %s", async (api, expected) => {
    const error = { status: 529, message: "too much", after: 3 };
    const { url } = await start({ turns: [{ text: "a long answer", error }] });
    const response = await post(url, api, { stream: true });
    expect(response.status).toBe(200);
    const events = eventsOf(await response.text());
    expect(events).toHaveLength(4);
    expect(events.at(-1)).toMatchObject(expected as object);
  });

  it.each(APIS)("a stream may be cut, or end too early: %s", async (api) => {
    const { url, requests } = await start({
      turns: [
        { text: "a long answer", cut: 2 },
        { text: "a long answer", endAfter: 2 },
      ],
    });
    const cut = await post(url, api, { stream: true });
    await expect(cut.text()).rejects.toThrow("terminated");
    const ended = await post(url, api, { stream: true });
    expect(eventsOf(await ended.text())).toHaveLength(2);
    expect(requests.map(({ outcome }) => outcome)).toEqual(["dropped", "answered"]);
  });

  it("so may an answer in one piece", async () => {
    const { url } = await start({
      turns: [
        { text: "hi", cut: 1 },
        { text: "hi", endAfter: 2 },
        { text: "hi", cut: 99 },
      ],
    });
    await expect((await post(url, "chat")).text()).rejects.toThrow("terminated");
    await expect((await post(url, "chat")).json()).rejects.toThrow(SyntaxError);
    expect(await (await post(url, "chat")).json()).toMatchObject({ object: "chat.completion" });
  });

  it.each([
    ["before the answer", { text: "hi", delayMs: 60_000 }],
    ["between chunks", { text: "hi", chunkDelayMs: 60_000 }],
  ])("a client may lose patience %s", async (_, turn) => {
    const { url, requests } = await start({ turns: [turn] });
    const impatience = new AbortController();
    const asked = post(url, "chat", { stream: true }, { signal: impatience.signal });
    const heard = asked.then((response) => response.text());
    await eventually(() => requests.length === 1);
    impatience.abort();
    await expect(heard).rejects.toThrow("aborted");
    await eventually(() => requests[0]?.outcome === "dropped");
  });

  it("a client may stop reading while it is written to", async () => {
    const { url, requests } = await start({ turns: [{ text: "long ".repeat(4_000_000) }] });
    const response = await post(url, "chat");
    expect(requests[0]?.outcome).toBe("pending");
    await response.body?.cancel();
    await eventually(() => requests[0]?.outcome === "dropped");
  });

  it("the model may go away, as often as it likes", async () => {
    const { url, requests } = await start({
      turns: [{ text: "hi", chunkDelayMs: 60_000 }, { delayMs: 60_000 }],
    });
    const streaming = await post(url, "chat", { stream: true });
    const waiting = post(url, "chat");
    const lost = Promise.allSettled([streaming.text(), waiting]);
    await eventually(() => requests.length === 2);
    await Promise.all([model?.close(), model?.close()]);
    await model?.[Symbol.asyncDispose]();
    expect(await lost).toMatchObject([{ status: "rejected" }, { status: "rejected" }]);
    expect(requests.map(({ outcome }) => outcome)).toEqual(["dropped", "dropped"]);
    await expect(post(url, "chat")).rejects.toThrow("fetch failed");
  });

  it.each(Object.values(PATHS))("a body may be cut on its way in: %s", async (path) => {
    const { url, requests } = await start({ turns: [] });
    const body = new ReadableStream({
      start: (controller) => controller.enqueue(Buffer.from('{"model":')),
      pull: (controller) => controller.error(new Error("changed my mind")),
    });
    const init = { method: "POST", body, duplex: "half" } as RequestInit;
    await expect(fetch(`${url}${path}`, init)).rejects.toThrow();
    expect(requests).toEqual([]);
  });
});
