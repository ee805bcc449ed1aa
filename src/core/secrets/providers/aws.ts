// `secret://aws/NAME#json-key`, where NAME may be an ARN: AWS Secrets Manager, through the AWS SDK, or through `aws` where
// the SDK is not installed or cannot reach it.

import { cancelled, PlugboardError } from "../../types/errors.ts";
import {
  type AwsSettings,
  type ProviderSurroundings,
  type SecretProvider,
  type SecretReference,
  secretUnavailable,
} from "../../types/secret-provider.ts";
import { isJsonObject, tryParseJson } from "../../types/json.ts";
import { untilAborted } from "../../../util/abort.ts";
import { errorCode } from "../../../util/error-code.ts";
import { errorMessage } from "../../../util/error-message.ts";
import { passing, said } from "../failure.ts";
import { installHint, loadOptional } from "../../../util/optional-package.ts";
import { notInstalled, unusableVersion } from "../optional-package.ts";
import { toolOutput } from "../program-output.ts";
import { keyOfJson, secretText, withoutNewline } from "../secret-text.ts";
import { eitherWay, type TwoWays } from "../two-ways.ts";

const PACKAGE = {
  name: "@aws-sdk/client-secrets-manager",
  install: "@aws-sdk/client-secrets-manager@3",
};

/** All secrets of a board are asked for at once. The SDK's own limit is 50, and the rest would wait for the first. */
const CONNECTIONS = { keepAlive: true, maxSockets: 1000 };

/** The parts of the SDK that are used. */
interface Sdk {
  SecretsManagerClient: new (options: object) => Client;
  GetSecretValueCommand: new (input: object) => object;
  CreateSecretCommand: new (input: object) => object;
  PutSecretValueCommand: new (input: object) => object;
}
interface Client {
  send: (command: object, options: { abortSignal: AbortSignal }) => Promise<SecretAnswer>;
  destroy: () => void;
}
/** The SDK decodes the bytes; `aws` writes them as base64. */
interface SecretAnswer {
  SecretString?: unknown;
  SecretBinary?: unknown;
}

