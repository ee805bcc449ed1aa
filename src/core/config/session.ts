// Checks the servers that a session brings and lays them over what the configuration has for all of them.

import type { AgentConfig } from "../types/agent-config.ts";
import { objectIn } from "../types/json.ts";
import type {
  AcpServerConfig,
  SessionDefaults,
  SessionServerConfig,
} from "../types/server-config.ts";
import type { ServerDefinition } from "../types/server-definition.ts";
import { atKey, formatProblem, type Issue, type KeyPath, throwIfAny, toProblems } from "./issue.ts";
import { SESSION_IDLE_MS, toDefinition } from "./layers/definition.ts";
import { placedRules } from "./layers/guard.ts";
import { layerIssues, overlay } from "./layers/merge.ts";
import { check } from "./schema/schema.ts";
import { acpServerSchema, isAcpServer, sessionServersSchema } from "./schema/server-schema.ts";
import { kindOf, readServers } from "./schema/servers.ts";
import { serverNameProblem } from "./schema/values.ts";
import { codeVariableIssues, serverWarnings } from "./schema/warnings.ts";
import { secretIssues } from "./secret-references.ts";

/**
 * Throws CONFIG_INVALID, listing everything that is wrong. `cwd` is what a server's own is relative to; `reachesClient`
 * tells whether the session has a way to servers in the ACP client.
 */
export function parseSessionServers(
  servers: Readonly<Record<string, SessionServerConfig>>,
  defaults: AgentConfig["session"],
  cwd: string,
  reachesClient = false,
): { definitions: ServerDefinition[]; warnings: string[] } {
  const path = ["servers"];
  const entries = Object.entries(objectIn(servers));
  const inClient = new Map(
    entries.filter((entry): entry is [string, AcpServerConfig] => isAcpServer(entry[1])),
  );
  const others = entries.filter(([name]) => !inClient.has(name));
  const layer = readServers(Object.fromEntries(others), path);
  throwIfAny(
    [
      ...check(sessionServersSchema, servers, path).issues,
      ...layer.issues,
      ...layerIssues(layer),
      ...others.flatMap(([name, server]) => codeVariableIssues(server, [...path, name])),
      ...[...inClient].flatMap(([name, server]) =>
        acpIssues(name, server, [...path, name], reachesClient),
      ),
      ...Array.from(layer.servers.values(), (each) => secretIssues(each.config, each.path)).flat(),
    ],
    {},
  );
  const base: SessionDefaults = { idleTimeout: SESSION_IDLE_MS, ...defaults?.settings };
  const given = [...layer.servers.values()];
  const warnings = given.flatMap((each) => serverWarnings(each, kindOf(each.plain)));
  return {
    definitions: entries.map(([name]) => {
      const acp = inClient.get(name);
      const plain = acp === undefined ? (layer.servers.get(name)?.plain ?? {}) : treatmentOf(acp);
      const rules = [...(defaults?.rules ?? []), ...placedRules(plain.tools, [...path, name])];
      const server = overlay(base, plain);
      const definition = toDefinition({ name, origin: "session", server, rules }, cwd);
      return acp === undefined ? definition : inTheClient(definition, acp);
    }),
    warnings: toProblems(warnings, {}).map(formatProblem),
  };
}

function acpIssues(
  name: string,
  server: AcpServerConfig,
  path: KeyPath,
  reachesClient: boolean,
): Issue[] {
  const wrongName = serverNameProblem(name);
  return [
    ...(wrongName === undefined ? [] : [atKey(path, wrongName)]),
    ...check(acpServerSchema, server, path).issues,
    ...(reachesClient ? [] : [atKey(path, NO_WAY)]),
  ];
}

const NO_WAY =
  'has the transport acp, and the session has no way to the client; expected "sendMcpMessage" in its options';

/** The settings of the server, without how to reach it. */
function treatmentOf(server: AcpServerConfig): SessionDefaults {
  const isTreatment = ([key, value]: [string, unknown]): boolean =>
    key !== "transport" && key !== "serverId" && value !== undefined;
  return Object.fromEntries(Object.entries(server).filter(isTreatment));
}

function inTheClient(
  definition: ServerDefinition,
  { serverId }: AcpServerConfig,
): ServerDefinition {
  // ACP carries no other revision.
  return { ...definition, target: { kind: "acp", serverId }, protocol: "2026-07-28" };
}
