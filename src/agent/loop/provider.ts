// The model APIs that are supported: the package for each, and what its models accept.

import type { SupportedMedia } from "../../core/tools/model-content.ts";
import type { SchemaProvider } from "../../core/tools/schema/normalize.ts";
import type { ModelProvider, ModelProviderType } from "../../core/types/agent-config.ts";

/** What a model reads beside text, in prompts and in tool results. */
export interface MediaSupport {
  prompts: SupportedMedia;
  results: SupportedMedia;
  /** The API takes no image in a tool result itself, so it follows in a message of its own. */
  imagesFollow?: true;
}

export const IMAGES_AND_PDF: MediaSupport = {
  prompts: { image: true, document: true },
  results: { image: true, document: true },
};
/** Tool results of the chat completions API are text only: the SDK would write the bytes out. */
export const IMAGES_AFTER_RESULTS: MediaSupport = {
  prompts: { image: true },
  results: { image: true },
  imagesFollow: true,
};
/** For a model that has refused an image in a result. An image in a prompt is the user's decision. */
export const IMAGES_IN_PROMPTS: MediaSupport = { prompts: { image: true }, results: {} };
export const NO_IMAGES: MediaSupport = { prompts: {}, results: {} };

export interface Api {
  package: string;
  factory: string;
  /** Where the key is if none is configured, the first one that is set. Absent if the API may work without a key. */
  keyVariables?: readonly [string, ...string[]];
  /** Whose rules the tool schemas follow. */
  schemas: SchemaProvider;
  media: MediaSupport;
  /** The API refuses a request with more tools. */
  maxTools?: number;
  /** Tokens that fit into one request. */
  contextWindow: number;
  /** Provider options of the AI SDK, by the provider's name there. */
  options: Record<string, Record<string, boolean>>;
}

export const APIS: Readonly<Record<ModelProviderType, Api>> = {
  anthropic: {
    package: "@ai-sdk/anthropic",
    factory: "createAnthropic",
    keyVariables: ["ANTHROPIC_API_KEY"],
    schemas: "anthropic",
    media: IMAGES_AND_PDF,
    contextWindow: 200_000,
    options: {},
  },
  openai: {
    package: "@ai-sdk/openai",
    factory: "createOpenAI",
    keyVariables: ["OPENAI_API_KEY"],
    schemas: "openai",
    media: IMAGES_AND_PDF,
    maxTools: 128,
    contextWindow: 128_000,
    // We keep the conversation ourselves, so the provider does not need to store it.
    options: { openai: { store: false } },
  },
  google: {
    package: "@ai-sdk/google",
    factory: "createGoogleGenerativeAI",
    keyVariables: ["GEMINI_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY"],
    schemas: "google",
    media: IMAGES_AND_PDF,
    contextWindow: 1_000_000,
    options: {},
  },
  "openai-compatible": {
    package: "@ai-sdk/openai-compatible",
    factory: "createOpenAICompatible",
    schemas: "generic",
    media: IMAGES_AFTER_RESULTS,
    contextWindow: 32_000,
    options: {},
  },
};

/** The providers that need no configuration. A configured provider of the same name replaces one. */
export const PROVIDERS: Readonly<Record<string, ModelProvider>> = {
  anthropic: { type: "anthropic" },
  openai: { type: "openai" },
  google: { type: "google" },
  ollama: { type: "openai-compatible", baseUrl: "${OLLAMA_BASE_URL:-http://127.0.0.1:11434/v1}" },
};

/** What a model accepts: whose rules for schemas, how many tools, and how many tokens in one request. */
export type ModelLimits = Required<Pick<Api, "schemas" | "maxTools" | "contextWindow">>;

export function modelLimits({ type, contextWindow }: ModelProvider): ModelLimits {
  const api = APIS[type];
  return {
    schemas: api.schemas,
    maxTools: api.maxTools ?? Infinity,
    contextWindow: contextWindow ?? api.contextWindow,
  };
}

/** By name: the configured one, else one that needs no configuration. */
export function knownProviders(
  configured: Readonly<Record<string, ModelProvider>> = {},
): Map<string, ModelProvider> {
  return new Map([...Object.entries(PROVIDERS), ...Object.entries(configured)]);
}

/** The provider of a model, which is written `provider/model`. Undefined if there is no such provider. */
export function providerOf(
  model: string,
  configured?: Readonly<Record<string, ModelProvider>>,
): ModelProvider | undefined {
  return knownProviders(configured).get(model.slice(0, model.indexOf("/")));
}

/**
 * The model of each provider that is used where none is configured. The first provider whose key is set decides. With
 * Ollama it is one that has been pulled.
 */
export const DEFAULT_MODELS: Readonly<Record<string, string>> = {
  anthropic: "claude-sonnet-5",
  openai: "gpt-5.6",
  google: "gemini-flash-latest",
};

/** The variables that can have a built-in provider's key, the first one first. None for Ollama. */
export function keyVariablesOf(provider: string): readonly string[] {
  return APIS[PROVIDERS[provider]?.type ?? "openai-compatible"].keyVariables ?? [];
}
