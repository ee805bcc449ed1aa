// What a refusal says: where the server describes itself, and which scopes it wants.

import type { Challenge } from "../model/authorization.ts";

export interface ParsedChallenge {
  resourceMetadata?: string;
  scope?: string;
  /** The token is good, but not for this. */
  insufficientScope: boolean;
}

export function parseChallenge({ status, header = "" }: Challenge): ParsedChallenge {
  const text = header.slice(0, 8192);
  const resourceMetadata = parameter(text, "resource_metadata");
  const scope = parameter(text, "scope");
  return {
    ...(resourceMetadata !== undefined && { resourceMetadata }),
    ...(scope !== undefined && { scope }),
    insufficientScope: status === 403 && parameter(text, "error") === "insufficient_scope",
  };
}

/** A quoted string or a token. The name must stand alone: `x_scope` is not `scope`. */
function parameter(header: string, name: string): string | undefined {
  const found = new RegExp(`(?:^|[\\s,])${name}=(?:"([^"]*)"|([^\\s,"]+))`, "i").exec(header);
  return (found?.[1] ?? found?.[2]) || undefined;
}
