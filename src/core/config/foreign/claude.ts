// Claude Desktop, Claude Code, and every other file that has servers under `mcpServers` and nothing that tells whose
// it is. Claude Code's file of a user, `~/.claude.json`, has servers for all projects and for single ones.

import { dirname } from "node:path";
import { isJsonObject, type JsonObject } from "../../types/json.ts";
import { atKey, type KeyPath, quote } from "../issue.ts";
import { type Application, entries } from "./application.ts";
import type { Draft, KeyRules } from "./draft.ts";
import { COMMON_KEYS, milliseconds, signIn, warn } from "./key-rules.ts";
import { BRACES, editorVariables } from "./variables.ts";

const KEYS: KeyRules = {
  ...COMMON_KEYS,
  // The limit of a call in Claude Code.
  timeout: milliseconds("toolTimeout"),
  oauth: signIn({
    clientId: "clientId",
    clientSecret: "clientSecret",
    scopes: "scope",
    scope: "scope",
  }),
  headersHelper: warn('is not run; give the headers in "headers", with ${NAME} for what is secret'),
};

export const claudeCode: Application = {
  id: "claude-code",
  name: "Claude Code",
  recognise: ({ projects }) =>
    isJsonObject(projects) &&
    Object.values(projects).some((project) => isJsonObject(project) && "mcpServers" in project),
  block: "mcpServers",
  pathEnd: /(?:^|\/)(?:\.mcp\.json|\.claude\.json)$/,
  translate: (value, draft, { cwd }) => {
    const { mcpServers, projects, ...others } = value;
    draft.servers(mcpServers, ["mcpServers"], KEYS, BRACES);
    if (isJsonObject(projects)) readProjects(projects, draft, cwd);
    draft.ignore(Object.keys(others), []);
  },
};

export const claudeDesktop: Application = {
  id: "claude-desktop",
  name: "Claude Desktop",
  // The file of Claude Desktop has no mark of its own: a file with this block that no other application recognises is
  // taken for it.
  recognise: () => false,
  block: "mcpServers",
  keys: [
    "globalShortcut",
    "preferences",
    "scale",
    "locale",
    "userThemeMode",
    "isUsingBuiltInNodeForMcp",
    "isDxtAutoUpdatesEnabled",
  ],
  pathEnd: /(?:^|\/)claude_desktop_config\.json$/,
  translate: ({ mcpServers, ...others }, draft, around) => {
    draft.servers(mcpServers, ["mcpServers"], KEYS, editorVariables(around));
    draft.ignore(Object.keys(others), []);
  },
};

/** The servers of the project that the caller works in come over those of all projects, as in Claude Code. */
function readProjects(projects: JsonObject, draft: Draft, cwd: string): void {
  draft.isOfDirectory = true;
  const current = projectOf(projects, cwd);
  const project = current === undefined ? undefined : projects[current];
  if (current !== undefined && isJsonObject(project)) {
    const path: KeyPath = ["projects", current];
    draft.servers(project["mcpServers"], [...path, "mcpServers"], KEYS, BRACES);
    const disabled = project["disabledMcpServers"];
    for (const [index, name] of (Array.isArray(disabled) ? disabled : []).entries()) {
      draft.disable(name, [...path, "disabledMcpServers", index]);
    }
  }
  const others = Object.entries(projects).filter(
    ([path, other]) =>
      path !== current && isJsonObject(other) && entries(other["mcpServers"]).length > 0,
  );
  for (const [path] of others) {
    const message = `is ignored: these servers are for the project ${quote(path)}`;
    draft.notes.push(atKey(["projects", path, "mcpServers"], message));
  }
}

/** The project that a directory belongs to: its own, or the nearest above it. */
export function projectOf(projects: JsonObject, cwd: string): string | undefined {
  return ancestors(cwd).find((path) => Object.hasOwn(projects, path));
}

function ancestors(path: string): string[] {
  const parent = dirname(path);
  return parent === path ? [path] : [path, ...ancestors(parent)];
}
