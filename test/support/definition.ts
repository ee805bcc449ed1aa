// Server definitions as the configuration would make them.

import type { ServerDefinition } from "../../src/core/types/server-definition.ts";

export function definition(overrides: Partial<ServerDefinition> = {}): ServerDefinition {
  return {
    name: "github",
    origin: "defaults",
    enabled: true,
    target: { kind: "stdio", command: "node", args: [], env: {} },
    timeout: 30_000,
    toolTimeout: 60_000,
    restartOnCrash: true,
    maxRestarts: 5,
    lazy: false,
    idleTimeout: 0,
    protocol: "auto",
    maxMessageBytes: 64 * 1024 * 1024,
    ...overrides,
  };
}
