// The APIs that models are asked through: the package that speaks each of them, loaded when it is needed,
// and what its models take.

import type { LanguageModel } from "ai";
import type { SchemaProvider } from "../bridge/schema/normalize.ts";
import { PlugboardError } from "../model/errors.ts";
import type { ModelProvider, ModelProviderType } from "../model/agent-config.ts";

/** Images and PDF wherever they are, or nothing but images in what a person says. */
export type MediaSupport = "full" | "prompt-images";

interface FactorySettings {
  name: string;
  apiKey?: string;
  baseURL?: string;
  fetch: typeof globalThis.fetch;
  /** One API tells what was used only when asked. */
  includeUsage: true;
}

type Factory = (settings: FactorySettings) => (modelId: string) => LanguageModel;

export interface Api {
  package: string;
  factory: string;
  /** Absent where a key is not always needed. */
  keyVariable?: string;
  schemas: SchemaProvider;
  media: MediaSupport;
  /** A request with more is refused. */
  maxTools?: number;
  contextWindow: number;
  /** By the provider's own name for itself. */
  options: Record<string, Record<string, boolean>>;
}

export const APIS: Readonly<Record<ModelProviderType, Api>> = {
  anthropic: {
    package: "@ai-sdk/anthropic",
    factory: "createAnthropic",
    keyVariable: "ANTHROPIC_API_KEY",
    schemas: "anthropic",
    media: "full",
    contextWindow: 200_000,
    options: {},
  },
  openai: {
    package: "@ai-sdk/openai",
    factory: "createOpenAI",
    keyVariable: "OPENAI_API_KEY",
    schemas: "openai",
    media: "full",
    maxTools: 128,
    contextWindow: 128_000,
    // The conversation is kept here, and must not depend on what is still kept there.
    options: { openai: { store: false } },
  },
  google: {
    package: "@ai-sdk/google",
    factory: "createGoogleGenerativeAI",
    keyVariable: "GOOGLE_GENERATIVE_AI_API_KEY",
    schemas: "google",
    media: "full",
    contextWindow: 1_000_000,
    options: {},
  },
  "openai-compatible": {
    package: "@ai-sdk/openai-compatible",
    factory: "createOpenAICompatible",
    schemas: "generic",
    // In a tool's result its chat API has text alone: the bytes would be written out.
    media: "prompt-images",
    contextWindow: 32_000,
    options: {},
  },
};

/** Known without being configured. An entry of the configuration with such a name replaces it. */
export const PROVIDERS: Readonly<Record<string, ModelProvider>> = {
  anthropic: { type: "anthropic" },
  openai: { type: "openai" },
  google: { type: "google" },
  ollama: { type: "openai-compatible", baseUrl: "${OLLAMA_BASE_URL:-http://127.0.0.1:11434/v1}" },
};

/** What all the others are used through. */
export const SDK = "ai";

export type ImportPackage = (name: string) => Promise<object>;

/** Rejects with CONFIG_INVALID, and the command to run, where the package is not installed. */
export async function loadFactory(api: Api, importPackage: ImportPackage): Promise<Factory> {
  const loaded = await loadPackage(api.package, importPackage);
  return (loaded as Record<string, Factory | undefined>)[api.factory] ?? unfit(api.package);
}

export async function loadPackage(name: string, importPackage: ImportPackage): Promise<object> {
  try {
    return await importPackage(name);
  } catch (cause) {
    if (!isMissing(cause)) throw cause;
    throw new PlugboardError("CONFIG_INVALID", `the package ${name} is not installed`, {
      cause,
      hint: `npm install ${name === SDK ? SDK : `${name} ${SDK}`}, with -g if Plugboard was installed so`,
    });
  }
}

function unfit(name: string): never {
  throw new PlugboardError("CONFIG_INVALID", `the installed ${name} is not one that fits`, {
    hint: `npm install ${name}@latest ai@latest`,
  });
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ERR_MODULE_NOT_FOUND";
}
