// Checks a server that a client describes over a protocol, as an editor does when it opens an ACP session. The
// client says how to reach it and, under `_meta.plugboard`, how long it may take to start and which of its tools
// a model gets. Everything else is up to whoever wrote the configuration.

import { isJsonObject } from "../types/json.ts";
import type { SessionServerConfig } from "../types/server-config.ts";
import { type KeyPath, problemMessage, toProblems } from "./issue.ts";
import { mentionsSecret } from "../types/secret-reference.ts";
import { object } from "./schema/schema.ts";
import { include, sessionServerSchema } from "./schema/server-schema.ts";
import { milliseconds, serverNameProblem } from "./schema/values.ts";
import { codeVariableIssues } from "./schema/warnings.ts";

export type ClientServer =
  | { kind: "valid"; config: SessionServerConfig }
  /** The first thing that is wrong, and the path to it. */
  | { kind: "invalid"; path: string; message: string }
  /** The protocol allows the name, Plugboard does not. `problem` completes "the server …". */
  | { kind: "bad-name"; problem: string };

const META_KEY = "plugboard";

const metaSchema = object({ timeout: milliseconds().optional(), include: include.optional() });

/** `meta` is the server's `_meta`; `path` leads to the server. */
export function parseClientServer(
  name: string,
  connection: SessionServerConfig,
  meta: unknown,
  path: KeyPath,
): ClientServer {
  const settings = (isJsonObject(meta) ? meta[META_KEY] : undefined) ?? {};
  const issues = [
    ...metaSchema.issues(settings, [...path, "_meta", META_KEY]),
    ...sessionServerSchema.issues(connection, path),
    ...codeVariableIssues(connection, path),
  ];
  const [problem] = toProblems(issues, {});
  if (problem !== undefined) {
    return { kind: "invalid", path: problem.path, message: problemMessage(problem) };
  }
  const wrongName = serverNameProblem(name);
  if (wrongName !== undefined) return { kind: "bad-name", problem: wrongName };
  return { kind: "valid", config: { ...connection, ...settings } };
}

/**
 * Escapes a value that a client means as it stands: a `${VAR}` in it must not fetch a value of the host's own
 * for a server that the configuration never named. Undefined for `secret://`, which cannot be escaped.
 */
export function escapeReferences(value: string): string | undefined {
  // A function, since `$$` in a replacement stands for one `$`.
  return mentionsSecret(value) ? undefined : value.replaceAll("${", () => "$${");
}
