// Finds the authorization server of an MCP server: in the metadata that the MCP server publishes, or else at its
// origin, as in 2025-03-26.

import {
  checkResourceAllowed,
  discoverAuthorizationServerMetadata,
  discoverOAuthProtectedResourceMetadata,
  type FetchLike,
  type OAuthProtectedResourceMetadata,
} from "@modelcontextprotocol/client";
import { PlugboardError } from "../types/errors.ts";
import { oneLine } from "../../util/text.ts";
import type { ParsedChallenge } from "./challenge.ts";
import { signInError } from "./sign-in-error.ts";
import type { Discovery } from "./store.ts";

export interface DiscoverOptions {
  server: string;
  serverUrl: string;
  challenge: ParsedChallenge | undefined;
  fetch: FetchLike;
  /** `oauth.issuer`: the only issuer that may be used. */
  issuer: string | undefined;
}

/** Rejects with NEEDS_AUTH if the metadata cannot be used. */
export async function discover(options: DiscoverOptions): Promise<Discovery> {
  const { server, serverUrl, fetch } = options;
  const resource = await describeResource(options);
  if (resource !== undefined && !isFor(serverUrl, resource.resource)) {
    throw signInError(
      server,
      `it describes itself as ${oneLine(resource.resource, 200)}, which is another server`,
    );
  }
  const authorizationServer =
    pickIssuer(resource?.authorization_servers, options.issuer) ?? new URL("/", serverUrl).href;
  const metadata = await discoverAuthorizationServerMetadata(authorizationServer, {
    fetchFn: fetch,
  }).catch((error: unknown) => {
    throw signInError(server, "its authorization server cannot be used", error);
  });
  const issuer = metadata?.issuer ?? authorizationServer;
  if (options.issuer !== undefined && !isSame(issuer, options.issuer)) {
    throw signInError(server, `oauth.issuer is ${options.issuer}, but the server names ${issuer}`);
  }
  return {
    issuer,
    authorizationServer,
    resource: resource?.resource,
    scopesSupported: resource?.scopes_supported,
    metadata,
  };
}

/** Undefined if the server publishes nothing. Rejects for a URL that must not be fetched. */
async function describeResource({
  server,
  serverUrl,
  challenge,
  fetch,
}: DiscoverOptions): Promise<OAuthProtectedResourceMetadata | undefined> {
  const named = challenge?.resourceMetadata;
  if (named !== undefined && !URL.canParse(named)) {
    throw signInError(server, "the address of its metadata is not a URL");
  }
  try {
    return await discoverOAuthProtectedResourceMetadata(
      serverUrl,
      { resourceMetadataUrl: named },
      fetch,
    );
  } catch (error) {
    if (error instanceof PlugboardError) throw error;
    // It is missing or not valid.
    return undefined;
  }
}

function isFor(serverUrl: string, resource: string): boolean {
  return (
    URL.canParse(resource) &&
    checkResourceAllowed({ requestedResource: serverUrl, configuredResource: resource })
  );
}

function pickIssuer(
  issuers: readonly string[] | undefined,
  wanted: string | undefined,
): string | undefined {
  const found = issuers?.find((each) => wanted !== undefined && isSame(each, wanted));
  return found ?? issuers?.[0];
}

function isSame(one: string, other: string): boolean {
  return one.replace(/\/$/, "") === other.replace(/\/$/, "");
}
