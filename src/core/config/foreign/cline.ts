// Cline, and Roo Code, which came from it: `mcpServers` with a `timeout` in seconds, and lists of tools that are called
// without asking. Such a list restricts nothing, so it is ignored.

import { isJsonObject } from "../../types/json.ts";
import { type Application, entries, someHas } from "./application.ts";
import type { KeyRule, KeyRules } from "./draft.ts";
import {
  COMMON_KEYS,
  deny,
  directory,
  likelySeconds,
  signIn,
  text,
  transport,
} from "./key-rules.ts";
import { editorVariables } from "./variables.ts";

const CONNECTION: KeyRules = {
  type: transport,
  command: text("command"),
  args: text("args"),
  env: text("env"),
  cwd: directory,
  url: text("url"),
  headers: text("headers"),
};

/** The command-line version has all that makes the connection in one object. */
const connection: KeyRule = (server, value, path) => {
  if (isJsonObject(value)) server.readInside(value, path, CONNECTION);
  else transport(server, value, path);
};

// Cline keeps the state of an earlier sign-in under `oauth`, so the key is no setting.
const { oauth: _oauth, ...COMMON } = COMMON_KEYS;

const KEYS: KeyRules = {
  ...COMMON,
  transport: connection,
  transportType: transport,
  timeout: likelySeconds("toolTimeout"),
  disabledTools: deny,
  oauthClient: signIn({ clientId: "clientId", clientSecret: "clientSecret" }),
};

export const cline: Application = {
  id: "cline",
  name: "Cline",
  recognise: ({ mcpServers }) =>
    someHas(mcpServers, ["autoApprove", "alwaysAllow", "transportType"]) ||
    entries(mcpServers).some(
      ({ type, transport: given }) => type === "streamableHttp" || isJsonObject(given),
    ),
  block: "mcpServers",
  keys: [],
  pathEnd: /(?:^|\/)(?:cline_mcp_settings|mcp_settings|\.roo\/mcp)\.json$/,
  translate: ({ mcpServers, ...others }, draft, around) => {
    draft.servers(mcpServers, ["mcpServers"], KEYS, editorVariables(around), {
      finish: (server) => {
        const { type, transportType, command, url } = server.given;
        // Without a type, Cline takes a URL for one of SSE.
        if (
          type === undefined &&
          transportType === undefined &&
          command === undefined &&
          url !== undefined
        ) {
          server.set("transport", "sse", [...server.origin, "url"]);
        }
      },
    });
    draft.ignore(Object.keys(others), []);
  },
};
