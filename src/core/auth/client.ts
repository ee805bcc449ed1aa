// Plugboard as a client of an authorization server: registered by the operator, described by a document on the
// web, or registered by Plugboard itself.

import {
  createPrivateKeyJwtAuth,
  type FetchLike,
  type OAuthClientInformationMixed,
  type OAuthClientProvider,
  registerClient,
} from "@modelcontextprotocol/client";
import { type OAuthSettings, signInHint } from "../types/authorization.ts";
import { PlugboardError } from "../types/errors.ts";
import { errorCode } from "../../util/error-code.ts";
import { readRegularFile } from "../../util/regular-file.ts";
import { signInError } from "./sign-in-error.ts";
import { type AuthStore, clientKey, type Discovery } from "./store.ts";

export interface OAuthClient {
  information: OAuthClientInformationMixed;
  /** Authenticates by other means than a secret. */
  authenticate?: OAuthClientProvider["addClientAuthentication"];
}

/** `isRefused`: the authorization server refuses the secrets, so they are got again. */
type LatestSettings = (isRefused: boolean) => Promise<OAuthSettings>;

export interface ClientOptions {
  server: string;
  settings: OAuthSettings;
  /** The settings with their secrets as they are now. Default: `settings`. */
  latestSettings?: LatestSettings | undefined;
  discovery: Discovery;
  /** Where somebody else than this machine takes the browser back: the client is for that address alone. */
  redirectUri?: string | undefined;
  store: AuthStore;
  fetch: FetchLike;
}

/** The client that exists already. Undefined if a sign-in has to register one first. */
export async function knownClient(
  options: ClientOptions,
  isRefused = false,
): Promise<OAuthClient | undefined> {
  const { discovery, redirectUri, store } = options;
  const configured = await configuredClient(options, isRefused);
  if (configured !== undefined) return configured;
  const known = await store.read("client", clientKey(discovery, redirectUri));
  return known && { information: known.client };
}

/** The client for a sign-in that redirects to `redirectUri`. Registers one if needed. */
export async function signInClient(
  options: ClientOptions,
  redirectUri: string,
): Promise<OAuthClient> {
  const { discovery, store, fetch, server } = options;
  const configured = await configuredClient(options);
  if (configured !== undefined) return configured;
  const isHere = options.redirectUri === undefined;
  const toRegister = isHere ? "http://127.0.0.1/callback" : redirectUri;
  const key = clientKey(discovery, options.redirectUri);
  const known = await store.read("client", key);
  if (known?.redirectUri === redirectUri) return { information: known.client };
  const { metadata } = discovery;
  if (metadata !== undefined && metadata.registration_endpoint === undefined) {
    throw signInError(
      server,
      `${discovery.issuer} does not register clients automatically; register one there with the redirect URI ${toRegister} and set oauth.clientId`,
      undefined,
      `then ${signInHint(server)}`,
    );
  }
  try {
    const client = await registerClient(discovery.authorizationServer, {
      metadata,
      clientMetadata: {
        client_name: "Plugboard",
        redirect_uris: [redirectUri],
        grant_types: ["authorization_code", "refresh_token"],
        response_types: ["code"],
        token_endpoint_auth_method: authMethod(metadata?.token_endpoint_auth_methods_supported),
        application_type: isHere ? "native" : "web",
      },
      fetchFn: fetch,
    });
    await store.write("client", key, { redirectUri, client });
    return { information: client };
  } catch (error) {
    const isPublished = metadata !== undefined || discovery.resource !== undefined;
    if (!isPublished && !(error instanceof PlugboardError)) {
      // There is nothing at the places of 2025-03-26 either.
      throw new PlugboardError("NEEDS_AUTH", `'${server}' has no sign-in (OAuth)`, {
        server,
        status: 401,
        permanent: true,
        cause: error,
        hint: 'give it a token in headers, such as { Authorization: "Bearer ${TOKEN}" }',
      });
    }
    throw signInError(
      server,
      `${discovery.issuer} did not register Plugboard`,
      error,
      `register a client there with the redirect URI ${toRegister}, set oauth.clientId, then ${signInHint(server)}`,
    );
  }
}

/** The redirect URI of the last sign-in: with the same port, the registered client can be used again. */
export async function lastRedirectUri(
  discovery: Discovery,
  store: AuthStore,
): Promise<string | undefined> {
  return (await store.read("client", clientKey(discovery)))?.redirectUri;
}

/** The operator's own client, or the document that describes one if the authorization server reads such documents. */
async function configuredClient(
  {
    settings,
    latestSettings = () => Promise.resolve(settings),
    discovery: { metadata },
  }: ClientOptions,
  isRefused = false,
): Promise<OAuthClient | undefined> {
  const latest = await latestSettings(isRefused);
  const own = await ownClient(latest);
  if (own !== undefined) return own;
  const { clientMetadataUrl } = latest;
  const readsDocuments = metadata?.client_id_metadata_document_supported === true;
  if (clientMetadataUrl === undefined || !readsDocuments) return undefined;
  return { information: { client_id: clientMetadataUrl } };
}

/** The client that the operator has registered. */
export async function ownClient({
  clientId,
  clientSecret,
  privateKey,
  algorithm = "ES256",
}: OAuthSettings): Promise<OAuthClient | undefined> {
  if (clientId === undefined) return undefined;
  const information = { client_id: clientId, client_secret: clientSecret };
  if (privateKey === undefined) return { information };
  const authenticate = createPrivateKeyJwtAuth({
    issuer: clientId,
    subject: clientId,
    privateKey: await pem(privateKey),
    alg: algorithm,
  });
  return { information, authenticate };
}

/** A public client needs no secret, but some servers support only methods with one. */
function authMethod(supported: readonly string[] | undefined): string {
  const known = ["none", "client_secret_basic", "client_secret_post"];
  return known.find((each) => supported?.includes(each)) ?? "none";
}

async function pem(given: string): Promise<string> {
  if (given.includes("-----BEGIN")) return given;
  try {
    return await readRegularFile(given);
  } catch (error) {
    // Without the path: somebody may have written the key itself.
    const message = `the file of oauth.privateKey cannot be read (${errorCode(error) ?? "unknown error"})`;
    throw new PlugboardError("UNRESOLVED_VALUE", message, {
      cause: error,
      hint: "correct its path; a relative one is relative to the configuration file",
      permanent: true,
    });
  }
}
