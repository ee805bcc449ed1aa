// Zed: `context_servers` in its settings. A server of an extension is started by the extension, which only Zed has.

import { isJsonObject } from "../../types/json.ts";
import type { Application } from "./application.ts";
import type { KeyRule, KeyRules } from "./draft.ts";
import { likelySeconds, same, signIn, text } from "./key-rules.ts";
import { LITERAL } from "./variables.ts";

/** Older files have an object in place of the program's name. */
const command: KeyRule = (server, value, path) => {
  if (!isJsonObject(value)) {
    server.setText("command", value, path);
    return;
  }
  server.readInside(value, path, { path: text("command"), args: text("args"), env: text("env") });
};

const KEYS: KeyRules = {
  enabled: same("enabled"),
  command,
  args: text("args"),
  env: text("env"),
  url: text("url"),
  headers: text("headers"),
  timeout: likelySeconds("toolTimeout"),
  oauth: signIn({ client_id: "clientId", client_secret: "clientSecret" }),
  source: () => {},
  settings: () => {},
};

export const zed: Application = {
  id: "zed",
  name: "Zed",
  recognise: ({ context_servers: servers }) => isJsonObject(servers),
  translate: ({ context_servers: servers, ...others }, draft) => {
    draft.servers(servers, ["context_servers"], KEYS, LITERAL, {
      finish: (server) => {
        const { command: program, url } = server.given;
        if (program === undefined && url === undefined) {
          server.leaveOut("is a server of an extension, which only Zed can start", server.origin);
        }
      },
    });
    draft.ignore(Object.keys(others), []);
  },
};
