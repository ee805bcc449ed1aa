// tsagent: `mcpServers` in an agent's `tsagent.json`, with the tools that a model gets, and those it is asked about. It
// writes both in two ways, of which the first is older: `toolInclude`, or `serverToolDefaults` and `tools`.

import { isJsonObject, objectIn } from "../../types/json.ts";
import type { KeyPath } from "../issue.ts";
import { type Application, entries, someHas } from "./application.ts";
import type { KeyRule, KeyRules, ServerDraft } from "./draft.ts";
import { COMMON_KEYS, transport } from "./key-rules.ts";
import { BRACES } from "./variables.ts";

const include = { key: "include", toMode: (value: unknown) => value };

const approval = {
  key: "approval",
  toMode: (value: unknown) => (typeof value === "boolean" ? (value ? "ask" : "never") : value),
};

type Setting = typeof include | typeof approval;

/** `{ serverDefault, tools: { name: … } }` */
function older(setting: Setting): KeyRule {
  return (server, value, path) => {
    if (!isJsonObject(value)) {
      server.set(setting.key, value, path);
      return;
    }
    const { serverDefault, tools } = value;
    server.draft.trace([...server.path, setting.key], path);
    setDefault(server, setting, serverDefault, [...path, "serverDefault"]);
    for (const [tool, mode] of Object.entries(objectIn(tools))) {
      setTool(server, setting, tool, mode, [...path, "tools", tool]);
    }
  };
}

const KEYS: KeyRules = {
  ...COMMON_KEYS,
  type: transport,
  toolInclude: older(include),
  toolPermissionRequired: older(approval),
  serverToolDefaults: (server, value, path) => {
    if (!isJsonObject(value)) return;
    setDefault(server, include, value["include"], [...path, "include"]);
    setDefault(server, approval, value["permissionRequired"], [...path, "permissionRequired"]);
  },
  tools: (server, value, path) => {
    for (const [tool, settings] of Object.entries(objectIn(value))) {
      if (!isJsonObject(settings)) continue;
      const place = [...path, tool];
      setTool(server, include, tool, settings["include"], [...place, "include"]);
      setTool(server, approval, tool, settings["permissionRequired"], [
        ...place,
        "permissionRequired",
      ]);
    }
  },
};

export const tsagent: Application = {
  id: "tsagent",
  name: "tsagent",
  recognise: ({ mcpServers, metadata, settings }) =>
    someHas(mcpServers, ["toolInclude", "toolPermissionRequired", "serverToolDefaults"]) ||
    entries(mcpServers).some(({ type }) => type === "internal") ||
    (isJsonObject(mcpServers) && isJsonObject(metadata) && isJsonObject(settings)),
  block: "mcpServers",
  keys: ["metadata", "settings", "systemPrompt", "rules", "references", "providers", "theme"],
  pathEnd: /(?:^|\/)tsagent\.json$/,
  translate: ({ mcpServers, ...others }, draft) => {
    draft.servers(mcpServers, ["mcpServers"], KEYS, BRACES);
    draft.ignore(Object.keys(others), []);
  },
};

function setDefault(
  { draft, path }: ServerDraft,
  { key, toMode }: Setting,
  value: unknown,
  origin: KeyPath,
): void {
  if (value !== undefined) draft.set([...path, key, "default"], toMode(value), origin);
}

function setTool(
  { draft, path }: ServerDraft,
  { key, toMode }: Setting,
  tool: string,
  value: unknown,
  origin: KeyPath,
): void {
  if (value !== undefined) draft.set([...path, key, "tools", tool], toMode(value), origin);
}
