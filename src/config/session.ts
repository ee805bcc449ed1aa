// The servers that a session brings, over what the configuration has for all of them.

import type { AgentConfig } from "../model/agent-config.ts";
import type { ServerConfig, SessionDefaults } from "../model/server-config.ts";
import type { ServerDefinition } from "../model/server-definition.ts";
import { anyObject } from "./compound.ts";
import { familyOf } from "./connection.ts";
import { SESSION_IDLE_MS, toDefinition } from "./definition.ts";
import type { KeyPath } from "./issue.ts";
import { placedRules } from "./guard.ts";
import { check } from "./kit.ts";
import { layerIssues, overlay } from "./merge.ts";
import { formatProblem, throwIfAny, toProblems } from "./issue.ts";
import { readServers } from "./servers.ts";
import { serverWarnings } from "./warnings.ts";

export interface SessionServers {
  definitions: ServerDefinition[];
  /** Valid, and worth saying. */
  warnings: string[];
}

/** What the layers say of a session's servers, the later ones over the earlier; undefined where none does. */
export function sessionDefaults(
  layers: readonly { settings: SessionDefaults | undefined; path: KeyPath }[],
): AgentConfig["session"] {
  const given = layers.flatMap(({ settings, path }) =>
    settings === undefined ? [] : [{ settings, path }],
  );
  if (given.length === 0) return undefined;
  return {
    settings: given.reduce<SessionDefaults>((base, { settings }) => overlay(base, settings), {}),
    rules: given.flatMap(({ settings, path }) => placedRules(settings.tools, path)),
  };
}

/** Throws CONFIG_INVALID, listing everything that is wrong. `cwd` is what a server's own is relative to. */
export function parseSessionServers(
  servers: Readonly<Record<string, ServerConfig>>,
  defaults: AgentConfig["session"],
  cwd: string,
): SessionServers {
  const path = ["servers"];
  const layer = readServers(servers, path);
  throwIfAny(
    [...check(anyObject(), servers, path).issues, ...layer.issues, ...layerIssues(layer)],
    {},
  );
  const base: SessionDefaults = { idleTimeout: SESSION_IDLE_MS, ...defaults?.settings };
  const given = [...layer.servers.values()];
  const warnings = given.flatMap((each) => serverWarnings(each, familyOf(each.plain)));
  return {
    definitions: given.map(({ name, plain, path: place }) => {
      const rules = [...(defaults?.rules ?? []), ...placedRules(plain.tools, place)];
      return toDefinition({ name, origin: "session", server: overlay(base, plain), rules }, cwd);
    }),
    warnings: toProblems(warnings, {}).map(formatProblem),
  };
}
