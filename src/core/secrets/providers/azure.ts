// `secret://azure/vault/name/version`: Azure Key Vault, over its REST API. The token comes from a client secret, a workload
// identity, a managed identity, or `az`, which also gives the secret where the API cannot be reached.

import { PlugboardError } from "../../types/errors.ts";
import { isJsonObject, type JsonObject, objectIn, tryParseJson } from "../../types/json.ts";
import {
  type AzureAuth,
  type AzureSettings,
  type ProviderSurroundings,
  type SecretProvider,
  type SecretReference,
  type SecretRequest,
  secretUnavailable,
} from "../../types/secret-provider.ts";
import { expandHome } from "../../../util/home-path.ts";
import { readRegularFile } from "../../../util/regular-file.ts";
import { passing, said } from "../failure.ts";
import { toolOutput } from "../program-output.ts";
import { withoutNewline } from "../secret-text.ts";
import { SharedSignIn, usableUntil } from "../shared-sign-in.ts";
import { eitherWay, type TwoWays } from "../two-ways.ts";

const API_VERSION = "7.4";
const SUFFIX = "vault.azure.net";
const AUTHORITY = "https://login.microsoftonline.com";
/** Where a machine of Azure's gets its tokens. */
const METADATA = "http://169.254.169.254";
/** How long that place may take to answer if nothing else says that this machine is one of Azure's. */
const PROBE_MS = 1000;
/** How long before its end a token is not used any more, as in Azure's own SDKs. */
const MARGIN_MS = 120_000;
/** If a token does not say how long it lives. */
const LIFETIME_S = 300;

interface Token {
  value: string;
  /** On the monotonic clock. */
  expiresAt: number;
}

interface Answer {
  status: number;
  body: JsonObject;
}

/** How Azure is asked for a token, and how its answer is read. */
interface TokenRequest {
  url: string;
  request: Omit<SecretRequest, "signal">;
  /** Completes "Azure does not accept …". */
  credential: string;
}

type Surroundings = Pick<
  ProviderSurroundings,
  "env" | "homedir" | "clock" | "run" | "fetch" | "expand" | "warn"
>;

