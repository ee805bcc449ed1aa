// What a session's history must not hold, among what its servers are reached with.

import type { Endpoint } from "../../../model/server-definition.ts";
import { collectSecrets } from "../../../secrets/collect.ts";
import type { McpServerParams } from "../wire/params.ts";

type Reached = Pick<McpServerParams, "command" | "args" | "env" | "url" | "headers">;

export function secretsOf(servers: readonly Reached[]): string[] {
  return servers.flatMap((server) => {
    const endpoint = toEndpoint(server);
    return collectSecrets(endpoint, endpoint);
  });
}

/** As it was sent: what is a secret is told by where it stands. */
function toEndpoint(server: Reached): Endpoint {
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
