// A turn that goes nowhere: code that has never run takes several times as long, and the first prompt is the one
// that somebody waits for. The request is made in earnest, to a port of this process's own, without the key.

import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Tool } from "../model/tool.ts";
import { systemClock } from "../util/clock.ts";
import { runTurn } from "./loop.ts";
import { createModelFetch } from "./model-fetch.ts";
import { type ModelOptions, openModel } from "./model.ts";

const TOOL: Tool = {
  name: "rehearse",
  label: "rehearse",
  description: "Nobody is there to call it.",
  parameters: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
  source: { kind: "native" },
  execute: () => Promise.resolve({ content: [] }),
};

/** Rejects where the model cannot be opened. Nothing leaves this machine. */
export async function rehearse(id: string, options: ModelOptions): Promise<void> {
  const { url, close } = await listen();
  // No proxy: it is none of its business.
  const network = createModelFetch({}, options.clock ?? systemClock);
  try {
    const fetch: typeof globalThis.fetch = (_input, { body = null, signal = null } = {}) =>
      network.fetch(url, { body, signal });
    const model = await openModel(id, { ...options, fetch });
    await runTurn({ model, prompt: [{ type: "text", text: "Hello." }], tools: () => [TOOL] });
    await model.close();
  } finally {
    await network.close();
    await close();
  }
}

/** Refuses whatever comes, which ends the turn. */
async function listen(): Promise<{ url: string; close: () => Promise<void> }> {
  const server: Server = createServer((request, response) => {
    request.resume();
    response.writeHead(400, { "content-type": "application/json" }).end("{}");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
