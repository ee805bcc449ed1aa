// OpenClaw: `mcp.servers` for all agents, and what was planned for it: servers of the defaults and of single agents,
// as in our own file. Of `gateway` only the rules for tools are read; where OpenClaw listens is not our business.

import { isJsonObject, type JsonObject, objectIn } from "../../types/json.ts";
import { atKey, type KeyPath } from "../issue.ts";
import type { Application } from "./application.ts";
import type { Draft, KeyRules, ServerDraft } from "./draft.ts";
import {
  allow,
  deny,
  directory,
  inverted,
  milliseconds,
  OUR_KEYS,
  same,
  signIn,
  text,
  transport,
} from "./key-rules.ts";
import { OURS } from "./variables.ts";

const KEYS: KeyRules = {
  ...OUR_KEYS,
  transport,
  type: transport,
  // Numbers and booleans are allowed in both.
  env: text("env"),
  headers: text("headers"),
  cwd: directory,
  workingDirectory: directory,
  disabled: inverted("enabled"),
  connectionTimeoutMs: milliseconds("timeout"),
  requestTimeoutMs: milliseconds("toolTimeout"),
  // "oauth" asks for what happens anyway.
  auth: (server, value, path) => {
    if (value !== "oauth") server.set("auth", value, path);
  },
  oauth: signIn({
    scope: "scope",
    clientId: "clientId",
    clientSecret: "clientSecret",
    redirectUrl: "redirectUri",
    redirectUri: "redirectUri",
    clientMetadataUrl: "clientMetadataUrl",
  }),
  clientCert: same("tls.cert"),
  clientKey: same("tls.key"),
  toolFilter: (server, value, path) => {
    const { include, exclude } = objectIn(value);
    if (include !== undefined) allow(server, include, [...path, "include"]);
    if (exclude !== undefined) deny(server, exclude, [...path, "exclude"]);
  },
};

/** Blocks of its file that no other application has beside `agents`. */
const BLOCKS = [
  "channels",
  "wizard",
  "meta",
  "plugins",
  "skills",
  "hooks",
  "session",
  "messages",
  "commands",
  "bindings",
  "cron",
  "browser",
  "tools",
  "auth",
];

const AGENT_MARKS = [
  "models",
  "compaction",
  "heartbeat",
  "sandbox",
  "subagents",
  "identity",
  "name",
];

export const openclaw: Application = {
  id: "openclaw",
  name: "OpenClaw",
  shares: {
    agents: ["defaults", "list"],
    gateway: ["port", "tls"],
    models: ["providers"],
    secrets: [],
    acp: [],
    audit: [],
  },
  recognise: (value) => {
    const { mcp, agents, gateway } = value;
    if (isJsonObject(mcp) && isJsonObject(mcp["servers"])) return true;
    if (isJsonObject(gateway) && isJsonObject(gateway["tools"])) return true;
    if (!isJsonObject(agents)) return false;
    const all = agentsOf(agents);
    // In ours, such a block is a mistake, and servers of an agent are not.
    const isOurs = all.some(({ agent }) => Object.hasOwn(agent, "mcp"));
    return (
      (!isOurs && BLOCKS.some((key) => Object.hasOwn(value, key))) ||
      isJsonObject(agents["entries"]) ||
      all.some(({ agent }) => isForeignAgent(agent))
    );
  },
  translate: (value, draft) => {
    const { mcp, agents, gateway, tools, ...others } = value;
    const block = objectIn(mcp);
    draft.servers(block["servers"], ["mcp", "servers"], KEYS, OURS, {
      finish: withDefaultTransport,
    });
    draft.ignore(without(block, ["servers"]), ["mcp"]);
    if (isJsonObject(gateway)) draft.ignore(without(gateway, ["tools"]), ["gateway"]);
    const defaults = objectIn(objectIn(agents)["defaults"]);
    readRules(
      [
        { rules: isJsonObject(gateway) ? gateway["tools"] : undefined, path: ["gateway", "tools"] },
        { rules: tools, path: ["tools"] },
        { rules: defaults["tools"], path: ["agents", "defaults", "tools"] },
      ],
      ["agents", "defaults", "tools"],
      draft,
    );
    for (const { agent, path, into } of agentsOf(agents)) readAgent(agent, path, into, draft);
    draft.ignore(Object.keys(others), []);
  },
};

interface FoundAgent {
  agent: JsonObject;
  path: KeyPath;
  /** The path of ours. */
  into: KeyPath;
  id?: string;
}