export function createAwsProvider(
  settings: AwsSettings,
  surroundings: Pick<ProviderSurroundings, "env" | "run" | "importOptional" | "clock" | "warn">,
): SecretProvider {
  const { env, run, importOptional } = surroundings;
  const profile = settings.profile || env["AWS_PROFILE"] || undefined;
  const ownRegion = settings.region || env["AWS_REGION"] || env["AWS_DEFAULT_REGION"] || undefined;
  const endpoint =
    settings.endpoint ||
    env["AWS_ENDPOINT_URL_SECRETS_MANAGER"] ||
    env["AWS_ENDPOINT_URL"] ||
    undefined;
  /** By region. */
  const clients = new Map<string | undefined, Client>();

  function clientFor(sdk: Sdk, region: string | undefined): Client {
    const known = clients.get(region);
    if (known !== undefined) return known;
    const created = new sdk.SecretsManagerClient({
      requestHandler: { httpAgent: CONNECTIONS, httpsAgent: CONNECTIONS },
      ...(region !== undefined && { region }),
      ...(endpoint !== undefined && { endpoint }),
      ...(profile === undefined ? credentialsIn(env) : { profile }),
    });
    clients.set(region, created);
    return created;
  }

  async function send(
    sdk: Sdk,
    region: string | undefined,
    command: object,
    signal: AbortSignal,
  ): Promise<SecretAnswer> {
    try {
      // Looking for credentials does not end with the signal.
      const pending = clientFor(sdk, region).send(command, { abortSignal: signal });
      return await untilAborted(pending, signal, cancelled);
    } catch (error) {
      if (signal.aborted) throw cancelled();
      if (!SIGNED_OUT.has(nameOf(error))) throw error;
      // Other credentials may be there at the next attempt.
      clients.get(region)?.destroy();
      clients.delete(region);
      throw error;
    }
  }

  async function loadSdk(signal: AbortSignal): Promise<Sdk | undefined> {
    const loaded = await untilAborted(loadOptional(PACKAGE, importOptional), signal, cancelled);
    if (loaded === undefined || "GetSecretValueCommand" in loaded) {
      return loaded as unknown as Sdk | undefined;
    }
    throw unusableVersion(PACKAGE);
  }

  async function read(id: string, signal: AbortSignal): Promise<SecretAnswer> {
    const region = regionOf(id) ?? ownRegion;
    const library = async (until: AbortSignal): Promise<SecretAnswer | undefined> => {
      const sdk = await loadSdk(until);
      return sdk && send(sdk, region, new sdk.GetSecretValueCommand({ SecretId: id }), until);
    };
    const ways: TwoWays<SecretAnswer> = {
      library,
      program: (until) => readByTool(id, region, until),
      hasAnswered,
      explain: (error) => explained(error, { id, region, profile }),
      missing: () => notInstalled(PACKAGE, "aws"),
      names: { library: `the package ${PACKAGE.name}`, program: "aws" },
    };
    return eitherWay(ways, surroundings, signal);
  }

  /** Undefined if there is no `aws`. */
  async function readByTool(
    id: string,
    region: string | undefined,
    signal: AbortSignal,
  ): Promise<SecretAnswer | undefined> {
    const command = [
      "aws",
      "secretsmanager",
      "get-secret-value",
      // With "=", a name or the region of an ARN that begins with "-" is no option.
      `--secret-id=${id}`,
      "--output",
      "json",
      ...(region === undefined ? [] : [`--region=${region}`]),
      ...(settings.profile === undefined ? [] : ["--profile", settings.profile]),
      ...(settings.endpoint === undefined ? [] : ["--endpoint-url", settings.endpoint]),
    ];
    // It must not wait for somebody who reads its answer in a pager.
    const options = { signal, permanent: PERMANENT, env: { AWS_PAGER: "" } };
    const output = await toolOutput(run, command, options);
    if (output === undefined) return undefined;
    const answer = tryParseJson(output);
    if (!isJsonObject(answer)) throw secretUnavailable("aws did not answer in JSON");
    const { SecretString, SecretBinary } = answer;
    return typeof SecretBinary === "string"
      ? { SecretBinary: Buffer.from(SecretBinary, "base64") }
      : { SecretString };
  }

  async function store(Name: string, SecretString: string, signal: AbortSignal): Promise<void> {
    const sdk = await loadSdk(signal);
    if (sdk === undefined) {
      // `aws` takes a value from its arguments or a file, where others could read it.
      throw secretUnavailable(`storing a value needs the package ${PACKAGE.name}`, {
        hint: installHint(PACKAGE),
      });
    }
    try {
      await send(sdk, ownRegion, new sdk.CreateSecretCommand({ Name, SecretString }), signal);
    } catch (error) {
      if (nameOf(error) !== "ResourceExistsException")
        throw explained(error, { id: Name, region: ownRegion, profile });
      const put = new sdk.PutSecretValueCommand({ SecretId: Name, SecretString });
      await send(sdk, ownRegion, put, signal).catch((cause: unknown) => {
        throw explained(cause, { id: Name, region: ownRegion, profile });
      });
    }
  }

  const place = (name: string): SecretReference => {
    const path = name.replace(/[^A-Za-z0-9/_+=.@-]/g, "-");
    return { provider: "aws", path, text: `secret://aws/${path}` };
  };

  return {
    name: "aws",
    async resolve({ path, key }, { signal }) {
      const { SecretString, SecretBinary } = await read(path, signal);
      const bytes = SecretBinary instanceof Uint8Array ? SecretBinary : new Uint8Array();
      const text =
        typeof SecretString === "string" ? withoutNewline(SecretString) : secretText(bytes);
      return key === undefined ? text : keyOfJson(text, key);
    },
    async store(name, value, { signal }) {
      const reference = place(name);
      await store(reference.path, value, signal);
      return reference;
    },
    place,
    async close() {
      for (const client of clients.values()) client.destroy();
      clients.clear();
    },
  };
}

/** An ARN names the region of its secret, whatever region is configured. */
function regionOf(id: string): string | undefined {
  return /^arn:[\w-]+:secretsmanager:([a-z\d-]+):/.exec(id)?.[1];
}