export function createAzureProvider(
  settings: AzureSettings,
  surroundings: Surroundings,
): SecretProvider {
  const { env, homedir, clock, run, fetch, expand } = surroundings;
  const suffix = settings.suffix ?? SUFFIX;
  const resource = `https://${suffix}`;
  const authority = (settings.authority || env["AZURE_AUTHORITY_HOST"] || AUTHORITY).replace(
    /\/+$/,
    "",
  );
  /** Requests that the vault has answered, by their signals. */
  const answered = new WeakSet<AbortSignal>();
  const signedIn = new SharedSignIn<Token>(clock, (signal) =>
    signIn(settings.auth ?? authIn(env), signal),
  );

  async function ask(url: string, request: SecretRequest): Promise<Answer> {
    const response = await fetch(url, request);
    const body = tryParseJson(await response.text());
    return { status: response.status, body: objectIn(body) };
  }

  async function signIn(auth: AzureAuth | undefined, signal: AbortSignal): Promise<Token> {
    if (auth === undefined) return discover(signal);
    if (auth.type === "az") {
      const token = await tokenOfTool(auth.tenantId ?? env["AZURE_TENANT_ID"], signal);
      if (token !== undefined) return token;
      throw secretUnavailable("there is no az on the PATH", {
        hint: "install the Azure CLI, or set secrets.azure.auth to something else",
      });
    }
    return tokenFrom(await requestFor(auth, signal), signal);
  }

  /** Where nothing is configured: a machine of Azure's has an identity, and a person has `az`. */
  async function discover(signal: AbortSignal): Promise<Token> {
    const probe = new AbortController();
    const timer = clock.after(PROBE_MS, () => probe.abort());
    let failure: unknown;
    try {
      const either = AbortSignal.any([signal, probe.signal]);
      return await tokenFrom(managedIdentity(undefined), either);
    } catch (error) {
      if (signal.aborted) throw error;
      failure = error;
    } finally {
      timer.cancel();
    }
    const token = await tokenOfTool(env["AZURE_TENANT_ID"], signal);
    if (token !== undefined) return token;
    const hint =
      "run az login, set AZURE_TENANT_ID, AZURE_CLIENT_ID and AZURE_CLIENT_SECRET, or set secrets.azure.auth";
    // Something has answered. On a machine of Azure's, its words say what is missing; elsewhere it knows nothing of Azure.
    if (failure instanceof PlugboardError && failure.code === "SECRET_UNAVAILABLE") {
      const { message, quote, permanent } = failure;
      throw secretUnavailable(message, { quote, permanent, hint, cause: failure });
    }
    throw secretUnavailable("there are no Azure credentials", { hint });
  }

  async function requestFor(
    auth: Exclude<AzureAuth, { type: "az" }>,
    signal: AbortSignal,
  ): Promise<TokenRequest> {
    if (auth.type === "managed-identity") {
      return managedIdentity(auth.clientId ?? env["AZURE_CLIENT_ID"]);
    }
    const tenant = needed(auth.tenantId, "AZURE_TENANT_ID", "tenantId");
    const client = needed(auth.clientId, "AZURE_CLIENT_ID", "clientId");
    const isSecret = auth.type === "client-secret";
    const proof: Record<string, string> = isSecret
      ? { client_secret: await clientSecret(auth.clientSecret, signal) }
      : {
          client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
          client_assertion: await federatedToken(auth.tokenFile),
        };
    const scope = `${resource}/.default`;
    const grant = { grant_type: "client_credentials", client_id: client, scope, ...proof };
    return {
      url: `${authority}/${encodeURIComponent(tenant)}/oauth2/v2.0/token`,
      request: {
        method: "POST",
        headers: { "content-type": "application/x-www-form-urlencoded" },
        body: new URLSearchParams(grant).toString(),
      },
      credential: isSecret ? "the client secret" : "the workload identity",
    };
  }

  function needed(setting: string | undefined, variable: string, key: string): string {
    const value = setting || env[variable];
    if (value) return value;
    throw secretUnavailable(`the credentials for Azure are not complete: ${key} is missing`, {
      hint: `set secrets.azure.auth.${key} or ${variable}`,
    });
  }

  async function clientSecret(setting: string | undefined, signal: AbortSignal): Promise<string> {
    return setting === undefined
      ? needed(undefined, "AZURE_CLIENT_SECRET", "clientSecret")
      : expand(setting, "secrets.azure.auth.clientSecret", { signal });
  }

  /** Read each time: it is replaced from time to time. */
  async function federatedToken(setting: string | undefined): Promise<string> {
    const file = needed(setting, "AZURE_FEDERATED_TOKEN_FILE", "tokenFile");
    const path = expandHome(file, homedir);
    try {
      return (await readRegularFile(path)).trim();
    } catch (cause) {
      throw secretUnavailable(`the file ${path} with the federated token cannot be read`, {
        cause,
      });
    }
  }

  function managedIdentity(clientId: string | undefined): TokenRequest {
    const identity: Record<string, string> = clientId ? { client_id: clientId } : {};
    const credential = "the managed identity";
    const endpoint = env["IDENTITY_ENDPOINT"];
    const header = env["IDENTITY_HEADER"];
    // App Service, Functions and Container Apps have an address and a password of their own.
    if (endpoint && header) {
      const query = new URLSearchParams({ "api-version": "2019-08-01", resource, ...identity });
      const privateHeaders = { "x-identity-header": header };
      return {
        url: `${endpoint}?${query.toString()}`,
        request: { method: "GET", privateHeaders },
        credential,
      };
    }
    const base = (env["AZURE_POD_IDENTITY_AUTHORITY_HOST"] || METADATA).replace(/\/+$/, "");
    const query = new URLSearchParams({ "api-version": "2018-02-01", resource, ...identity });
    return {
      url: `${base}/metadata/identity/oauth2/token?${query.toString()}`,
      request: { method: "GET", headers: { metadata: "true" } },
      credential,
    };
  }

  async function tokenFrom(
    { url, request, credential }: TokenRequest,
    signal: AbortSignal,
  ): Promise<Token> {
    const asked = clock.monotonic();
    const { status, body } = await ask(url, { ...request, signal });
    const value = body["access_token"];
    if (status === 200 && typeof value === "string") {
      // Some write the seconds as a text.
      return { value, expiresAt: expiryOf(asked, Number(body["expires_in"])) };
    }
    const words = body["error_description"];
    throw said(
      `Azure does not accept ${credential} (${status})`,
      typeof words === "string" ? firstLine(words) : "",
      { permanent: !mayPass(status) },
    );
  }

  /** Undefined if there is no `az`. */
  async function tokenOfTool(
    tenant: string | undefined,
    signal: AbortSignal,
  ): Promise<Token | undefined> {
    const command = [
      "az",
      "account",
      "get-access-token",
      "--output",
      "json",
      "--resource",
      resource,
      ...(tenant ? ["--tenant", tenant] : []),
    ];
    const asked = clock.monotonic();
    const output = await toolOutput(run, command, {
      signal,
      permanent: PERMANENT,
    });
    if (output === undefined) return undefined;
    const answer = tryParseJson(output);
    const value = isJsonObject(answer) ? answer["accessToken"] : undefined;
    if (!isJsonObject(answer) || typeof value !== "string") {
      throw secretUnavailable("az did not answer with a token");
    }
    const seconds = Number(answer["expires_on"]) - clock.now() / 1000;
    return { value, expiresAt: expiryOf(asked, seconds) };
  }

  function addressOf(vault: string): string {
    return settings.endpoint?.replace(/\/+$/, "") ?? `https://${vault}.${suffix}`;
  }

  async function askVault(
    vault: string,
    path: string,
    request: Omit<SecretRequest, "signal">,
    signal: AbortSignal,
  ): Promise<Answer> {
    const url = `${addressOf(vault)}/${path}?api-version=${API_VERSION}`;
    const askWith = ({ value }: Token): Promise<Answer> =>
      ask(url, { ...request, privateHeaders: { authorization: `Bearer ${value}` }, signal });
    const token = await signedIn.token(signal);
    const answer = await askWith(token);
    answered.add(signal);
    return answer.status === 401 ? askWith(await signedIn.token(signal, token)) : answer;
  }

  async function read(vault: string, path: string, signal: AbortSignal): Promise<Answer> {
    const library = (until: AbortSignal): Promise<Answer> =>
      askVault(vault, path, { method: "GET" }, until);
    // A sign-in that you chose is not replaced by that of the program.
    if (settings.auth !== undefined && settings.auth.type !== "az") return library(signal);
    let asked: AbortSignal | undefined;
    const ways: TwoWays<Answer> = {
      library: (until) => {
        asked = until;
        return library(until);
      },
      program: (until) => readByTool(`${addressOf(vault)}/${path}`, until),
      hasAnswered: () => asked !== undefined && answered.has(asked),
      missing: () => secretUnavailable("there is no az on the PATH"),
      names: { library: "Azure's API", program: "az" },
    };
    return eitherWay(ways, surroundings, signal);
  }

  /** Undefined if there is no `az`. */
  async function readByTool(id: string, signal: AbortSignal): Promise<Answer | undefined> {
    const command = ["az", "keyvault", "secret", "show", "--output", "json", "--id", id];
    const output = await toolOutput(run, command, { signal, permanent: PERMANENT });
    if (output === undefined) return undefined;
    const body = tryParseJson(output);
    return { status: 200, body: objectIn(body) };
  }

  /** Azure's names have no underscores. */
  const place = (given: string): SecretReference & { vault: string; name: string } => {
    const { vault } = settings;
    if (vault === undefined) {
      throw secretUnavailable("it is not known which vault the value is to be put into", {
        hint: "set secrets.azure.vault",
      });
    }
    const name = given.replace(/[^A-Za-z0-9-]/g, "-");
    const path = `${vault}/${name}`;
    return { provider: "azure", path, text: `secret://azure/${path}`, vault, name };
  };

  return {
    name: "azure",
    async resolve(reference, { signal }) {
      const { vault, name, version } = parsePath(reference);
      const path = `secrets/${name}${version === undefined ? "" : `/${version}`}`;
      const answer = await read(vault, path, signal);
      const { value } = answer.body;
      if (answer.status !== 200) throw refusal(answer, `the secret ${name} in the vault ${vault}`);
      if (typeof value === "string") return withoutNewline(value);
      throw passing("Azure sent an answer that cannot be read");
    },
    async store(given, value, { signal }) {
      const { vault, name, ...reference } = place(given);
      const answer = await askVault(
        vault,
        `secrets/${name}`,
        {
          method: "PUT",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ value }),
        },
        signal,
      );
      if (answer.status !== 200) throw refusal(answer, `the secret ${name} in the vault ${vault}`);
      return reference;
    },
    place(given) {
      const { provider, path, text } = place(given);
      return { provider, path, text };
    },
    async close() {
      signedIn.close();
    },
  };
}

