// A model by its id, `provider/model`, ready to be asked: whose it is, the key, the address.

import type { LanguageModel } from "ai";
import type { SchemaProvider } from "../bridge/schema/normalize.ts";
import type { Environment } from "../util/environment.ts";
import { expandValue } from "../config/resolve.ts";
import { PlugboardError } from "../model/errors.ts";
import type { ModelProvider } from "../model/model-provider.ts";
import { behindProxy } from "../net/behind-proxy.ts";
import { closest } from "../util/closest.ts";
import { oneLine } from "../util/text.ts";
import { type Clock, systemClock } from "../util/clock.ts";
import { createModelFetch } from "./model-fetch.ts";
import {
  APIS,
  type Api,
  type ImportPackage,
  loadFactory,
  loadPackage,
  type MediaSupport,
  PROVIDERS,
  SDK,
} from "./provider.ts";

export interface AgentModel {
  /** As it was asked for. */
  id: string;
  languageModel: LanguageModel;
  /** Whose rules the schemas of tools follow. */
  schemas: SchemaProvider;
  media: MediaSupport;
  /** A request with more is refused. */
  maxTools: number;
  /** Tokens that fit into one request. */
  contextWindow: number;
  options: Api["options"];
  /** Takes the key out of a text. */
  redact: (text: string) => string;
  /** Ends its connections, idempotent. It is not asked after that. */
  close: () => Promise<void>;
}

export interface ModelOptions {
  /** `models.providers` of the configuration. */
  providers?: Readonly<Record<string, ModelProvider>>;
  env?: Environment;
  /** `network.proxy` of the configuration, instead of what the environment says. */
  proxy?: string;
  importPackage?: ImportPackage;
  /** Instead of the guarded way to the provider. */
  fetch?: typeof globalThis.fetch;
  clock?: Clock;
}

const EXAMPLE = "anthropic/claude-sonnet-4-5";

/**
 * Rejects with CONFIG_INVALID for an id, a provider or a package that is not there, and with
 * UNRESOLVED_VALUE for a missing key. Asks nobody.
 */
export async function openModel(id: string, options: ModelOptions = {}): Promise<AgentModel> {
  const { env = process.env, clock = systemClock } = options;
  const { importPackage = (name) => import(name) } = options;
  const { name, model } = readId(id);
  const provider = findProvider(name, options.providers ?? {});
  const api = APIS[provider.type];
  const apiKey = readKey(name, provider, api, env);
  const baseURL = setting(name, "baseUrl", provider.baseUrl, env);
  await loadPackage(SDK, importPackage);
  const create = await loadFactory(api, importPackage);
  const { fetch, close } = createModelFetch(behindProxy(env, options.proxy), clock);
  const settings = {
    name,
    fetch: options.fetch ?? fetch,
    includeUsage: true as const,
    ...(apiKey !== undefined && { apiKey }),
    ...(baseURL !== undefined && { baseURL }),
  };
  return {
    id,
    languageModel: create(settings)(model),
    schemas: api.schemas,
    media: api.media,
    maxTools: api.maxTools ?? Infinity,
    contextWindow: provider.contextWindow ?? api.contextWindow,
    options: api.options,
    redact: (text) => (apiKey ? text.replaceAll(apiKey, "[key]") : text),
    close,
  };
}

/** The model's own name may have slashes in it. */
function readId(id: string): { name: string; model: string } {
  const [, name, model] = /^([^/]+)\/(.+)$/s.exec(id) ?? [];
  if (name !== undefined && model !== undefined) return { name, model };
  throw new PlugboardError("CONFIG_INVALID", `'${oneLine(id, 200)}' does not name a model`, {
    hint: `write provider/model, as in ${EXAMPLE}`,
  });
}

function findProvider(
  name: string,
  configured: Readonly<Record<string, ModelProvider>>,
): ModelProvider {
  const known = new Map([...Object.entries(PROVIDERS), ...Object.entries(configured)]);
  const found = known.get(name);
  if (found !== undefined) return found;
  const meant = closest(name, known.keys());
  const names = [...known.keys()].join(", ");
  throw new PlugboardError("CONFIG_INVALID", `no model provider is named '${oneLine(name, 100)}'`, {
    hint:
      meant === undefined
        ? `there are ${names}; others are configured in models.providers`
        : `did you mean '${meant}'?`,
  });
}

function readKey(
  name: string,
  provider: ModelProvider,
  { keyVariable }: Api,
  env: Environment,
): string | undefined {
  const configured = setting(name, "apiKey", provider.apiKey, env);
  if (configured !== undefined || keyVariable === undefined) return configured;
  const key = env[keyVariable];
  if (key) return key;
  throw new PlugboardError(
    "UNRESOLVED_VALUE",
    `the model provider '${name}' needs an API key, and ${keyVariable} is not set`,
    {
      hint: `export ${keyVariable}=… (for an editor, put it into "env" of its settings for Plugboard), or set models.providers.${name}.apiKey`,
    },
  );
}

function setting(
  name: string,
  key: string,
  value: string | undefined,
  env: Environment,
): string | undefined {
  return value && expandValue(value, `models.providers.${name}.${key}`, env);
}
