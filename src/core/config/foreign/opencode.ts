// OpenCode: `mcp` in `opencode.json`, or `mcp.servers` since its second version. A program and its arguments are one
// list, and the root block `tools` can switch tools off.

import { isJsonObject, type JsonObject } from "../../types/json.ts";
import { atValue, type KeyPath } from "../issue.ts";
import { type Application, entries } from "./application.ts";
import type { Draft, KeyRule, KeyRules, ServerDraft } from "./draft.ts";
import { directory, inverted, milliseconds, same, signIn, text } from "./key-rules.ts";
import { ENV_IN_BRACES } from "./variables.ts";

const LONGEST_NAME = 64;

const command: KeyRule = (server, value, path) => {
  if (!Array.isArray(value) || value.length === 0) {
    server.draft.issues.push(
      atValue(path, "is not a list with a program in it; expected the program and its arguments"),
    );
    server.set("command", "unknown", path);
    return;
  }
  server.setText("command", value[0], [...path, 0]);
  server.setText("args", value.slice(1), path);
  for (const index of value.slice(1).keys()) {
    server.draft.trace([...server.path, "args", index], [...path, index + 1]);
  }
};

const KEYS: KeyRules = {
  type: (server, value, path) => {
    if (value === "local" || value === "remote") return;
    server.draft.issues.push(atValue(path, "is not a kind of server; expected local or remote"));
  },
  command,
  environment: text("env"),
  cwd: directory,
  url: text("url"),
  headers: text("headers"),
  enabled: same("enabled"),
  disabled: inverted("enabled"),
  timeout: (server, value, path) => {
    // Newer versions can have several.
    if (isJsonObject(value)) server.draft.ignore(Object.keys(value), path);
    else milliseconds("timeout", "toolTimeout")(server, value, path);
  },
  oauth: signIn({
    clientId: "clientId",
    clientSecret: "clientSecret",
    scope: "scope",
    redirectUri: "redirectUri",
  }),
};

export const opencode: Application = {
  id: "opencode",
  name: "OpenCode",
  recognise: ({ $schema, mcp }) => {
    if (typeof $schema === "string" && $schema.includes("opencode.ai")) return true;
    return [...entries(mcp), ...entries(serversOf(mcp))].some(
      ({ type }) => type === "local" || type === "remote",
    );
  },
  translate: ({ mcp, tools, ...others }, draft) => {
    const nested = serversOf(mcp);
    const path: KeyPath = nested === undefined ? ["mcp"] : ["mcp", "servers"];
    const servers = draft.servers(nested ?? mcp, path, KEYS, ENV_IN_BRACES, {
      finish: (server) => {
        const { type } = server.given;
        // An organisation's server, switched on or off by name alone.
        if (type === undefined) {
          server.leaveOut("has no type, so it is defined elsewhere", server.origin);
        }
      },
    });
    denyTools(tools, servers, draft);
    draft.ignore(Object.keys(others), []);
  },
};

/** `mcp.servers`, unless a server is called so. */
function serversOf(mcp: unknown): JsonObject | undefined {
  const servers = isJsonObject(mcp) ? mcp["servers"] : undefined;
  return isJsonObject(servers) && !("type" in servers && typeof servers["type"] === "string")
    ? servers
    : undefined;
}

/** `{ "files_write*": false }`: a tool is called `server_tool` there. */
function denyTools(tools: unknown, servers: readonly ServerDraft[], draft: Draft): void {
  if (!isJsonObject(tools)) return;
  const byName = new Map(
    servers.map((server) => [server.name.replace(/[^A-Za-z0-9_-]/g, "_"), server]),
  );
  const denied = new Map<ServerDraft, string[]>();
  const deny = (server: ServerDraft | undefined, pattern: string): void => {
    if (server !== undefined) denied.set(server, [...(denied.get(server) ?? []), pattern]);
  };
  for (const pattern of Object.keys(tools).filter((key) => tools[key] === false)) {
    if (pattern === "*") for (const server of servers) deny(server, "*");
    else if (pattern.endsWith("*")) deny(byName.get(pattern.slice(0, -1)), "*");
    // A name may have underscores in it, so each can be the one behind the server.
    for (const [index, character] of Array.from(pattern.slice(0, LONGEST_NAME + 1)).entries()) {
      if (character === "_") deny(byName.get(pattern.slice(0, index)), pattern.slice(index + 1));
    }
  }
  for (const [server, patterns] of denied) {
    draft.set([...server.path, "tools", "deny"], patterns, ["tools"]);
  }
}
