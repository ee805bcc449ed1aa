// The way to a model, over the wire.

import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { afterEach, describe, expect, it } from "vitest";
import { runTurn } from "../../../src/agent/loop/loop.ts";
import { openModel } from "../../../src/agent/loop/model.ts";
import { createModelFetch, type ModelFetch } from "../../../src/agent/loop/model-fetch.ts";
import { systemClock } from "../../../src/util/clock.ts";

const open: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of open.splice(0)) await close();
});

async function serve(answer: RequestListener): Promise<string> {
  const server: Server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  open.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function modelFetch(): ModelFetch {
  const made = createModelFetch({}, systemClock);
  open.push(() => made.close());
  return made;
}

const post = { method: "POST", body: "{}", headers: { "x-api-key": "k", "content-type": "x/y" } };

describe("the way to a model", () => {
  it("carries request and answer, in every form of an address", async () => {
    const url = await serve((request, response) => {
      void text(request).then((body) => {
        const said = [request.method, request.headers["x-api-key"], body];
        response.writeHead(418, { "x-more": "yes" }).end(said.join(" "));
      });
    });
    const { fetch } = modelFetch();
    for (const address of [url, new URL(url), new Request(url)]) {
      const response = await fetch(address, post);
      expect(response.status).toBe(418);
      expect(response.headers.get("x-more")).toBe("yes");
      expect(await response.text()).toBe("POST k {}");
    }
    expect(await (await fetch(url)).text()).toBe("POST  ");
  });

  it("takes an answer without a body", async () => {
    const url = await serve((_, response) => response.writeHead(204).end());
    expect((await modelFetch().fetch(url, post)).body).toBeNull();
  });

  it("keeps the key from another origin", async () => {
    const seen: unknown[] = [];
    const elsewhere = await serve((request, response) => {
      seen.push(request.headers["x-api-key"]);
      response.end("got here");
    });
    const url = await serve((_, response) =>
      response.writeHead(307, { location: elsewhere }).end(),
    );
    const { fetch } = modelFetch();
    await fetch(url, post).catch(() => {});
    expect(seen.filter((key) => key !== undefined)).toEqual([]);
  });

  it("ends with its signal, and with close", async () => {
    const url = await serve(() => {});
    const { fetch, close } = modelFetch();
    await expect(fetch(url, { ...post, signal: AbortSignal.abort() })).rejects.toMatchObject({
      code: "CANCELLED",
    });
    const hanging = fetch(url, post);
    await Promise.all([
      expect(hanging).rejects.toMatchObject({ code: "CONNECTION_CLOSED" }),
      close(),
    ]);
  });

  it("goes through the configured proxy, whatever the environment says", async () => {
    const seen: string[] = [];
    const proxy = await serve((request, response) => {
      seen.push(request.url ?? "");
      response.end("by proxy");
    });
    const model = await openModel("far/m", {
      env: { http_proxy: "http://127.0.0.1:1" },
      proxy,
      providers: { far: { type: "openai-compatible", baseUrl: "http://models.example/v1" } },
    });
    open.push(() => model.close());
    const { end } = await runTurn({
      model,
      prompt: [{ type: "text", text: "hello" }],
      tools: () => [],
      maxSteps: 1,
      clock: { ...systemClock, after: (_, task) => systemClock.after(0, task) },
    });
    expect(end.reason).toBe("failed");
    expect(seen).toContain("http://models.example/v1/chat/completions");
  });
});
