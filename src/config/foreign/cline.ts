// Cline, and Roo Code, which came from it: `mcpServers` with a `timeout` in seconds, and lists of tools that are called
// without asking. Such a list restricts nothing, so it is passed over.

import type { Application } from "./application.ts";
import { COMMON_KEYS } from "./claude.ts";
import { deny, type KeyRules, likelySeconds, transport } from "./draft.ts";
import { entries, someHas } from "./recognise.ts";
import { editorVariables } from "./variables.ts";

const KEYS: KeyRules = {
  ...COMMON_KEYS,
  transportType: transport(),
  timeout: likelySeconds("toolTimeout"),
  disabledTools: deny,
};

export const cline: Application = {
  id: "cline",
  name: "Cline",
  recognise: ({ mcpServers }) =>
    someHas(mcpServers, ["autoApprove", "alwaysAllow", "transportType"]) ||
    entries(mcpServers).some(({ type }) => type === "streamableHttp"),
  block: "mcpServers",
  place: /(?:^|\/)(?:cline_mcp_settings|mcp_settings)\.json$/,
  translate: ({ mcpServers, ...others }, draft, place) => {
    draft.servers(mcpServers, ["mcpServers"], KEYS, editorVariables(place), {
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
    draft.passOver(Object.keys(others), []);
  },
};
