// A configuration written in code, checked as a file's would be.

import type { AgentConfig } from "../model/agent-config.ts";
import { isJsonObject } from "../model/json.ts";
import { check } from "./kit.ts";
import { familyOf } from "./connection.ts";
import { toDefinition } from "./definition.ts";
import { agentGuard, auditSettings } from "./guard.ts";
import { layerIssues, plainServers } from "./merge.ts";
import { throwIfAny, toProblems } from "./issue.ts";
import { ruleWarnings } from "./rule-warnings.ts";
import { boardSchema } from "./schema.ts";
import type { BoardConfig } from "./server-config.ts";
import { readServers } from "./servers.ts";
import { DEFAULT_TOOL_NAMES } from "./tool-names.ts";
import { sessionDefaults } from "./session.ts";
import { durationWarnings, serverWarnings, sessionWarnings } from "./warnings.ts";

export type { BoardConfig } from "./server-config.ts";

/** Throws CONFIG_INVALID, listing everything that is wrong. */
export function parseAgentConfig(input: BoardConfig): AgentConfig {
  const checked = check(boardSchema, input, []);
  const layer = readServers(isJsonObject(input) ? input.servers : undefined, ["servers"]);
  throwIfAny([...checked.issues, ...layer.issues, ...layerIssues(layer)], {});
  const { toolNames, startupWait, workspace, networkAllow, tools, approval, resourceTools } = input;
  const guard = agentGuard([{ path: [], settings: { ...input, tools: { ...tools, approval } } }]);
  const audit = auditSettings(input.audit, (file) => file);
  const session = sessionDefaults([{ settings: input.session, path: ["session"] }]);
  const warnings = [
    ...durationWarnings({ startupWait }, ["startupWait"], []),
    ...ruleWarnings(tools, [], new Set(layer.servers.keys())),
    ...sessionWarnings(input.session, ["session"]),
    ...[...layer.servers.values()].flatMap((server) =>
      serverWarnings(server, familyOf(server.plain)),
    ),
  ];
  return {
    agentId: "default",
    servers: plainServers(layer, "agent").map((server) => toDefinition(server, undefined)),
    toolNames: toolNames ?? DEFAULT_TOOL_NAMES,
    ...(startupWait !== undefined && { startupWait }),
    ...(resourceTools !== undefined && { resourceTools }),
    ...(workspace !== undefined && { workspace }),
    ...(networkAllow !== undefined && { networkAllow }),
    ...(guard !== undefined && { guard }),
    ...(audit !== undefined && { audit }),
    ...(session !== undefined && { session }),
    warnings: toProblems(warnings, {}),
  };
}
