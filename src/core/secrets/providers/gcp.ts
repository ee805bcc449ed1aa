// `secret://gcp/NAME#VERSION` and `secret://gcp/projects/P/secrets/NAME/versions/V`: Google Cloud's Secret Manager, through
// its client library, or through `gcloud` where the library is not installed or cannot reach it.

import { cancelled, type PlugboardError } from "../../types/errors.ts";
import {
  type GcpSettings,
  type ProviderSurroundings,
  type SecretProvider,
  type SecretReference,
  secretUnavailable,
} from "../../types/secret-provider.ts";
import { plainHost } from "../../net/host-list.ts";
import { isLocal } from "../../net/policy.ts";
import { untilAborted } from "../../../util/abort.ts";
import { errorMessage } from "../../../util/error-message.ts";
import { said } from "../failure.ts";
import { loadOptional, type OptionalPackage } from "../../../util/optional-package.ts";
import { notInstalled, unusableVersion } from "../optional-package.ts";
import { type ToolOptions, toolOutput } from "../program-output.ts";
import { secretText } from "../secret-text.ts";
import { eitherWay, type TwoWays } from "../two-ways.ts";

/** The last version that runs on Node 20. */
const PACKAGE: OptionalPackage = {
  name: "@google-cloud/secret-manager",
  install: "@google-cloud/secret-manager@6.3.0",
};
/** What the package builds on; it has what a connection in plain text needs. */
const GAX: OptionalPackage = { name: "google-gax", install: "google-gax" };

const NAMES = { library: `the package ${PACKAGE.name}`, program: "gcloud" };
const missing = (): PlugboardError => notInstalled(PACKAGE, "gcloud");

/** Longer than anybody waits: the signal ends a call before. */
const CALL_TIMEOUT_MS = 30_000;
const TLS_PORT = 443;

/** The parts of the client library that are used. */
interface Client {
  /** Rejects without credentials. Its methods would then also reject a promise that nobody handles, which ends the process. */
  initialize: () => Promise<unknown>;
  /** The calls below the methods. The methods can be made to log answers, and cannot be cancelled. */
  innerApiCalls: Record<string, (request: object, options: object) => Cancellable>;
  getProjectId: () => Promise<string>;
  close: () => Promise<void>;
}
type Cancellable = Promise<[Record<string, unknown>]> & { cancel: () => void };
type ClientClass = new (options: object, gax?: unknown) => Client;

interface SecretName {
  /** Absent if the configuration or the credentials say it. */
  project?: string;
  location?: string;
  name: string;
  version: string;
}

