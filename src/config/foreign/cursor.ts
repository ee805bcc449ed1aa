// Cursor: `mcp.json` with `mcpServers`, and the variables of VS Code in its values.

import { isJsonObject } from "../../model/json.ts";
import type { Application } from "./application.ts";
import { COMMON_KEYS } from "./claude.ts";
import { type KeyRules, signIn, warn } from "./draft.ts";
import { entries, mentions } from "./recognise.ts";
import { editorVariables } from "./variables.ts";

export const ENV_FILE = warn(
  'is not read; put its variables into "env", or export them and write ${NAME} there',
);

const KEYS: KeyRules = {
  ...COMMON_KEYS,
  envFile: ENV_FILE,
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
  pathEnd: /(?:^|\/)\.cursor\/mcp\.json$/,
  translate: ({ mcpServers, ...others }, draft, around) => {
    draft.servers(mcpServers, ["mcpServers"], KEYS, editorVariables(around));
    draft.passOver(Object.keys(others), []);
  },
};
