// Who Plugboard is to an authorization server: a client the operator registered, one described by a
// document on the web, or one that it registers itself.

import { readFile } from "node:fs/promises";
import {
  createPrivateKeyJwtAuth,
  type FetchLike,
  type OAuthClientInformationMixed,
  type OAuthClientProvider,
  registerClient,
} from "@modelcontextprotocol/client";
import type { OAuthSettings } from "../model/authorization.ts";
import { PlugboardError } from "../model/errors.ts";
import { refusedSignIn } from "./refused.ts";
import { type AuthStore, type Discovery, keyOf, type KnownClient } from "./store.ts";

export interface Client {
  information: OAuthClientInformationMixed;
  /** Proves who it is by other means than a secret. */
  authenticate?: OAuthClientProvider["addClientAuthentication"];
}

export interface ClientOptions {
  server: string;
  settings: OAuthSettings;
  discovery: Discovery;
  store: AuthStore;
  fetch: FetchLike;
}

/** The client without registering one; undefined where that takes a sign-in. */
export async function knownClient({
  settings,
  discovery,
  store,
}: ClientOptions): Promise<Client | undefined> {
  const configured = await configuredClient(settings);
  if (configured !== undefined) return configured;
  const document = documentClient(settings, discovery);
  if (document !== undefined) return document;
  const known = await store.read("client", keyOf(discovery.issuer));
  return known && { information: known.client };
}

/** The client for a sign-in that comes back to `redirectUri`. */
export async function signInClient(options: ClientOptions, redirectUri: string): Promise<Client> {
  const { settings, discovery, store, fetch, server } = options;
  const configured =
    (await configuredClient(settings)) ?? documentClient(settings, discovery) ?? undefined;
  if (configured !== undefined) return configured;
  const key = keyOf(discovery.issuer);
  const known = await store.read("client", key);
  if (known?.redirectUri === redirectUri) return { information: known.client };
  const { metadata } = discovery;
  if (metadata !== undefined && metadata.registration_endpoint === undefined) {
    throw refusedSignIn(
      server,
      `${discovery.issuer} registers no clients by itself; register one there with the redirect URI http://127.0.0.1/callback and set oauth.clientId`,
    );
  }
  try {
    const client = await registerClient(discovery.authorizationServer, {
      ...(metadata !== undefined && { metadata }),
      clientMetadata: {
        client_name: "Plugboard",
        redirect_uris: [redirectUri],
        grant_types: ["authorization_code", "refresh_token"],
        response_types: ["code"],
        token_endpoint_auth_method: authMethod(metadata?.token_endpoint_auth_methods_supported),
        application_type: "native",
      },
      fetchFn: fetch,
    });
    const value: KnownClient = { redirectUri, client };
    await store.write("client", key, value);
    return { information: client };
  } catch (error) {
    throw refusedSignIn(server, `${discovery.issuer} did not register Plugboard`, error);
  }
}

/** The port of the last sign-in, so that a registered redirect URI fits again. */
export async function lastRedirectUri(
  discovery: Discovery,
  store: AuthStore,
): Promise<string | undefined> {
  return (await store.read("client", keyOf(discovery.issuer)))?.redirectUri;
}

async function configuredClient(settings: OAuthSettings): Promise<Client | undefined> {
  const { clientId, clientSecret, privateKey, algorithm = "ES256" } = settings;
  if (clientId === undefined) return undefined;
  const information = {
    client_id: clientId,
    ...(clientSecret !== undefined && { client_secret: clientSecret }),
  };
  if (privateKey === undefined) return { information };
  const authenticate = createPrivateKeyJwtAuth({
    issuer: clientId,
    subject: clientId,
    privateKey: await pem(privateKey),
    alg: algorithm,
  });
  return { information, authenticate };
}

function documentClient(
  { clientMetadataUrl }: OAuthSettings,
  { metadata }: Discovery,
): Client | undefined {
  if (clientMetadataUrl === undefined) return undefined;
  if (metadata?.client_id_metadata_document_supported !== true) return undefined;
  return { information: { client_id: clientMetadataUrl } };
}

/** A public client needs no secret; some servers give one all the same. */
function authMethod(supported: readonly string[] | undefined): string {
  const known = ["none", "client_secret_basic", "client_secret_post"];
  return known.find((each) => supported?.includes(each)) ?? "none";
}

async function pem(given: string): Promise<string> {
  if (given.includes("-----BEGIN")) return given;
  try {
    return await readFile(given, "utf8");
  } catch (error) {
    throw new PlugboardError("UNRESOLVED_VALUE", "the file of oauth.privateKey cannot be read", {
      cause: error,
      permanent: true,
    });
  }
}
