// Checks a configuration written in code, as loadConfig checks a file.

import type { AgentConfig, BoardConfig } from "../types/agent-config.ts";
import { isJsonObject } from "../types/json.ts";
import { readGiven } from "../types/kinds.ts";
import { throwIfAny, toProblems } from "./issue.ts";
import { rootsSetting, toDefinition } from "./layers/definition.ts";
import { agentGuard, auditSettings } from "./layers/guard.ts";
import { layerIssues, mergeSessionDefaults, plainServers } from "./layers/merge.ts";
import { boardSchema, DEFAULT_TOOL_NAMES, toolSearchSetting } from "./schema/file-schema.ts";
import { check } from "./schema/schema.ts";
import { kindOf, readServers } from "./schema/servers.ts";
import {
  codeVariableNotes,
  durationWarnings,
  plaintextWarnings,
  serverWarnings,
  sessionWarnings,
} from "./schema/warnings.ts";
import type { Environment } from "../../util/environment.ts";

/** As `parseAgentConfig`, for what a program brings: also warns of credentials that are written out in it. */
export function parseBoardConfig(input: BoardConfig, env: Environment): AgentConfig {
  return readGiven("the configuration", () => {
    const agent = parseAgentConfig(input);
    const { servers } = readServers(input.servers, ["servers"]);
    const found = plaintextWarnings([...servers.values()], { env });
    return { ...agent, warnings: [...agent.warnings, ...toProblems(found, {})] };
  });
}

/** Throws CONFIG_INVALID, listing everything that is wrong. `baseDir` is what relative paths are relative to. */
export function parseAgentConfig(input: BoardConfig, baseDir?: string): AgentConfig {
  const checked = check(boardSchema, input, []);
  const layer = readServers(isJsonObject(input) ? input.servers : undefined, ["servers"]);
  throwIfAny([...checked.issues, ...layer.issues, ...layerIssues(layer)], {});
  const { toolNames, startupWait, workspace, networkAllow, tools, approval, resourceTools, roots } =
    input;
  const warnings = [
    ...durationWarnings({ startupWait }, ["startupWait"], []),
    ...sessionWarnings(input.session, ["session"]),
    ...[...layer.servers.values()].flatMap((server) =>
      serverWarnings(server, kindOf(server.plain)),
    ),
  ];
  const notes = codeVariableNotes([...layer.servers.values()]);
  return {
    agentId: "default",
    servers: plainServers(layer, "agent").map((server) => toDefinition(server, baseDir)),
    toolNames: toolNames ?? DEFAULT_TOOL_NAMES,
    toolNameLength: input.toolNameLength,
    startupWait,
    resourceTools,
    toolSearch: toolSearchSetting(input.toolSearch),
    roots: rootsSetting(roots, baseDir),
    workspace,
    networkAllow,
    secrets: input.secrets,
    guard: agentGuard([{ path: [], settings: { ...input, tools: { ...tools, approval } } }]),
    audit: auditSettings(input.audit, (file) => file),
    session: mergeSessionDefaults([{ settings: input.session, path: ["session"] }]),
    warnings: toProblems(warnings, {}),
    ...(notes.length > 0 && { notes: toProblems(notes, {}) }),
  };
}