/** As the variables of Azure's own SDKs say. Undefined if they say nothing. */
function authIn(env: ProviderSurroundings["env"]): AzureAuth | undefined {
  if (env["AZURE_CLIENT_SECRET"]) return { type: "client-secret" };
  if (env["AZURE_FEDERATED_TOKEN_FILE"]) return { type: "workload-identity" };
  return env["IDENTITY_ENDPOINT"] && env["IDENTITY_HEADER"]
    ? { type: "managed-identity" }
    : undefined;
}

/** What `az` says where trying again does not help. */
const PERMANENT = /az login|AADSTS|az: error|SecretNotFound|Forbidden/;

const PATH = /^([A-Za-z][A-Za-z0-9-]{2,23})\/([A-Za-z0-9-]{1,127})(?:\/([A-Za-z0-9]{1,64}))?$/;

/** The vault becomes a part of a host, so it is nothing else than a name. */
function parsePath({ path, key }: SecretReference): {
  vault: string;
  name: string;
  version: string | undefined;
} {
  const [, vault, name, version] = PATH.exec(path) ?? [];
  if (vault !== undefined && name !== undefined && key === undefined) {
    return { vault, name, version };
  }
  throw secretUnavailable("it is not the name of a secret in Azure Key Vault", {
    hint: "write secret://azure/VAULT/NAME or secret://azure/VAULT/NAME/VERSION",
  });
}