/** As the SDK's own chain begins, but from the environment that is given. */
function credentialsIn(env: ProviderSurroundings["env"]): object {
  const accessKeyId = env["AWS_ACCESS_KEY_ID"];
  const secretAccessKey = env["AWS_SECRET_ACCESS_KEY"];
  const sessionToken = env["AWS_SESSION_TOKEN"];
  if (!accessKeyId || !secretAccessKey) return {};
  return {
    credentials: { accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }) },
  };
}

/** The errors of credentials that are not valid any more. */
const SIGNED_OUT = new Set([
  "ExpiredTokenException",
  "ExpiredToken",
  "RequestExpired",
  "UnrecognizedClientException",
  "InvalidClientTokenId",
  "InvalidSignatureException",
  "SignatureDoesNotMatch",
]);

const THROTTLED = /Throttl|TooManyRequests|SlowDown|RequestLimitExceeded/;

/** The errors in the messages of `aws` that do not pass. */
const PERMANENT =
  /\((?:ResourceNotFound|AccessDenied|InvalidRequest|InvalidParameter|DecryptionFailure|ExpiredToken|UnrecognizedClient|InvalidSignature)\w*\)|Unable to locate credentials|You must specify a region|could not be found|SSO/;

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : "";
}

interface Asked {
  id: string;
  region: string | undefined;
  profile: string | undefined;
}

function statusOf(error: unknown): number | undefined {
  const { $metadata, $response } = error as {
    $metadata?: { httpStatusCode?: number };
    $response?: { statusCode?: number };
  };
  return $metadata?.httpStatusCode ?? $response?.statusCode;
}

/** AWS has refused: with credentials that it accepts, `aws` would get the same answer. */
function hasAnswered(error: unknown): boolean {
  const status = statusOf(error);
  const isRefusal = status !== undefined && status >= 300 && status < 500 && status !== 429;
  return isRefusal && !SIGNED_OUT.has(nameOf(error)) && !THROTTLED.test(nameOf(error));
}

function explained(error: unknown, { id, region, profile }: Asked): unknown {
  if (error instanceof PlugboardError) return error;
  const name = nameOf(error);
  const where = region === undefined ? "" : ` in ${region}`;
  // Never as the cause: the SDK's errors have the answer in them.
  const tell = (message: string, hint?: string, permanent = true): Error =>
    said(message, errorMessage(error), { permanent, ...(hint && { hint }) });
  const status = statusOf(error);
  // The words of the SDK quote the answer then.
  if (status === 200) return passing("AWS sent an answer that cannot be read");
  if (name === "ResourceNotFoundException") {
    return tell(
      `there is no secret ${id}${where}`,
      "check the name and the region (secrets.aws.region or AWS_REGION)",
    );
  }
  if (name === "AccessDeniedException") {
    return tell(
      `these credentials may not read the secret ${id}${where}`,
      "they need secretsmanager:GetSecretValue, and kms:Decrypt if the secret has a key of its own",
    );
  }
  if (SIGNED_OUT.has(name)) {
    return tell("AWS does not accept the credentials", "sign in again, such as with aws sso login");
  }
  if (name === "CredentialsProviderError" || name === "TokenProviderError") {
    if (profile !== undefined) {
      return tell(
        `there are no AWS credentials for the profile ${profile}`,
        "check the name of the profile (secrets.aws.profile or AWS_PROFILE), or sign in with aws sso login",
      );
    }
    return tell(
      "there are no AWS credentials",
      "run aws configure or aws sso login, or set AWS_PROFILE or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
    );
  }
  if (status !== undefined && status < 500 && status !== 429 && !THROTTLED.test(name)) {
    return tell(`AWS refuses to give the secret ${id}${where} (${name})`);
  }
  if (status === undefined && errorCode(error) === undefined && name !== "TimeoutError") {
    return tell(
      `the AWS SDK cannot ask for the secret ${id}`,
      region === undefined ? "set secrets.aws.region or AWS_REGION" : undefined,
    );
  }
  return tell("AWS cannot answer now", undefined, false);
}
