// Cursor: `mcp.json` with `mcpServers`, and the variables of VS Code in its values.

import { isJsonObject } from "../../types/json.ts";
import { type Application, entries, mentions } from "./application.ts";
import type { KeyRules } from "./draft.ts";
import { COMMON_KEYS, envFile, signIn } from "./key-rules.ts";
import { editorVariables } from "./variables.ts";

const KEYS: KeyRules = {
  ...COMMON_KEYS,
  envFile,
  auth: signIn({ CLIENT_ID: "clientId", CLIENT_SECRET: "clientSecret", scopes: "scope" }),
};

export const cursor: Application = {
  id: "cursor",
  name: "Cursor",
  recognise: ({ mcpServers }) =>
    entries(mcpServers).some(
      (server) =>
        "envFile" in server || (isJsonObject(server["auth"]) && "CLIENT_ID" in server["auth"]),
    ) || mentions(mcpServers, /\$\{(?:env:|workspaceFolder|userHome|pathSeparator|\/\})/),
  block: "mcpServers",
  keys: [],
  pathEnd: /(?:^|\/)\.cursor\/mcp\.json$/,
  translate: ({ mcpServers, ...others }, draft, around) => {
    draft.servers(mcpServers, ["mcpServers"], KEYS, editorVariables(around));
    draft.ignore(Object.keys(others), []);
  },
};
