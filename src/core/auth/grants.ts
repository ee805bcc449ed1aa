// Token requests that need no person: refresh, client credentials, revocation.

import {
  type FetchLike,
  fetchToken,
  OAuthError,
  type OAuthTokens,
  refreshAuthorization,
  selectClientAuthMethod,
} from "@modelcontextprotocol/client";
import type { JsonObject } from "../types/json.ts";
import type { OAuthClient } from "./client.ts";
import type { Discovery, Grant } from "./store.ts";

export interface GrantOptions {
  discovery: Discovery;
  client: OAuthClient;
  fetch: FetchLike;
}

/** Why the refresh token is of no use any more. */
export type NotRenewable = "spent grant" | "unknown client";

/** Rejects if trying again may help. */
export async function refresh(
  { discovery, client, fetch }: GrantOptions,
  refreshToken: string,
): Promise<OAuthTokens | NotRenewable> {
  const { metadata, authorizationServer, resource } = discovery;
  try {
    return await refreshAuthorization(authorizationServer, {
      metadata,
      clientInformation: client.information,
      refreshToken,
      resource,
      addClientAuthentication: client.authenticate,
      fetchFn: fetch,
    });
  } catch (error) {
    const end = error instanceof OAuthError ? FINAL[error.code] : undefined;
    if (end !== undefined) return end;
    throw error;
  }
}

const FINAL: Readonly<Record<string, NotRenewable>> = {
  invalid_grant: "spent grant",
  unauthorized_client: "spent grant",
  invalid_client: "unknown client",
};

export function clientCredentials(
  { discovery, client, fetch }: GrantOptions,
  scope: string | undefined,
): Promise<OAuthTokens> {
  const { metadata, authorizationServer, resource } = discovery;
  const provider = {
    redirectUrl: undefined,
    clientMetadata: { redirect_uris: [] },
    clientInformation: () => client.information,
    prepareTokenRequest: () =>
      new URLSearchParams({
        grant_type: "client_credentials",
        ...(scope !== undefined && { scope }),
      }),
    addClientAuthentication: client.authenticate,
    tokens: () => undefined,
    saveTokens: () => {},
    redirectToAuthorization: () => {},
    saveCodeVerifier: () => {},
    codeVerifier: () => "",
  };
  return fetchToken(provider, authorizationServer, { metadata, resource, fetchFn: fetch });
}

export function toGrant(tokens: OAuthTokens, scope: string | undefined, now: number): Grant {
  const { expires_in: seconds } = tokens;
  const expiresAt = seconds === undefined ? undefined : now + seconds * 1000;
  return { tokens, expiresAt, scope: tokens.scope ?? scope };
}

/** RFC 7009. False if the authorization server cannot revoke tokens, or refused to. */
export async function revoke(options: GrantOptions, { tokens }: Grant): Promise<boolean> {
  const { refresh_token: refreshToken, access_token: accessToken } = tokens;
  const given: Record<string, string>[] = [{ token: accessToken, token_type_hint: "access_token" }];
  if (refreshToken !== undefined) {
    given.unshift({ token: refreshToken, token_type_hint: "refresh_token" });
  }
  let areRevoked = true;
  for (const each of given) areRevoked = (await revokeOne(options, each)) && areRevoked;
  return areRevoked;
}

async function revokeOne(
  { discovery, client, fetch }: GrantOptions,
  given: Record<string, string>,
): Promise<boolean> {
  // Both kinds of metadata have this field, but only one type declares it.
  const metadata = (discovery.metadata ?? {}) as JsonObject;
  const { revocation_endpoint: endpoint } = metadata;
  if (typeof endpoint !== "string") return false;
  const body = new URLSearchParams(given);
  const headers = new Headers({ "content-type": "application/x-www-form-urlencoded" });
  const { client_id: id, client_secret: secret } = client.information;
  const methods =
    metadata["revocation_endpoint_auth_methods_supported"] ??
    metadata["token_endpoint_auth_methods_supported"];
  const method = selectClientAuthMethod(client.information, (methods ?? []) as string[]);
  if (client.authenticate !== undefined) {
    await client.authenticate(headers, body, endpoint, discovery.metadata);
  } else if (method === "client_secret_basic" && secret !== undefined) {
    headers.set("authorization", `Basic ${btoa(`${id}:${secret}`)}`);
  } else {
    body.set("client_id", id);
    if (secret !== undefined) body.set("client_secret", secret);
  }
  return (await fetch(endpoint, { method: "POST", headers, body })).ok;
}