export function createGcpProvider(
  given: GcpSettings,
  surroundings: Pick<ProviderSurroundings, "env" | "run" | "importOptional" | "clock" | "warn">,
): SecretProvider {
  const { env, run, importOptional } = surroundings;
  const project =
    given.project || env["GOOGLE_CLOUD_PROJECT"] || env["GCLOUD_PROJECT"] || undefined;
  const endpoint = given.endpoint || env["SECRET_MANAGER_EMULATOR_HOST"] || undefined;
  let opening: Promise<Client | undefined> | undefined;
  let opened: Client | undefined;
  let isClosed = false;

  /** Undefined if the package is not installed. */
  function client(): Promise<Client | undefined> {
    if (opening !== undefined) return opening;
    opening = openClient(endpoint, importOptional);
    opening.then(
      (found) => {
        opened = found;
        // Somebody may install the package before the next attempt.
        if (found === undefined) opening = undefined;
        else if (isClosed) void found.close();
      },
      // Or sign in.
      () => (opening = undefined),
    );
    return opening;
  }

  /** Other credentials may be there at the next attempt. */
  function forget(): void {
    opening = undefined;
    void opened?.close();
    opened = undefined;
  }

  async function call(
    found: Client,
    method: string,
    request: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ): Promise<Record<string, unknown>> {
    const routed = String(request["name"] ?? request["parent"]);
    const key = request["name"] === undefined ? "parent" : "name";
    const headers = { "x-goog-request-params": `${key}=${encodeURIComponent(routed)}` };
    const options = {
      timeout: CALL_TIMEOUT_MS,
      // The board has its own backoff.
      retry: { retryCodes: [], backoffSettings: {} },
      otherArgs: { headers },
    };
    const pending = found.innerApiCalls[method]?.(request, options);
    if (pending === undefined) throw unusableVersion(PACKAGE);
    const cancel = (): void => pending.cancel();
    signal.addEventListener("abort", cancel, { once: true });
    try {
      const [answer] = await untilAborted(pending, signal, cancelled);
      return answer;
    } finally {
      signal.removeEventListener("abort", cancel);
    }
  }

  async function projectOf({ project: named }: SecretName, found: Client): Promise<string> {
    if (named !== undefined || project !== undefined) return named ?? project ?? "";
    try {
      return await found.getProjectId();
    } catch (cause) {
      throw noProject(cause);
    }
  }

  async function access(found: Client, wanted: SecretName, signal: AbortSignal): Promise<string> {
    const parent = await untilAborted(projectOf(wanted, found), signal, cancelled);
    const name = `${resourceName(parent, wanted)}/versions/${wanted.version}`;
    try {
      const { payload } = await call(found, "accessSecretVersion", { name }, signal);
      return secretText(bytesOf(payload));
    } catch (error) {
      throw explained(error, `${wanted.name} (version ${wanted.version}) of project ${parent}`);
    }
  }

  async function accessByTool(
    wanted: SecretName,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const from = wanted.project ?? project;
    const command = [
      "gcloud",
      "secrets",
      "versions",
      "access",
      wanted.version,
      `--secret=${wanted.name}`,
      ...(from === undefined ? [] : [`--project=${from}`]),
      ...(wanted.location === undefined ? [] : [`--location=${wanted.location}`]),
      // As base64: as text, gcloud would repair what is not UTF-8.
      "--format=get(payload.data)",
      "--quiet",
    ];
    const output = await toolOutput(run, command, toolOptions(endpoint, signal));
    if (output === undefined) return undefined;
    return secretText(Buffer.from(output.trim(), "base64url"));
  }

  const nameFor = (name: string): string => name.replace(/[^A-Za-z0-9_-]/g, "-");
  const place = (name: string): SecretReference => {
    const path = nameFor(name);
    return { provider: "gcp", path, text: `secret://gcp/${path}` };
  };

  /** Undefined if the library is not installed. */
  async function store(
    name: string,
    value: string,
    signal: AbortSignal,
  ): Promise<true | undefined> {
    const wanted: SecretName = { name, version: "latest" };
    const found = await untilAborted(client(), signal, cancelled);
    if (found === undefined) return undefined;
    const parent = await untilAborted(projectOf(wanted, found), signal, cancelled);
    const data = Buffer.from(value, "utf8");
    try {
      await create(found, parent, wanted.name, signal);
      const request = { parent: resourceName(parent, wanted), payload: { data } };
      await call(found, "addSecretVersion", request, signal);
      return true;
    } catch (error) {
      throw explained(error, `${wanted.name} of project ${parent}`);
    }
  }

  async function create(
    found: Client,
    parent: string,
    secretId: string,
    signal: AbortSignal,
  ): Promise<void> {
    const secret = { replication: { automatic: {} } };
    try {
      const request = { parent: `projects/${parent}`, secretId, secret };
      await call(found, "createSecret", request, signal);
    } catch (error) {
      if (statusOf(error) !== STATUS.alreadyExists) throw error;
    }
  }

  /** Undefined if there is no `gcloud`. */
  async function storeByTool(
    name: string,
    input: string,
    signal: AbortSignal,
  ): Promise<true | undefined> {
    const options = toolOptions(endpoint, signal);
    const where = project === undefined ? [] : [`--project=${project}`];
    const look = ["secrets", "describe", name, ...where, "--format=get(name)"];
    const known = await run("gcloud", look, options);
    const put =
      known.kind === "exited" && known.code === 0
        ? ["versions", "add", name]
        : ["create", name, "--replication-policy=automatic"];
    const command = ["gcloud", "secrets", ...put, ...where, "--data-file=-", "--quiet"];
    const output = await toolOutput(run, command, { ...options, input });
    return output === undefined ? undefined : true;
  }

  const ask = <Result>(
    library: TwoWays<Result>["library"],
    program: TwoWays<Result>["program"],
    signal: AbortSignal,
  ): Promise<Result> =>
    eitherWay({ library, program, hasAnswered, missing, names: NAMES }, surroundings, signal);

  return {
    name: "gcp",
    async resolve(reference, { signal }) {
      const wanted = parseName(reference);
      const byLibrary = async (until: AbortSignal): Promise<string | undefined> => {
        const found = await untilAborted(client(), until, cancelled);
        return (
          found &&
          access(found, wanted, until).catch((error: unknown) => {
            if (statusOf(error) === STATUS.unauthenticated) forget();
            throw error;
          })
        );
      };
      return ask(byLibrary, (until) => accessByTool(wanted, until), signal);
    },
    async store(wanted, value, { signal }) {
      const name = nameFor(wanted);
      await ask(
        (until) => store(name, value, until),
        (until) => storeByTool(name, value, until),
        signal,
      );
      return place(wanted);
    },
    place,
    async close() {
      isClosed = true;
      await opened?.close();
    },
  };
}

