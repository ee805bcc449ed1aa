// Gemini CLI: `mcpServers` in `settings.json`. `includeTools` and `excludeTools` restrict a server; `trust` only says
// that nobody is asked before a call, so it is ignored.

import { isJsonObject, objectIn } from "../../types/json.ts";
import { type Application, mentions, someHas } from "./application.ts";
import type { KeyRule, KeyRules } from "./draft.ts";
import { allow, deny, directory, milliseconds, signIn, text, transport } from "./key-rules.ts";
import { DOLLAR } from "./variables.ts";

/** An entry may have arguments behind the name, as in `run(ls)`; the list is about the tool. */
function toolNames(rule: KeyRule): KeyRule {
  return (server, value, path) =>
    rule(
      server,
      Array.isArray(value)
        ? value.map((name) => (typeof name === "string" ? name.replace(/\(.*$/s, "") : name))
        : value,
      path,
    );
}

const KEYS: KeyRules = {
  command: text("command"),
  args: text("args"),
  env: text("env"),
  cwd: directory,
  type: transport,
  url: text("url"),
  httpUrl: text("url"),
  headers: text("headers"),
  timeout: milliseconds("timeout", "toolTimeout"),
  includeTools: toolNames(allow),
  excludeTools: toolNames(deny),
  oauth: signIn({
    clientId: "clientId",
    clientSecret: "clientSecret",
    scopes: "scope",
    redirectUri: "redirectUri",
  }),
  tcp: (server, _value, path) =>
    server.leaveOut("is a WebSocket, a transport that Plugboard does not have", path),
};

const MARKS = [
  "httpUrl",
  "includeTools",
  "excludeTools",
  "trust",
  "tcp",
  "authProviderType",
  "targetAudience",
];

const SETTINGS = [
  "selectedAuthType",
  "contextFileName",
  "security",
  "general",
  "preferredEditor",
  "coreTools",
  "autoAccept",
];

/** All that its settings have at the root, after schemas/settings.schema.json in its source. */
const ROOT = [
  ...SETTINGS,
  "admin",
  "adminPolicyPaths",
  "advanced",
  "agents",
  "billing",
  "context",
  "experimental",
  "extensions",
  "hooks",
  "hooksConfig",
  "ide",
  "mcp",
  "model",
  "modelConfigs",
  "output",
  "policyPaths",
  "privacy",
  "skills",
  "telemetry",
  "theme",
  "tools",
  "ui",
  "useWriteTodos",
];

export const gemini: Application = {
  id: "gemini",
  name: "Gemini CLI",
  recognise: (value) => {
    const { mcpServers, mcp } = value;
    if (!isJsonObject(mcpServers)) return false;
    return (
      someHas(mcpServers, MARKS) ||
      isJsonObject(mcp) ||
      SETTINGS.some((key) => Object.hasOwn(value, key)) ||
      // A whole value, since a dollar within a text can be anything.
      mentions(mcpServers, /^(?:Bearer )?\$[A-Z_][A-Z0-9_]*$/)
    );
  },
  block: "mcpServers",
  // Settings of its subagents, by other names than ours.
  shares: { agents: [] },
  keys: ROOT,
  pathEnd: /(?:^|\/)\.gemini\/settings\.json$/,
  translate: ({ mcpServers, mcp, ...others }, draft) => {
    const servers = draft.servers(mcpServers, ["mcpServers"], KEYS, DOLLAR, {
      finish: (server) => {
        const { httpUrl } = server.given;
        if (httpUrl === undefined) return;
        // The older key says both, and comes before `url`.
        const origin = [...server.origin, "httpUrl"];
        server.setText("url", httpUrl, origin);
        server.set("transport", "http", origin);
      },
    });
    const { allowed, excluded, ...rest } = objectIn(mcp);
    const allowedNames = Array.isArray(allowed) ? new Set<unknown>(allowed) : undefined;
    const excludedNames = new Set<unknown>(Array.isArray(excluded) ? excluded : []);
    for (const { name, origin } of servers) {
      const given = origin.at(-1);
      if (allowedNames?.has(given) === false) draft.disable(name, ["mcp", "allowed"]);
      if (excludedNames.has(given)) draft.disable(name, ["mcp", "excluded"]);
    }
    draft.ignore(Object.keys(rest), ["mcp"]);
    draft.ignore(Object.keys(others), []);
  },
};
