// The schema of one server, key by key. Which keys must come together is checked after merging.

import { mapOf, object } from "./compound.ts";
import { variableProblem } from "./environment.ts";
import {
  bytes,
  flag,
  integer,
  listOf,
  milliseconds,
  oneOf,
  resolvable,
  resolvableOrEmpty,
  resolvableUrl,
  verified,
} from "./fields.ts";
import { headerNameProblem, headerValueProblem } from "./header.ts";
import type { Schema } from "./kit.ts";
import {
  approval,
  auth,
  framing,
  include,
  oauth,
  patterns,
  perTool,
  pins,
  rateLimit,
  tls,
  toolRules,
} from "./policy-schema.ts";
import type { ServerConfig } from "./server-config.ts";

const MEBIBYTE = 1024 * 1024;

const transport = () => oneOf(["stdio", "http", "sse", "streamable-http"]);

/** How to reach a server. */
const connection = {
  transport: transport().optional(),
  type: transport().optional(),
  command: resolvable().optional(),
  args: listOf(resolvableOrEmpty()).optional(),
  env: mapOf(resolvableOrEmpty(), variableProblem).optional(),
  cwd: resolvable().optional(),
  workingDir: resolvable().optional(),
  url: resolvableUrl().optional(),
  headers: mapOf(resolvableOrEmpty(headerValueProblem), headerNameProblem).optional(),
  auth: auth().optional(),
  oauth: oauth().optional(),
  tls: tls().optional(),
  allowInsecure: flag().optional(),
  allowPrivate: flag().optional(),
};

/** How to treat it; these may also be given for all servers of a kind at once. */
const treatment = {
  enabled: flag().optional(),
  timeout: milliseconds().optional(),
  toolTimeout: milliseconds().optional(),
  restartOnCrash: flag().optional(),
  maxRestarts: integer(0, 1000).optional(),
  lazy: flag().optional(),
  idleTimeout: milliseconds(0).optional(),
  scope: oneOf(["shared", "session"]).optional(),
  protocol: oneOf(["auto", "legacy", "2026-07-28"]).optional(),
  toolPrefix: verified(toolPrefixProblem).optional(),
  include: include().optional(),
  tools: object(toolRules()).optional(),
  approval: perTool(approval()).optional(),
  pins: pins().optional(),
  trusted: flag().optional(),
  framing: framing().optional(),
  resources: flag().optional(),
  resourceFilter: patterns().optional(),
  resourceRefreshMs: milliseconds(0).optional(),
  sampling: oneOf(["deny", "ask", "allow"]).optional(),
  rateLimit: perTool(rateLimit()).optional(),
  concurrency: perTool(integer(1, 10_000)).optional(),
  maxResultBytes: bytes(1024 * MEBIBYTE).optional(),
  // A longer message could not become one string.
  maxMessageBytes: bytes(256 * MEBIBYTE).optional(),
};

type Shape = { [Key in keyof ServerConfig]-?: Schema<ServerConfig[Key]> };

const shape = { ...connection, ...treatment } satisfies Shape;

export const serverSchema: Schema<ServerConfig> = object(shape, {
  cmd: 'use "command"',
  disabled: 'use "enabled"',
});

export const sessionDefaultsSchema = object(treatment);

function toolPrefixProblem(prefix: string): string | undefined {
  return /^[A-Za-z0-9_-]{1,64}$/.test(prefix)
    ? undefined
    : "is not a prefix for tool names; expected 1 to 64 of A-Z a-z 0-9 _ -";
}
