// The parts of undici that we need. The package as a whole loads four times as much: fetch, WebSockets, caches, mocks.

import { createRequire } from "node:module";

type Undici = typeof import("undici");

const load = createRequire(import.meta.url);

export const Agent = load("undici/lib/dispatcher/agent.js") as Undici["Agent"];
export const ProxyAgent = load("undici/lib/dispatcher/proxy-agent.js") as Undici["ProxyAgent"];

// As the package itself does: `request` for us, and `connect` for its ProxyAgent.
const Dispatcher = load("undici/lib/dispatcher/dispatcher.js") as Undici["Dispatcher"];
Object.assign(Dispatcher.prototype, load("undici/lib/api/index.js"));
