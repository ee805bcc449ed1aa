// Opens a model by its id, `provider/model`: finds the provider, reads the key and loads the AI SDK. The SDK's
// packages are optional dependencies, so this is the one place that imports them.

import type { Environment } from "../../util/environment.ts";
import { AgentSecrets } from "../../core/board/agent-secrets.ts";
import { type NeededSecret, resolveValue } from "../../core/config/resolve.ts";
import { type ErrorCode, type ErrorDetails, PlugboardError } from "../../core/types/errors.ts";
import type { ModelProvider } from "../../core/types/agent-config.ts";
import type { ModelKeys } from "../../core/types/model-keys.ts";
import { silentLogger } from "../../core/types/logger.ts";
import type { SecretSettings } from "../../core/types/secret-provider.ts";
import { mentionsSecret } from "../../core/types/secret-reference.ts";
import { withProxy } from "../../core/net/proxy-env.ts";
import { closest } from "../../util/closest.ts";
import { hasErrorCode } from "../../util/error-code.ts";
import { oneLine } from "../../util/text.ts";
import { type Clock, systemClock } from "../../util/clock.ts";
import { createModelFetch } from "./model-fetch.ts";
import { type GetKey, ModelKey } from "./model-key.ts";
import {
  type Api,
  APIS,
  knownProviders,
  modelLimits,
  type ModelLimits,
  NO_IMAGES,
} from "./provider.ts";

type AiSdk = typeof import("ai");
type LanguageModel = Parameters<AiSdk["wrapLanguageModel"]>[0]["model"];
type ImportPackage = (name: string) => Promise<object>;

interface FactorySettings {
  name: string;
  apiKey?: string;
  baseURL?: string;
  fetch: typeof globalThis.fetch;
  /** The chat completions API reports usage only on request. */
  includeUsage: true;
}

type Factory = (settings: FactorySettings) => (modelId: string) => LanguageModel;

export interface AgentModel extends ModelLimits, Pick<Api, "media" | "options"> {
  /** As configured: `provider/model`. */
  id: string;
  sdk: AiSdk;
  languageModel: LanguageModel;
  /** How long it may say nothing until the user is told, and until it is given up, in milliseconds. */
  silence: { notice: number; timeout: number };
  /** Removes the key, and secrets of its settings, from a text. */
  redact: (text: string) => string;
  /** Ends its connections; idempotent. The model must not be used afterwards. */
  close: () => Promise<void>;
}

export interface ModelOptions {
  /** `models.providers` of the configuration. */
  providers?: Readonly<Record<string, ModelProvider>>;
  env?: Environment;
  /** What a person has given; the configuration and the environment come first. */
  keys?: Pick<ModelKeys, "read">;
  /** `secrets` of the configuration. */
  secrets?: SecretSettings;
  /** The PATH for programs that give secrets, instead of the one in `env`. Must not reject. */
  programPath?: Promise<string | undefined>;
  /** `network.proxy` of the configuration; overrides the environment. */
  proxy?: string;
  /** `modelNotice` of the configuration. Default: 20 s. */
  notice?: number;
  /** `modelTimeout` of the configuration. Default: two minutes. */
  timeout?: number;
  /** Told every key that is used, and every secret that a provider's settings refer to. */
  onSecret?: (secret: string) => void;
  importPackage?: ImportPackage;
  /** Replaces the guarded fetch. */
  fetch?: typeof globalThis.fetch;
  clock?: Clock;
}

const EXAMPLE = "anthropic/claude-sonnet-5";
const NOTICE_MS = 20_000;
const TIMEOUT_MS = 120_000;

/**
 * Rejects with INVALID_ARGUMENTS for an id that does not name a model, with NO_MODEL for an unknown provider or package, and with
 * NEEDS_AUTH for a missing key. Sends no request.
 */
export async function openModel(id: string, options: ModelOptions = {}): Promise<AgentModel> {
  const { importPackage = (name) => import(name) } = options;
  const opened = await openProvider(id, options);
  const { name, model, provider, key, baseURL, fetch, redact, close } = opened;
  const api = APIS[provider.type];
  const load = async (): Promise<[AiSdk, Factory]> => {
    const sdk = (await loadPackage(SDK, importPackage)) as AiSdk;
    // The SDK writes its warnings to the console, some of them to stdout.
    globalThis.AI_SDK_LOG_WARNINGS ??= false;
    return [sdk, await loadFactory(api, importPackage)];
  };
  const [sdk, create] = await load().catch(async (error: unknown) => {
    await close();
    throw error;
  });
  const settings = {
    name,
    fetch: key.withCurrent(fetch),
    includeUsage: true as const,
    apiKey: key.first,
    baseURL,
  };
  return {
    id,
    sdk,
    languageModel: create(settings)(model),
    ...modelLimits(provider),
    silence: { notice: options.notice ?? NOTICE_MS, timeout: options.timeout ?? TIMEOUT_MS },
    media: provider.images === false ? NO_IMAGES : api.media,
    options: api.options,
    redact,
    close,
  };
}

