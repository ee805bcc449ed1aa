// `secret://vault/mount/path#key`: the KV secrets of HashiCorp Vault and OpenBao, in both versions, over their HTTP API, or
// through `vault` or `bao` where that cannot be reached.

import { join } from "node:path";
import { isJsonObject, type JsonObject, objectIn, tryParseJson } from "../../types/json.ts";
import {
  type ProviderSurroundings,
  type SecretProvider,
  type SecretReference,
  type SecretResponse,
  secretUnavailable,
  type VaultAuth,
  type VaultSettings,
} from "../../types/secret-provider.ts";
import { expandHome } from "../../../util/home-path.ts";
import { readRegularFile } from "../../../util/regular-file.ts";
import { passing, said } from "../failure.ts";
import { toolOutput } from "../program-output.ts";
import { keysThere, valueOfKey } from "../secret-text.ts";
import { SharedSignIn, usableUntil } from "../shared-sign-in.ts";
import { eitherWay, type TwoWays } from "../two-ways.ts";

/** Where Kubernetes puts the token of a pod. */
const POD_TOKEN = "/var/run/secrets/kubernetes.io/serviceaccount/token";
const DIRECTORY = "secret/plugboard";
/** How long before its end a token is not used any more. */
const MARGIN_MS = 10_000;

interface Token {
  value: string;
  /** On the monotonic clock. Absent for a token that does not expire, as far as is known. */
  expiresAt?: number;
  /** Vault has accepted it: if it does not do so later, it has expired or was revoked. */
  hasWorked: boolean;
}

/** Where a secret is: in which mount, below it, and which version of KV that is. */
interface Place {
  mount: string;
  rest: string;
  version: 1 | 2;
}

interface Answer {
  status: number;
  body: JsonObject;
}

type Surroundings = Pick<
  ProviderSurroundings,
  "env" | "homedir" | "clock" | "fetch" | "expand" | "run" | "warn"
>;

