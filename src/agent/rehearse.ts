// Runs one turn before the first prompt: code that has never run takes several times as long, and the user would
// wait for it. The turn makes a real request, without the key, to a port of this process, which refuses it.

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
  description: "Never called: no model is asked.",
  parameters: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
  source: { kind: "native" },
  execute: () => Promise.resolve({ content: [] }),
};

/** Rejects if the model cannot be opened. Nothing leaves this machine. */
export async function rehearse(id: string, options: ModelOptions): Promise<void> {
  const { url, close } = await listen();
  // Without the proxy variables: the request stays on this machine.
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