async function openClient(
  endpoint: string | undefined,
  importOptional: ProviderSurroundings["importOptional"],
): Promise<Client | undefined> {
  const loaded = await loadOptional(PACKAGE, importOptional);
  if (loaded === undefined) return undefined;
  const Class = loaded["SecretManagerServiceClient"] as ClientClass | undefined;
  if (Class === undefined) throw unusableVersion(PACKAGE);
  const made = await makeClient(Class, endpoint, importOptional);
  try {
    await made.initialize();
  } catch (cause) {
    throw said("there are no usable Google Cloud credentials", errorMessage(cause), {
      cause,
      hint: "run gcloud auth application-default login, or set GOOGLE_APPLICATION_CREDENTIALS",
    });
  }
  return made;
}

async function makeClient(
  Class: ClientClass,
  endpoint: string | undefined,
  importOptional: ProviderSurroundings["importOptional"],
): Promise<Client> {
  if (endpoint === undefined) return new Class({});
  const { hostname, port } = new URL(`https://${endpoint}`);
  const at = { apiEndpoint: hostname, port: Number(port) || TLS_PORT };
  if (!isLocal(plainHost(hostname))) return new Class(at);
  const gax = await loadOptional(GAX, importOptional);
  const grpc = gax?.["grpc"] as { credentials: { createInsecure: () => unknown } } | undefined;
  if (grpc === undefined) {
    throw secretUnavailable(`the package ${GAX.name} is not installed`, {
      hint: `to use the endpoint ${endpoint}, which has no TLS: npm install ${GAX.install}`,
    });
  }
  const options = {
    ...at,
    sslCreds: grpc.credentials.createInsecure(),
    // Known already, so that no credentials are looked for.
    clientOptions: { universeDomain: "googleapis.com" },
  };
  return new Class(options, gax);
}

/** The names of the statuses that do not pass. gcloud writes them into its messages. */
const PERMANENT =
  /\b(?:NOT_FOUND|PERMISSION_DENIED|UNAUTHENTICATED|FAILED_PRECONDITION|INVALID_ARGUMENT)\b|gcloud auth login|gcloud config set|Failed to find attribute \[project\]/;

function toolOptions(endpoint: string | undefined, signal: AbortSignal): ToolOptions {
  // gcloud's own name for the setting.
  const override = { CLOUDSDK_API_ENDPOINT_OVERRIDES_SECRETMANAGER: `https://${endpoint}/` };
  return { signal, permanent: PERMANENT, env: endpoint === undefined ? {} : override };
}