export function createVaultProvider(
  settings: VaultSettings,
  surroundings: Surroundings,
): SecretProvider {
  const { env, homedir, clock, fetch, expand, run } = surroundings;
  const address = settings.address || env["VAULT_ADDR"] || env["BAO_ADDR"] || undefined;
  const namespace = settings.namespace || env["VAULT_NAMESPACE"] || undefined;
  const caFile = settings.ca || env["VAULT_CACERT"] || undefined;
  const { auth = { type: "token" } } = settings;
  let authority: Promise<string> | undefined;
  const signedIn = new SharedSignIn<Token>(clock, (signal) => signIn(auth, signal));
  /** Requests that Vault has answered, by their signals. */
  const answered = new WeakSet<AbortSignal>();
  /** Which version of KV a mount has. */
  const mounts = new Map<string, Place["version"]>();

  async function ask(
    method: "GET" | "POST",
    path: string,
    { token, body, signal }: { token?: string; body?: object; signal: AbortSignal },
  ): Promise<Answer> {
    if (address === undefined) {
      throw secretUnavailable("it does not say where Vault is", {
        hint: "set secrets.vault.address or VAULT_ADDR",
      });
    }
    if (caFile !== undefined) {
      authority ??= readSetting(caFile, "secrets.vault.ca");
      authority.catch(() => (authority = undefined));
    }
    const ca = await authority;
    const response = await fetch(`${address.replace(/\/+$/, "")}/v1/${path}`, {
      method,
      headers: {
        "x-vault-request": "true",
        ...(namespace !== undefined && { "x-vault-namespace": namespace }),
        ...(body !== undefined && { "content-type": "application/json" }),
      },
      ...(token !== undefined && { privateHeaders: { "x-vault-token": token } }),
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ca,
      signal,
    });
    answered.add(signal);
    return answerOf(response);
  }

  /**
   * Whether Vault still accepts the token. It answers 403 to a token that is not valid and to one that may not read this. A
   * sign-in for each of the latter could use up a secret id that is good for a few only.
   */
  async function isAccepted(token: Token, signal: AbortSignal): Promise<boolean> {
    const { status } = await ask("GET", "auth/token/lookup-self", { token: token.value, signal });
    return status === 200;
  }

  /** As `ask`, signed in. Signs in again once if Vault does not accept a token that it has accepted before. */
  async function askSignedIn(
    method: "GET" | "POST",
    path: string,
    signal: AbortSignal,
    body?: object,
  ): Promise<Answer> {
    const request = { signal, body };
    const used = await signedIn.token(signal);
    const answer = await askWith(used);
    if (answer.status !== 403) return answer;
    if (auth.type !== "token" && (await isAccepted(used, signal))) {
      used.hasWorked = true;
      return answer;
    }
    if (!used.hasWorked) return answer;
    const renewed = await signedIn.token(signal, used);
    return renewed.value === used.value ? answer : askWith(renewed);

    async function askWith(by: Token): Promise<Answer> {
      const given = await ask(method, path, { ...request, token: by.value });
      by.hasWorked ||= given.status < 300 || given.status === 404;
      return given;
    }
  }

  /** After a failure with a token that has never worked, the next attempt signs in anew. */
  async function attempt<Result>(task: () => Promise<Result>): Promise<Result> {
    try {
      return await task();
    } catch (error) {
      await signedIn.forgetIf(({ hasWorked }) => !hasWorked);
      throw error;
    }
  }

  async function signIn(method: VaultAuth, signal: AbortSignal): Promise<Token> {
    switch (method.type) {
      case "token":
        return { value: await givenToken(method.token, signal), hasWorked: false };
      case "approle": {
        const { roleId, secretId, mount = "approle" } = method;
        const secret =
          secretId === undefined
            ? {}
            : { secret_id: await expand(secretId, "secrets.vault.auth.secretId", { signal }) };
        return login(mount, { role_id: roleId, ...secret }, signal);
      }
      case "kubernetes": {
        const { role, tokenFile = POD_TOKEN, mount = "kubernetes" } = method;
        // Kubernetes replaces it from time to time.
        const jwt = await readSetting(tokenFile, "secrets.vault.auth.tokenFile");
        return login(mount, { role, jwt: jwt.trim() }, signal);
      }
    }
  }

  async function givenToken(setting: string | undefined, signal: AbortSignal): Promise<string> {
    if (setting !== undefined) return expand(setting, "secrets.vault.auth.token", { signal });
    const inVariable = env["VAULT_TOKEN"] || env["BAO_TOKEN"];
    if (inVariable) return inVariable.trim();
    // `vault login` leaves it there.
    const left = await readRegularFile(join(homedir, ".vault-token")).catch(() => "");
    if (left.trim() !== "") return left.trim();
    throw secretUnavailable("there is no token for Vault", {
      hint: "run vault login, set VAULT_TOKEN, or set secrets.vault.auth",
    });
  }

  async function login(mount: string, body: object, signal: AbortSignal): Promise<Token> {
    const asked = clock.monotonic();
    const answer = await ask("POST", `auth/${encoded(mount)}/login`, { body, signal });
    if (answer.status !== 200) throw refusal(answer, "Vault does not accept the sign-in");
    const given = answer.body["auth"];
    const value = isJsonObject(given) ? given["client_token"] : undefined;
    if (!isJsonObject(given) || typeof value !== "string") throw unreadable();
    const seconds = given["lease_duration"];
    // 0 is a token that does not expire.
    return typeof seconds === "number" && seconds > 0
      ? {
          value,
          hasWorked: false,
          expiresAt: usableUntil(asked, seconds, MARGIN_MS),
        }
      : { value, hasWorked: false };
  }

  async function readSetting(file: string, setting: string): Promise<string> {
    const path = expandHome(file, homedir);
    try {
      return await readRegularFile(path);
    } catch (cause) {
      throw secretUnavailable(`the file ${path} (${setting}) cannot be read`, { cause });
    }
  }

  /** As far as it is known already, else as it mostly is: version 2, and a mount of one word. */
  function assumedPlace(path: string): Place {
    for (const [mount, version] of mounts) {
      if (path.startsWith(`${mount}/`)) {
        return { mount, rest: path.slice(mount.length + 1), version };
      }
    }
    const [mount = "", ...words] = path.split("/");
    return { mount, rest: words.join("/"), version: 2 };
  }

  /** Asks Vault where the mount ends and what it is. Undefined if the token may not know. */
  async function findPlace(path: string, signal: AbortSignal): Promise<Place | undefined> {
    const answer = await askSignedIn("GET", `sys/internal/ui/mounts/${encoded(path)}`, signal);
    if (mayPass(answer.status)) throw refusal(answer, "Vault cannot answer now");
    const { data } = answer.body;
    if (answer.status !== 200 || !isJsonObject(data) || typeof data["path"] !== "string") {
      return undefined;
    }
    const mount = data["path"].replace(/\/$/, "");
    if (!KV_TYPES.has(data["type"])) {
      throw secretUnavailable(`the mount ${mount} has no KV secrets`, {
        hint: "only KV secrets can be referred to",
      });
    }
    const options = data["options"];
    const version = isJsonObject(options) && options["version"] === "2" ? 2 : 1;
    mounts.set(mount, version);
    return { mount, rest: path.slice(mount.length + 1), version };
  }

  async function read(path: string, signal: AbortSignal): Promise<JsonObject> {
    const assumed = assumedPlace(path);
    const answer = await askSignedIn("GET", addressOf(assumed), signal);
    const values = valuesOf(answer, assumed);
    if (values !== undefined) {
      mounts.set(assumed.mount, assumed.version);
      return values;
    }
    if (mayPass(answer.status)) throw failure(answer, assumed);
    mounts.delete(assumed.mount);
    const found = await findPlace(path, signal);
    // A token that may not look at the mount may still read a secret of version 1.
    const other = found ?? { ...assumed, version: 1 };
    if (addressOf(other) === addressOf(assumed)) throw failure(answer, assumed);
    const second = await askSignedIn("GET", addressOf(other), signal);
    const others = valuesOf(second, other);
    if (others !== undefined) return others;
    throw found === undefined ? failure(answer, assumed) : failure(second, other);
  }

  /** Through the program, with its own sign-in. Undefined if there is none. */
  async function readByTool(path: string, signal: AbortSignal): Promise<JsonObject | undefined> {
    // It would be an option.
    if (path.startsWith("-")) return undefined;
    const where = {
      ...(address !== undefined && { VAULT_ADDR: address, BAO_ADDR: address }),
      ...(namespace !== undefined && { VAULT_NAMESPACE: namespace, BAO_NAMESPACE: namespace }),
      ...(caFile !== undefined && {
        VAULT_CACERT: expandHome(caFile, homedir),
        BAO_CACERT: expandHome(caFile, homedir),
      }),
    };
    const options = { signal, permanent: PERMANENT, env: where };
    for (const program of ["vault", "bao"]) {
      // oxlint-disable-next-line no-await-in-loop -- the second only if the first is not there
      const output = await toolOutput(run, [program, "kv", "get", "-format=json", path], options);
      if (output === undefined) continue;
      const body = tryParseJson(output);
      const given = { status: 200, body: objectIn(body) };
      const place = { mount: "", rest: path };
      const values =
        valuesOf(given, { ...place, version: 2 }) ?? valuesOf(given, { ...place, version: 1 });
      if (values !== undefined) return values;
      throw secretUnavailable(`${program} did not answer with a secret`);
    }
    return undefined;
  }

  async function readEitherWay(path: string, signal: AbortSignal): Promise<JsonObject> {
    // A sign-in that you chose is not replaced by that of the program.
    if (auth.type !== "token") return attempt(() => read(path, signal));
    let asked: AbortSignal | undefined;
    const ways: TwoWays<JsonObject> = {
      library: (until) => {
        asked = until;
        return attempt(() => read(path, until));
      },
      program: (until) => readByTool(path, until),
      hasAnswered: () => asked !== undefined && answered.has(asked),
      missing: () => secretUnavailable("there is no vault on the PATH"),
      names: { library: "Vault's API", program: "the program of Vault" },
    };
    return eitherWay(ways, surroundings, signal);
  }

  async function write(path: string, values: object, signal: AbortSignal): Promise<void> {
    const found = (await findPlace(path, signal)) ?? assumedPlace(path);
    const body = found.version === 2 ? { data: values } : values;
    const answer = await askSignedIn("POST", addressOf(found), signal, body);
    if (answer.status >= 300) throw refusal(answer, `Vault does not store ${path}`);
  }

  const place = (name: string): SecretReference => {
    const path = `${settings.directory ?? DIRECTORY}/${name.replace(/[^A-Za-z0-9/_.-]/g, "-")}`;
    return { provider: "vault", path, key: "value", text: `secret://vault/${path}#value` };
  };

  return {
    name: "vault",
    async resolve(reference, { signal }) {
      const path = pathOf(reference);
      return chosen(await readEitherWay(path, signal), reference.key);
    },
    async store(name, value, { signal }) {
      const reference = place(name);
      await attempt(() => write(reference.path, { value }, signal));
      return reference;
    },
    place,
    async close() {
      signedIn.close();
    },
  };
}

