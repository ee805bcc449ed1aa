// The parts of undici that are loaded by themselves; the package has types for itself as a whole.

declare module "undici/lib/api/index.js" {
  const api: object;
  export default api;
}

declare module "undici/lib/dispatcher/agent.js" {
  export { Agent as default } from "undici";
}

declare module "undici/lib/dispatcher/dispatcher.js" {
  export { Dispatcher as default } from "undici";
}

declare module "undici/lib/dispatcher/proxy-agent.js" {
  export { ProxyAgent as default } from "undici";
}