/** Loads the code that a model needs, and nothing else. Never rejects: `openModel` says what is missing. */
export async function loadModelCode(id: string, options: ModelOptions = {}): Promise<void> {
  const { importPackage = (name) => import(name), providers = {} } = options;
  try {
    const { type } = findProvider(readId(id).name, providers);
    await Promise.all([loadPackage(SDK, importPackage), loadFactory(APIS[type], importPackage)]);
  } catch {
    // Whoever opens the model is told.
  }
}

/** The provider of a model, with its key and its address, before the SDK is loaded. */
export interface OpenedProvider extends Pick<AgentModel, "redact" | "close"> {
  name: string;
  /** The model's name at the provider. */
  model: string;
  provider: ModelProvider;
  key: ModelKey;
  /** Undefined for the address that the SDK knows. */
  baseURL: string | undefined;
  fetch: typeof globalThis.fetch;
}

/** Rejects as `openModel` does, except that it needs no package. */
export async function openProvider(id: string, options: ModelOptions): Promise<OpenedProvider> {
  const { env = process.env, clock = systemClock, keys, onSecret = () => {} } = options;
  const { name, model } = readId(id);
  const provider = findProvider(name, options.providers ?? {});
  const { readSecret, close: closeSecrets } = secretsOf(options, env, clock);
  const used = new Map<string, string>();
  const read = { name, provider, env, keys, readSecret, onSecret, used };
  const [key, baseURL] = await Promise.all([
    readKey(APIS[provider.type], read),
    setting("baseUrl", provider.baseUrl, read),
  ]).catch(async (error: unknown) => {
    await closeSecrets();
    throw error;
  });
  const { fetch, close } = createModelFetch(withProxy(env, options.proxy), clock);
  return {
    name,
    model,
    provider,
    key,
    baseURL,
    fetch: options.fetch ?? fetch,
    // The address may have a secret in it too.
    redact: (text) =>
      [...read.used.values()].reduce(
        (told, secret) => told.replaceAll(secret, "[secret]"),
        key.redact(text),
      ),
    close: async () => {
      await Promise.all([close(), closeSecrets()]);
    },
  };
}

/** `refused` is a value that is of no use any more. */
type ReadSecret = (
  needed: NeededSecret & { baseDir?: string | undefined },
  refused?: string,
) => Promise<string>;

interface ReadSettings {
  name: string;
  provider: ModelProvider;
  env: Environment;
  keys: ModelOptions["keys"];
  readSecret: ReadSecret;
  onSecret: (secret: string) => void;
  /** The last value of each reference. */
  used: Map<string, string>;
}

/** Reads the secrets of the configuration. No provider is opened before a model needs a secret. */
function secretsOf(
  { secrets: settings, proxy, programPath: path }: ModelOptions,
  env: Environment,
  clock: Clock,
): { readSecret: ReadSecret; close: () => Promise<void> } {
  const secrets = new AgentSecrets({ settings, proxy, env, clock, logger: silentLogger, path });
  return {
    async readSecret({ reference, key, baseDir }, refused) {
      if (refused !== undefined) await secrets.forget(reference, refused, baseDir);
      return secrets.resolve({ reference, key, baseDir });
    },
    close: () => secrets.close(),
  };
}

/** The model's own name may contain slashes. */
function readId(id: string): { name: string; model: string } {
  const [, name, model] = /^([^/]+)\/(.+)$/s.exec(id) ?? [];
  if (name !== undefined && model !== undefined) return { name, model };
  throw new PlugboardError("INVALID_ARGUMENTS", `'${oneLine(id, 200)}' does not name a model`, {
    hint: `write provider/model, as in ${EXAMPLE}`,
    permanent: true,
  });
}

function findProvider(
  name: string,
  configured: Readonly<Record<string, ModelProvider>>,
): ModelProvider {
  const known = knownProviders(configured);
  const found = known.get(name);
  if (found !== undefined) return found;
  const meant = closest(name, known.keys());
  const names = [...known.keys()].join(", ");
  throw noModel(`no model provider is named '${oneLine(name, 100)}'`, {
    hint:
      meant === undefined
        ? `there are ${names}; others are configured in models.providers`
        : `did you mean '${meant}'?`,
  });
}