/** The defaults, then those of the list or, in newer files, of `entries`. */
function agentsOf(agents: unknown): FoundAgent[] {
  if (!isJsonObject(agents)) return [];
  const { defaults, list, entries } = agents;
  const listed = (Array.isArray(list) ? list : []).map((agent: unknown, index) => ({
    agent,
    path: ["agents", "list", index],
  }));
  const keyed = Object.entries(objectIn(entries)).map(([id, agent]) => ({
    agent: isJsonObject(agent) ? { ...agent, id } : agent,
    path: ["agents", "entries", id],
  }));
  const own = [...listed, ...keyed].flatMap(({ agent, path }, index) =>
    isJsonObject(agent) ? { agent, path, into: ["agents", "list", index] } : [],
  );
  return isJsonObject(defaults)
    ? [{ agent: defaults, path: ["agents", "defaults"], into: ["agents", "defaults"] }, ...own]
    : own;
}

function isForeignAgent(agent: JsonObject): boolean {
  return (
    isJsonObject(agent["model"]) ||
    AGENT_MARKS.some((key) => Object.hasOwn(agent, key) && !Array.isArray(agent[key]))
  );
}

function readAgent(agent: JsonObject, path: KeyPath, into: KeyPath, draft: Draft): void {
  const { id, mcp, tools, ...others } = agent;
  const isListed = into[1] === "list";
  if (isListed) {
    draft.trace(into, path);
    draft.set([...into, "id"], id, [...path, "id"]);
    readRules([{ rules: tools, path: [...path, "tools"] }], [...into, "tools"], draft);
  }
  const block = objectIn(mcp);
  draft.servers(block["servers"], [...path, "mcp", "servers"], KEYS, OURS, {
    into: [...into, "mcp", "servers"],
    // An override need not say where its server is.
    finish: isListed ? () => {} : withDefaultTransport,
  });
  for (const key of ["toolNames", "toolNameLength", "startupWait", "session"]) {
    if (block[key] !== undefined) {
      draft.set([...into, "mcp", key], block[key], [...path, "mcp", key]);
    }
  }
  draft.ignore(Object.keys(others), path);
}

/** A URL without a transport is one of SSE. */
function withDefaultTransport(server: ServerDraft): void {
  const { url, transport: given, type } = server.given;
  if (url !== undefined && given === undefined && type === undefined) {
    server.set("transport", "sse", [...server.origin, "url"]);
  }
}

/** Every list of `deny` counts. Of several `allow` lists, only what all of them name is allowed. */
function readRules(
  blocks: readonly { rules: unknown; path: KeyPath }[],
  into: KeyPath,
  draft: Draft,
): void {
  const given = blocks.flatMap(({ rules, path }) => (isJsonObject(rules) ? [{ rules, path }] : []));
  const [first] = given;
  if (first !== undefined) draft.trace(into, first.path);
  for (const { rules, path } of given) draft.ignore(without(rules, ["allow", "deny"]), path);
  for (const key of ["allow", "deny"] as const) {
    for (const { rules, path } of given) {
      if (rules[key] === undefined) continue;
      const origin = [...path, key];
      const list = patterns(rules[key], origin, draft);
      const earlier = draft.get([...into, key]);
      draft.set([...into, key], earlier === undefined ? list : merge(key, earlier, list), origin);
    }
  }
}

function merge(key: "allow" | "deny", first: unknown, second: unknown): unknown {
  // A value that is no list stays, so that the schema refuses it.
  if (!Array.isArray(first)) return first;
  if (!Array.isArray(second)) return second;
  if (key === "deny") return [...first, ...second];
  const [isAny, isAnyToo] = [first.includes("*"), second.includes("*")];
  return [
    ...first.filter((pattern) => isAnyToo || second.includes(pattern)),
    ...second.filter((pattern) => isAny && !first.includes(pattern)),
  ];
}

/** Groups that have the tools of all MCP servers in them. */
const ALL_SERVERS = new Set(["bundle-mcp", "group:plugins"]);

/** Names of OpenClaw's own tools are left out: no tool of a server has such a name there. */
function patterns(list: unknown, path: KeyPath, draft: Draft): unknown {
  if (!Array.isArray(list)) return list;
  const own: string[] = [];
  const kept = list.flatMap((pattern: unknown) => {
    if (typeof pattern !== "string") return [pattern];
    if (ALL_SERVERS.has(pattern)) return ["*"];
    const isOwn = /^(?:group:.*|(?!mcp_)(?!.*__)[a-z][a-z0-9_]*)$/i.test(pattern);
    if (isOwn) own.push(pattern);
    return isOwn ? [] : [pattern];
  });
  if (own.length > 0) {
    draft.notes.push(atKey(path, `ignored, tools of OpenClaw itself: ${own.join(", ")}`));
  }
  return kept;
}

function without(object: JsonObject, keys: readonly string[]): string[] {
  return Object.keys(object).filter((key) => !keys.includes(key));
}
