// Windsurf: `mcp_config.json` with `mcpServers`, where a remote server has a `serverUrl`.

import { type Application, mentions, someHas } from "./application.ts";
import type { KeyRules } from "./draft.ts";
import { COMMON_KEYS, deny, text } from "./key-rules.ts";
import { editorVariables } from "./variables.ts";

const KEYS: KeyRules = {
  ...COMMON_KEYS,
  serverUrl: text("url"),
  disabledTools: deny,
};

export const windsurf: Application = {
  id: "windsurf",
  name: "Windsurf",
  recognise: ({ mcpServers }) =>
    someHas(mcpServers, ["serverUrl", "disabledTools"]) || mentions(mcpServers, /\$\{file:/),
  block: "mcpServers",
  keys: [],
  pathEnd: /(?:^|\/)mcp_config\.json$/,
  translate: ({ mcpServers, ...others }, draft, around) => {
    draft.servers(mcpServers, ["mcpServers"], KEYS, editorVariables(around));
    draft.ignore(Object.keys(others), []);
  },
};