/** What `vault` says where trying again does not help. */
const PERMANENT =
  /No value found|permission denied|missing client token|invalid token|Code: 40[0-5]\b/i;

/** Vault's own, where no KV can be. The token itself can be read there, and must not become a secret for a server. */
const RESERVED = new Set(["auth", "sys", "identity", "cubbyhole", "audit"]);
const KV_TYPES: ReadonlySet<unknown> = new Set(["kv", "generic"]);

/** Throws for a path that could mean another part of Vault's API. */
function pathOf({ path }: SecretReference): string {
  const words = path.replace(/\/$/, "").split("/");
  const isPath = words.every((word) => word !== "" && word !== "." && word !== "..");
  if (words.length > 1 && isPath && !RESERVED.has(words[0] ?? "")) return words.join("/");
  throw secretUnavailable("it is not the path of a secret in Vault", {
    hint: "write secret://vault/MOUNT/PATH#KEY",
  });
}

function encoded(path: string): string {
  return path.split("/").map(encodeURIComponent).join("/");
}

function addressOf({ mount, rest, version }: Place): string {
  return encoded(version === 2 ? `${mount}/data/${rest}` : `${mount}/${rest}`);
}

async function answerOf(response: SecretResponse): Promise<Answer> {
  const parsed = tryParseJson(await response.text());
  const { status } = response;
  if (isJsonObject(parsed)) return { status, body: parsed };
  // 204 has no body, and something in front of Vault may answer an error in HTML.
  if (status === 204 || status >= 400) return { status, body: {} };
  throw unreadable();
}