const NAME = "[A-Za-z0-9_-]{1,255}";
/** Not with "-" in front: gcloud would take it for an option. */
const VERSION = "[A-Za-z0-9_][A-Za-z0-9_-]{0,62}";
const SHORT = new RegExp(`^(${NAME})$`);
const FULL = new RegExp(
  `^projects/([a-z0-9][a-z0-9.:-]*)(?:/locations/([a-z0-9-]+))?/secrets/(${NAME})(?:/versions/(${VERSION}))?$`,
);

function parseName({ path, key }: SecretReference): SecretName {
  const short = SHORT.exec(path);
  const full = FULL.exec(path);
  const [, project, location, name, inPath] = full ?? [];
  const version = key ?? inPath ?? "latest";
  const found = short?.[1] ?? name;
  const isTwice = key !== undefined && inPath !== undefined;
  if (found !== undefined && !isTwice && new RegExp(`^${VERSION}$`).test(version)) {
    return {
      ...(project !== undefined && { project }),
      ...(location !== undefined && { location }),
      name: found,
      version,
    };
  }
  throw secretUnavailable("it is not the name of a Google Cloud secret", {
    hint: "write secret://gcp/NAME, secret://gcp/NAME#VERSION or secret://gcp/projects/PROJECT/secrets/NAME/versions/VERSION",
  });
}

function resourceName(project: string, { location, name }: SecretName): string {
  const place = location === undefined ? "" : `/locations/${location}`;
  return `projects/${project}${place}/secrets/${name}`;
}

function bytesOf(payload: unknown): Uint8Array {
  const data = (payload as { data?: unknown } | undefined | null)?.data;
  if (typeof data === "string") return Buffer.from(data, "base64");
  return data instanceof Uint8Array ? data : new Uint8Array();
}

/** The status codes of gRPC that are told apart. */
const STATUS = {
  notFound: 5,
  alreadyExists: 6,
  permissionDenied: 7,
  failedPrecondition: 9,
  unauthenticated: 16,
} as const;

/** DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED, ABORTED, INTERNAL, UNAVAILABLE. */
const PASSING = new Set([4, 8, 10, 13, 14]);

function statusOf(error: unknown): number | undefined {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  const code = (cause as { code?: unknown } | null)?.code;
  return typeof code === "number" ? code : undefined;
}

/** Google has refused: with credentials that it accepts, gcloud would get the same answer. */
function hasAnswered(error: unknown): boolean {
  const status = statusOf(error);
  return status !== undefined && status !== STATUS.unauthenticated && !PASSING.has(status);
}

/** The library's errors, which have a gRPC status; anything else stays as it is. */
function explained(error: unknown, secret: string): unknown {
  const status = statusOf(error);
  if (status === undefined) return error;
  const words = (error as { details?: unknown }).details;
  const details = { cause: error };
  const tell = (message: string, hint?: string): Error =>
    said(message, typeof words === "string" ? words : "", hint ? { ...details, hint } : details);
  switch (status) {
    case STATUS.notFound:
      return tell(
        `there is no secret ${secret}`,
        "check the name, the version and the project (secrets.gcp.project)",
      );
    case STATUS.permissionDenied:
      return tell(
        `these credentials may not read the secret ${secret}`,
        "they need the role roles/secretmanager.secretAccessor",
      );
    case STATUS.failedPrecondition:
      return tell(`the secret ${secret} is disabled or destroyed`);
    case STATUS.unauthenticated:
      return tell(
        "Google Cloud does not accept the credentials",
        "they may have expired: run gcloud auth application-default login",
      );
    default:
      return PASSING.has(status)
        ? said("Google Cloud cannot answer now", typeof words === "string" ? words : "", {
            ...details,
            permanent: false,
          })
        : tell(`Google Cloud refuses to give the secret ${secret}`);
  }
}

function noProject(cause: unknown): Error {
  return secretUnavailable("it does not say which project the secret is in", {
    cause,
    hint: 'set secrets.gcp.project or GOOGLE_CLOUD_PROJECT, or write "projects/PROJECT/secrets/NAME"',
  });
}
