// Codex: `mcp_servers` in `config.toml`. Durations are in seconds, and credentials are named by their variables.

import { isJsonObject } from "../../types/json.ts";
import { atValue, type KeyPath } from "../issue.ts";
import type { Application } from "./application.ts";
import type { KeyRule, KeyRules, ServerDraft } from "./draft.ts";
import {
  allow,
  deny,
  directory,
  milliseconds,
  same,
  seconds,
  signIn,
  text,
  warn,
} from "./key-rules.ts";
import { LITERAL, reference } from "./variables.ts";

const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Names of variables that are passed on, as text or as `{ name, source }`. */
const forwarded: KeyRule = (server, value, path) => {
  if (!Array.isArray(value)) {
    server.draft.issues.push(atValue(path, "is not a list; expected names of variables"));
    return;
  }
  for (const [index, each] of value.entries()) {
    const name: unknown = isJsonObject(each) ? each["name"] : each;
    const origin = [...path, index];
    if (typeof name === "string") setVariable(server, "env", name, name, "", origin);
    else server.draft.issues.push(atValue(origin, "is not the name of a variable"));
  }
};

const headersFromVariables: KeyRule = (server, value, path) => {
  if (!isJsonObject(value)) {
    server.set("headers", value, path);
    return;
  }
  for (const [header, name] of Object.entries(value)) {
    setVariable(server, "headers", header, name, undefined, [...path, header]);
  }
};

const bearer: KeyRule = (server, value, path) => {
  if (typeof value === "string" && VARIABLE.test(value)) {
    setIn(server, "headers", "Authorization", `Bearer ${reference(value)}`, path);
  } else {
    server.draft.issues.push(atValue(path, "is not the name of a variable"));
  }
};

const MODES: Readonly<Record<string, string>> = { prompt: "ask", approve: "never" };

/** Codex asks before a tool in the mode "prompt". */
const approvals: KeyRule = (server, value, path) => {
  if (!isJsonObject(value)) return;
  for (const [tool, settings] of Object.entries(value)) {
    const mode = isJsonObject(settings) ? settings["approval_mode"] : undefined;
    if (typeof mode !== "string" || !Object.hasOwn(MODES, mode)) continue;
    const place = [...server.path, "approval", "tools", tool];
    server.draft.set(place, MODES[mode], [...path, tool, "approval_mode"]);
  }
};

const KEYS: KeyRules = {
  command: text("command"),
  args: text("args"),
  env: text("env"),
  env_vars: forwarded,
  cwd: directory,
  url: text("url"),
  http_headers: text("headers"),
  env_http_headers: headersFromVariables,
  bearer_token_env_var: bearer,
  http_headers_helper: warn("is not run; give the headers in http_headers or env_http_headers"),
  startup_timeout_ms: milliseconds("timeout"),
  startup_timeout_sec: seconds("timeout"),
  tool_timeout_sec: seconds("toolTimeout"),
  enabled: same("enabled"),
  enabled_tools: allow,
  disabled_tools: deny,
  scopes: (server, value, path) =>
    server.set("oauth.scope", Array.isArray(value) ? value.join(" ") : value, path),
  oauth: signIn({ client_id: "clientId" }),
  default_tools_approval_mode: (server, value, path) => {
    if (typeof value === "string" && Object.hasOwn(MODES, value)) {
      server.set("approval.default", MODES[value], path);
    }
  },
  tools: approvals,
};

export const codex: Application = {
  id: "codex",
  name: "Codex",
  // How many subagents there may be, and their roles.
  shares: { agents: [] },
  recognise: ({ mcp_servers: servers }) => isJsonObject(servers),
  translate: ({ mcp_servers: servers, ...others }, draft) => {
    draft.servers(servers, ["mcp_servers"], KEYS, LITERAL, {
      finish: (server) => {
        if (server.get("url") === undefined) return;
        server.set("transport", "http", [...server.origin, "url"]);
      },
    });
    draft.ignore(Object.keys(others), []);
  },
};

function setVariable(
  server: ServerDraft,
  key: string,
  entry: string,
  name: unknown,
  fallback: string | undefined,
  origin: KeyPath,
): void {
  if (typeof name === "string" && VARIABLE.test(name)) {
    setIn(server, key, entry, reference(name, fallback), origin);
  } else {
    server.draft.issues.push(atValue(origin, "is not the name of a variable"));
  }
}

/** Beside what the map already has. */
function setIn(
  server: ServerDraft,
  key: string,
  entry: string,
  value: string,
  origin: KeyPath,
): void {
  server.draft.set([...server.path, key, entry], value, origin);
}