async function readKey({ keyVariables }: Api, read: ReadSettings): Promise<ModelKey> {
  const { name, provider, env, keys, onSecret } = read;
  const configured = await configuredKey(read);
  if (configured !== undefined || keyVariables === undefined) {
    const isSecret = mentionsSecret(provider.apiKey ?? "");
    // A server on this machine takes any word, such as its own name.
    const isWord = configured === provider.apiKey && !LOOKS_RANDOM.test(configured ?? "");
    if (configured !== undefined && !isWord) onSecret(configured);
    return new ModelKey(configured, isSecret ? () => configuredKey(read, true) : undefined);
  }
  const [variable] = keyVariables;
  if (provider.needsOwnKey) {
    const message = `the project's file sets the address of the model provider '${name}' and no key, and your own key for ${provider.type} is not sent to that address`;
    throw noKey(message, {
      hint: `if the address should get it, write "apiKey": "\${${variable}}" into models.providers.${name} of the project's file, or set the same baseUrl in your own file`,
    });
  }
  const found = keyVariables.map((each) => env[each]).find(Boolean);
  if (found !== undefined) {
    onSecret(found);
    return new ModelKey(found);
  }
  const given = (await keys?.read())?.get(name);
  if (given?.kind === "key") {
    onSecret(given.key);
    return new ModelKey(given.key);
  }
  if (given?.kind === "reference") {
    const get: GetKey = (refused) => givenKey(given.reference, read, refused !== undefined);
    return new ModelKey(await get(), get);
  }
  throw noKey(`the model provider '${name}' needs an API key, and ${variable} is not set`, {
    hint: `export ${variable}=… (for an editor, put it into "env" of its settings for Plugboard), set models.providers.${name}.apiKey, or run: plugboard acp --sign-in model`,
  });
}

function noModel(message: string, details: ErrorDetails): PlugboardError {
  return new PlugboardError("NO_MODEL", message, { ...details, permanent: true });
}

function noKey(message: string, details: ErrorDetails): PlugboardError {
  return new PlugboardError("NEEDS_AUTH", message, { ...details, permanent: true });
}

/** A key that is configured as `${VAR}` or as a secret is missing in the same way as one that is not configured. */
async function configuredKey(read: ReadSettings, isRefused = false): Promise<string | undefined> {
  const { name, provider } = read;
  try {
    return await setting("apiKey", provider.apiKey, read, isRefused);
  } catch (cause) {
    if (!(cause instanceof PlugboardError) || !NO_VALUE.has(cause.code)) throw cause;
    const message = `the model provider '${name}' has no key: ${cause.message}`;
    throw noKey(message, { cause, hint: cause.hint });
  }
}

/** The key that a person has given, where it is kept elsewhere. */
async function givenKey(
  reference: string,
  read: ReadSettings,
  isRefused: boolean,
): Promise<string | undefined> {
  try {
    return await setting("apiKey", reference, read, isRefused);
  } catch (cause) {
    if (!(cause instanceof PlugboardError) || !NO_VALUE.has(cause.code)) throw cause;
    throw noKey(`the key that you gave for '${read.name}' cannot be had: ${cause.message}`, {
      cause,
      hint: cause.hint ?? "to give it again: plugboard acp --sign-in model",
    });
  }
}

const LOOKS_RANDOM = /^(?=.*\d)\S{16,}$/;
const NO_VALUE: ReadonlySet<ErrorCode> = new Set(["UNRESOLVED_VALUE", "SECRET_UNAVAILABLE"]);

/** `isRefused`: the secrets in it are got again. */
async function setting(
  key: string,
  value: string | undefined,
  { name, provider, env, readSecret, onSecret, used }: ReadSettings,
  isRefused = false,
): Promise<string | undefined> {
  if (!value) return undefined;
  const { baseDir } = provider;
  return resolveValue(value, `models.providers.${name}.${key}`, env, async (needed) => {
    const { text } = needed.reference;
    const refused = isRefused ? used.get(text) : undefined;
    const found = await readSecret({ ...needed, baseDir }, refused);
    used.set(text, found);
    onSecret(found);
    return found;
  });
}

/** The package that all providers build on. */
const SDK = "ai";

/** Rejects with NO_MODEL and the command to run if the package is not installed. */
async function loadPackage(name: string, importPackage: ImportPackage): Promise<object> {
  try {
    return await importPackage(name);
  } catch (cause) {
    if (!hasErrorCode(cause, "ERR_MODULE_NOT_FOUND")) throw cause;
    throw noModel(`the package ${name} is not installed`, {
      cause,
      hint: `install it (with -g if Plugboard was installed with -g): npm install ${name === SDK ? SDK : `${name} ${SDK}`}`,
    });
  }
}

async function loadFactory(api: Api, importPackage: ImportPackage): Promise<Factory> {
  const loaded = await loadPackage(api.package, importPackage);
  const factory = (loaded as Record<string, Factory | undefined>)[api.factory];
  if (factory !== undefined) return factory;
  const message = `the installed version of ${api.package} does not work with Plugboard`;
  throw noModel(message, {
    hint: `npm install ${api.package}@latest ai@latest`,
  });
}
