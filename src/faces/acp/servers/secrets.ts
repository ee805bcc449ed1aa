// Finds the secrets in what a client sends about its servers, so that the session's history does not keep them.

import type { Endpoint } from "../../../model/server-definition.ts";
import { collectSecrets } from "../../../secrets/collect.ts";
import type { McpServerParams } from "../wire/params.ts";

type SentServer = Pick<McpServerParams, "command" | "args" | "env" | "url" | "headers">;

export function secretsOf(servers: readonly SentServer[]): string[] {
  return servers.flatMap((server) => {
    const endpoint = toEndpoint(server);
    return collectSecrets(endpoint, endpoint);
  });
}

/** With the values as they were sent: their position tells which of them are secrets. */
function toEndpoint(server: SentServer): Endpoint {
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
