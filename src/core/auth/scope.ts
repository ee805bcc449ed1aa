// Chooses the scopes to ask for: those that the server requires for this request, or else all that it supports, and
// those that are configured. Scopes that were granted before stay included.

import { computeScopeUnion } from "@modelcontextprotocol/client";
import type { OAuthSettings } from "../types/authorization.ts";
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
  const supportsOffline = discovery.metadata?.scopes_supported?.includes("offline_access") === true;
  const isPerson = settings.grant !== "client_credentials";
  return base !== undefined && supportsOffline && isPerson
    ? computeScopeUnion(base, "offline_access")
    : base;
}

/** Whether everything in `wanted` is in `granted`. */
export function covers(granted: string | undefined, wanted: string | undefined): boolean {
  const have = new Set((granted ?? "").split(/\s+/));
  return (wanted ?? "").split(/\s+/).every((each) => each === "" || have.has(each));
}