/** The keys and values of a secret. Leases and other facts beside them are not needed. */
function valuesOf({ status, body }: Answer, { version }: Place): JsonObject | undefined {
  const { data, mount_type: type } = body;
  if (status !== 200 || !isJsonObject(data)) return undefined;
  // Behind the name of a namespace, a path may still lead to another part of the API. Newer versions of Vault say so.
  if (type !== undefined && !KV_TYPES.has(type)) return undefined;
  if (version === 1) return data;
  // A secret of version 1 may be called "data", and looks different.
  return isJsonObject(data["data"]) && isJsonObject(data["metadata"]) ? data["data"] : undefined;
}

function failure(answer: Answer, { mount, rest, version }: Place): Error {
  const { status, body } = answer;
  const data = objectIn(body["data"]);
  const metadata = objectIn(data["metadata"]);
  if (status === 200) return unreadable();
  if (status !== 404) {
    return refusal(answer, `Vault does not give the secret ${rest} in the mount ${mount}`);
  }
  if (metadata["destroyed"] === true || metadata["deletion_time"]) {
    return secretUnavailable(`the secret ${rest} in the mount ${mount} was deleted`);
  }
  const isApiPath = version === 2 && rest.startsWith("data/");
  return secretUnavailable(`there is no secret ${rest} in the mount ${mount}`, {
    hint: isApiPath
      ? 'leave out "data/": it is a part of Vault\'s API, not of the path'
      : "check the path and the namespace (secrets.vault.namespace)",
  });
}

/** Without a key: the only one, or `value`. */
function chosen(values: JsonObject, key: string | undefined): string {
  const keys = Object.keys(values);
  const only = keys.length === 1 ? keys[0] : keys.find((each) => each === "value");
  const wanted = key ?? only;
  if (wanted !== undefined) return valueOfKey(values, wanted);
  throw secretUnavailable(`it does not say which key is meant: ${keysThere(keys)}`, {
    hint: 'add "#" and one of the keys to the reference',
  });
}

function refusal({ status, body }: Answer, message: string): Error {
  const errors = Array.isArray(body["errors"]) ? body["errors"] : [];
  const words = errors.filter((each) => typeof each === "string").join(", ");
  const hint =
    status === 403
      ? "the token may have expired or be invalid, or its policies do not allow this"
      : undefined;
  const details = { permanent: !mayPass(status), hint };
  return said(`${message} (${status})`, words, details);
}

/** 412: a replica does not have yet what was written. 503: sealed, or in maintenance. */
function mayPass(status: number): boolean {
  return status >= 500 || status === 429 || status === 412;
}

function unreadable(): Error {
  return passing("Vault sent an answer that cannot be read", {
    hint: "check that secrets.vault.address is the address of Vault itself",
  });
}
