// Every target by its name.

import type { Target } from "./target.ts";

const OPEN: Readonly<Record<string, () => Promise<Target>>> = {
  lines: async () => (await import("./targets/lines.ts")).lines(),
  "server-lines": async () => (await import("./targets/server-lines.ts")).serverLines(),
  "event-stream": async () => (await import("./targets/event-stream.ts")).eventStream(),
  refusal: async () => (await import("./targets/refusal.ts")).refusal(),
  "http-entry": async () => (await import("./targets/http-entry.ts")).httpEntry(),
  "sealed-id": async () => (await import("./targets/sealed-id.ts")).sealedId(),
  jwt: async () => (await import("./targets/jwt.ts")).jwt(),
  "acp-lines": async () => (await import("./targets/acp-lines.ts")).acpLines(),
  "front-lines": async () => (await import("./targets/front-lines.ts")).frontLines(),
  "config-json": async () => (await import("./targets/config-json.ts")).configJson(),
  "config-toml": async () => (await import("./targets/config-toml.ts")).configToml(),
  "config-foreign": async () => (await import("./targets/config-foreign.ts")).configForeign(),
  bundle: async () => (await import("./targets/bundle.ts")).bundle(),
  "registry-entry": async () => (await import("./targets/registry-entry.ts")).registryEntry(),
  rules: async () => (await import("./targets/rules.ts")).rules(),
};

export const TARGET_NAMES: readonly string[] = Object.keys(OPEN);

/** It is loaded only now, so that a run counts the code of one target alone. */
export async function openTarget(name: string): Promise<Target> {
  const open = OPEN[name];
  if (open === undefined) throw new Error(`there is no target ${name}`);
  return open();
}