function expiryOf(asked: number, seconds: number): number {
  const known = Number.isFinite(seconds) && seconds > 0 ? seconds : LIFETIME_S;
  return usableUntil(asked, known, MARGIN_MS);
}

function refusal({ status, body }: Answer, secret: string): Error {
  const error = objectIn(body["error"]);
  const inner = objectIn(error["innererror"]);
  const words = typeof error["message"] === "string" ? firstLine(error["message"]) : "";
  if (mayPass(status)) {
    return said(`Azure cannot answer now (${status})`, words, { permanent: false });
  }
  if (status === 404) {
    return said(`there is no ${secret.replace("the ", "")}`, words, {
      hint: "check the name and the vault",
    });
  }
  if (inner["code"] === "SecretDisabled") return said(`${secret} is disabled`, words);
  const isDenied = status === 401 || status === 403;
  return said(
    isDenied
      ? `these credentials may not use ${secret} (${status})`
      : `Azure refuses ${secret} (${status})`,
    words,
    isDenied ? { hint: 'they need the role "Key Vault Secrets User"' } : {},
  );
}

/** What follows are ids of the request. */
function firstLine(words: string): string {
  return words.split(/\r?\n/, 1)[0] ?? "";
}

/** 410: the identity of a machine is being updated. */
function mayPass(status: number): boolean {
  return status >= 500 || status === 429 || status === 408 || status === 410;
}
