// The schema of models: what an id looks like, and where others than the well-known ones are asked.

import type { ModelProvider, ModelProviderType } from "../model/model-provider.ts";
import { byType, mapOf, object } from "./compound.ts";
import { integer, oneOf, resolvable, resolvableUrl } from "./fields.ts";
import type { Schema } from "./kit.ts";
import { nameProblem } from "./names.ts";

const LARGEST_WINDOW = 100_000_000;

export function modelIdProblem(id: string): string | undefined {
  return /^[^/]+\/./.test(id)
    ? undefined
    : "does not name a model; expected provider/model, as in anthropic/claude-sonnet-4-5";
}

export function modelProviders(): Schema<Record<string, ModelProvider>> {
  const provider = byType<ModelProvider>(
    {
      anthropic: hosted("anthropic"),
      openai: hosted("openai"),
      google: hosted("google"),
      "openai-compatible": object({
        ...common("openai-compatible"),
        baseUrl: resolvableUrl(),
      }),
    },
    'an object such as { type: "openai-compatible", baseUrl }',
  );
  return mapOf(provider, (name) => nameProblem(name, ""));
}

function hosted<const Type extends ModelProviderType>(type: Type) {
  return object({ ...common(type), baseUrl: resolvableUrl().optional() });
}

function common<const Type extends ModelProviderType>(type: Type) {
  return {
    type: oneOf([type]),
    apiKey: resolvable().optional(),
    contextWindow: integer(1000, LARGEST_WINDOW, " of tokens").optional(),
  };
}
