// The endpoints of the servers that a client sends, with their values as sent, so that the history can leave out their
// credentials.

import type { Endpoint } from "../../../model/server-definition.ts";
import type { McpServerParams } from "../wire/params.ts";

type SentServer = Pick<McpServerParams, "command" | "args" | "env" | "url" | "headers">;

export function toEndpoint(server: SentServer): Endpoint {
  const { command = "", args = [], env = [], url, headers = [] } = server;
  if (url === undefined) return { kind: "stdio", command, args, env: toRecord(env) };
  return {
    kind: "http",
    url,
    headers: toRecord(headers),
    allowInsecure: false,
    allowPrivate: false,
  };
}

function toRecord(pairs: readonly { name: string; value: string }[]): Record<string, string> {
  const record: Record<string, string> = Object.create(null);
  for (const { name, value } of pairs) record[name] = value;
  return record;
}
