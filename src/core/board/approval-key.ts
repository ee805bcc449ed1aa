// Identifies the server that a lasting approval is for: its definition, and the program or the address that the
// definition means here and now. The same definition is another program in another directory, or with another value
// of a variable.

import { createHash } from "node:crypto";
import { asWritten, resolveTarget } from "../config/resolve.ts";
import type { ServerDefinition } from "../types/server-definition.ts";
import type { Environment } from "../../util/environment.ts";

/** Leaves out the values of environment variables and headers: a new token does not make it another server. */
export function approvalKey(definition: ServerDefinition, cwd: string, env: Environment): string {
  const { name, target, protocol } = definition;
  return createHash("sha256")
    .update(JSON.stringify([name, target, protocol, meaningOf(definition, cwd, env)]))
    .digest("hex")
    .slice(0, 32);
}

function meaningOf(definition: ServerDefinition, cwd: string, env: Environment): unknown {
  try {
    const resolved = resolveTarget(definition, env, undefined, asWritten);
    switch (resolved.kind) {
      case "stdio":
        return [resolved.command, resolved.args, resolved.cwd ?? cwd];
      case "acp":
        return resolved.serverId;
      default:
        return resolved.url;
    }
  } catch {
    // Such a server does not start.
    return ["unresolved", cwd];
  }
}
