// Finds the authorization server that answers for an MCP server: its own metadata first, and where it
// publishes none, its origin, as in 2025-03-26.

import {
  checkResourceAllowed,
  discoverAuthorizationServerMetadata,
  discoverOAuthProtectedResourceMetadata,
  type FetchLike,
  type OAuthProtectedResourceMetadata,
} from "@modelcontextprotocol/client";
import { PlugboardError } from "../model/errors.ts";
import { oneLine } from "../util/text.ts";
import type { ParsedChallenge } from "./challenge.ts";
import { refusedSignIn } from "./refused.ts";
import type { Discovery } from "./store.ts";

export interface DiscoverOptions {
  server: string;
  serverUrl: string;
  challenge: ParsedChallenge | undefined;
  fetch: FetchLike;
  /** The only issuer that may be used. */
  issuer: string | undefined;
}

/** Rejects with NEEDS_AUTH where what the server says cannot be used. */
export async function discover(options: DiscoverOptions): Promise<Discovery> {
  const { server, serverUrl, fetch } = options;
  const resource = await describeResource(options);
  if (resource !== undefined && !isFor(serverUrl, resource.resource)) {
    throw refusedSignIn(
      server,
      `it describes itself as ${oneLine(resource.resource, 200)}, which is another server`,
    );
  }
  const authorizationServer =
    pick(resource?.authorization_servers, options.issuer) ?? new URL("/", serverUrl).href;
  const metadata = await discoverAuthorizationServerMetadata(authorizationServer, {
    fetchFn: fetch,
  }).catch((error: unknown) => {
    throw refusedSignIn(server, "its authorization server cannot be used", error);
  });
  const issuer = metadata?.issuer ?? authorizationServer;
  if (options.issuer !== undefined && !isSame(issuer, options.issuer)) {
    throw refusedSignIn(server, `oauth.issuer is ${options.issuer}, and it names ${issuer}`);
  }
  return {
    issuer,
    authorizationServer,
    ...(resource !== undefined && { resource: resource.resource }),
    ...(resource?.scopes_supported !== undefined && { scopesSupported: resource.scopes_supported }),
    ...(metadata !== undefined && { metadata }),
  };
}

/** Undefined where there is nothing to be had; what must not be fetched is an error. */
async function describeResource({
  server,
  serverUrl,
  challenge,
  fetch,
}: DiscoverOptions): Promise<OAuthProtectedResourceMetadata | undefined> {
  const named = challenge?.resourceMetadata;
  if (named !== undefined && !URL.canParse(named)) {
    throw refusedSignIn(server, "the address of its metadata is no URL");
  }
  try {
    return await discoverOAuthProtectedResourceMetadata(
      serverUrl,
      named === undefined ? {} : { resourceMetadataUrl: named },
      fetch,
    );
  } catch (error) {
    if (error instanceof PlugboardError) throw error;
    // Nothing there, or nothing that can be read.
    return undefined;
  }
}

function isFor(serverUrl: string, resource: string): boolean {
  return (
    URL.canParse(resource) &&
    checkResourceAllowed({ requestedResource: serverUrl, configuredResource: resource })
  );
}

function pick(offered: readonly string[] | undefined, wanted: string | undefined) {
  if (wanted === undefined) return offered?.[0];
  return offered?.find((each) => isSame(each, wanted)) ?? offered?.[0];
}

function isSame(one: string, other: string): boolean {
  return one.replace(/\/$/, "") === other.replace(/\/$/, "");
}
