// Which scopes to ask for: what the server wants for this request, else what it has, and what is
// configured; what was granted before is never lost by asking for more.

import { computeScopeUnion } from "@modelcontextprotocol/client";
import type { OAuthSettings } from "../model/authorization.ts";
import type { Discovery } from "./store.ts";

export interface ScopeOptions {
  settings: OAuthSettings;
  discovery: Discovery;
  /** From the challenge, or remembered from one. */
  wanted: string | undefined;
  granted: string | undefined;
}

export function scopeFor({
  settings,
  discovery,
  wanted,
  granted,
}: ScopeOptions): string | undefined {
  const base = computeScopeUnion(
    granted,
    settings.scope,
    wanted ?? (settings.scope === undefined ? discovery.scopesSupported?.join(" ") : undefined),
  );
  const offersOffline = discovery.metadata?.scopes_supported?.includes("offline_access") === true;
  const isPerson = settings.grant !== "client_credentials";
  return base !== undefined && offersOffline && isPerson
    ? computeScopeUnion(base, "offline_access")
    : base;
}

/** Whether everything in `wanted` is in `granted`. */
export function covers(granted: string | undefined, wanted: string | undefined): boolean {
  const have = new Set((granted ?? "").split(/\s+/));
  return (wanted ?? "").split(/\s+/).every((each) => each === "" || have.has(each));
}
