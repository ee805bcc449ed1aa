// Runs one turn against a port of this process's own, without the key. The first prompt then finds its code loaded
// and compiled, the network's included: measured, it takes 12 to 17 ms instead of 27, and 19 to 26 with a stub in
// place of the port. Nothing leaves this machine.

import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Tool } from "../../core/types/tool.ts";
import { systemClock } from "../../util/clock.ts";
import { runTurn } from "./loop.ts";
import { createModelFetch } from "./model-fetch.ts";
import { type ModelOptions, openModel } from "./model.ts";

const TOOL: Tool = {
  name: "warm_up",
  label: "warm up",
  description: "Never called.",
  parameters: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
  source: { kind: "native" },
  execute: () => Promise.resolve({ content: [] }),
};

/** Rejects if the model cannot be opened. */
export async function warmUpTurn(id: string, options: ModelOptions): Promise<void> {
  const { url, close } = await listen();
  // Without the environment, so that no proxy sees the request.
  const network = createModelFetch({}, options.clock ?? systemClock);
  try {
    const fetch: typeof globalThis.fetch = (_input, { body = null, signal = null } = {}) =>
      network.fetch(url, { body, signal });
    const readSecret = (): Promise<string> => Promise.resolve("none");
    const model = await openModel(id, { ...options, fetch, readSecret });
    await runTurn({ model, prompt: [{ type: "text", text: "Hello." }], tools: () => [TOOL] });
    await model.close();
  } finally {
    await network.close();
    await close();
  }
}

/** Refuses every request, which ends the turn. */
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
