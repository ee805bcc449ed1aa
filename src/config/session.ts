// Checks the servers that a session brings and lays them over what the configuration has for all of them.

import type { AgentConfig } from "../model/agent-config.ts";
import type { ServerConfig, SessionDefaults } from "../model/server-config.ts";
import type { ServerDefinition } from "../model/server-definition.ts";
import { formatProblem, throwIfAny, toProblems } from "./issue.ts";
import { SESSION_IDLE_MS, toDefinition } from "./layers/definition.ts";
import { placedRules } from "./layers/guard.ts";
import { layerIssues, overlay } from "./layers/merge.ts";
import { anyObject, check } from "./schema/schema.ts";
import { kindOf, readServers } from "./schema/servers.ts";
import { serverWarnings } from "./schema/warnings.ts";
import { secretIssues } from "./secret-references.ts";

/** Throws CONFIG_INVALID, listing everything that is wrong. `cwd` is what a server's own is relative to. */
export function parseSessionServers(
  servers: Readonly<Record<string, ServerConfig>>,
  defaults: AgentConfig["session"],
  cwd: string,
): { definitions: ServerDefinition[]; warnings: string[] } {
  const path = ["servers"];
  const layer = readServers(servers, path);
  throwIfAny(
    [
      ...check(anyObject(), servers, path).issues,
      ...layer.issues,
      ...layerIssues(layer),
      ...Array.from(layer.servers.values(), (each) => secretIssues(each.config, each.path)).flat(),
    ],
    {},
  );
  const base: SessionDefaults = { idleTimeout: SESSION_IDLE_MS, ...defaults?.settings };
  const given = [...layer.servers.values()];
  const warnings = given.flatMap((each) => serverWarnings(each, kindOf(each.plain)));
  return {
    definitions: given.map(({ name, plain, path: place }) => {
      const rules = [...(defaults?.rules ?? []), ...placedRules(plain.tools, place)];
      return toDefinition({ name, origin: "session", server: overlay(base, plain), rules }, cwd);
    }),
    warnings: toProblems(warnings, {}).map(formatProblem),
  };
}
