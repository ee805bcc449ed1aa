// The model of `plugboard ask`, `plugboard acp` and sampling: its key, its package, and whether its provider has it.

import { askProvider, type ProviderAnswer } from "../../agent/loop/ask-provider.ts";
import { openModel } from "../../agent/loop/model.ts";
import { DEFAULT_MODELS, keyVariablesOf } from "../../agent/loop/provider.ts";
import { parseAgentConfig } from "../../core/config/parse.ts";
import { PlugboardError } from "../../core/types/errors.ts";
import { inWords } from "../../util/text.ts";
import { visible } from "../../util/visible.ts";
import { chooseModels, modelOptions } from "../models.ts";
import type { CheckGroup, Finding } from "./finding.ts";

export const modelGroup: CheckGroup = {
  title: "Model",
  async run({ quiet, config }) {
    const found = await config();
    const agent = found.kind === "usable" ? found.agent : parseAgentConfig({ servers: {} });
    const { models: configured = [] } = agent;
    const chosen = await chooseModels(agent, undefined, quiet);
    if (chosen === undefined) return [noModel()];
    // If no model is configured, only the first model of the environment is used.
    const ids = configured.length > 0 ? chosen.ids : chosen.ids.slice(0, 1);
    const level = configured.length > 0 ? "broken" : "warning";
    const options = modelOptions(agent, quiet);
    return Promise.all(ids.map((id) => checkModel(id, level, options, quiet.signal)));
  },
};

function noModel(): Finding {
  const variables = Object.keys(DEFAULT_MODELS).flatMap((name) => keyVariablesOf(name).slice(0, 1));
  return {
    level: "note",
    check: "no-model",
    message:
      "there is no model, which plugboard ask, plugboard acp and servers that ask a model would need",
    remedy: `if you want to use one, set ${inWords(variables, "or")}, start Ollama, or set "model" in the configuration`,
  };
}

async function checkModel(
  id: string,
  level: "broken" | "warning",
  options: ReturnType<typeof modelOptions>,
  signal: AbortSignal,
): Promise<Finding> {
  const about = { check: "model", subject: visible(id) };
  try {
    const model = await openModel(id, options);
    await model.close();
    return answerFinding(id, level, await askProvider(id, options, signal));
  } catch (error) {
    if (!(error instanceof PlugboardError)) throw error;
    const { message, hint } = error;
    const remedy = hint ?? 'change "model" in the configuration';
    return { ...about, level, message: `${visible(id)} cannot be used: ${message}`, remedy };
  }
}

export function answerFinding(
  id: string,
  level: "broken" | "warning",
  answer: ProviderAnswer,
): Finding {
  const name = visible(id);
  const [provider = "", ...rest] = name.split("/");
  const model = rest.join("/");
  const isOllama = provider === "ollama";
  const [variable] = keyVariablesOf(provider);
  const about = { check: "model", subject: name };
  switch (answer.kind) {
    case "known":
      return { ...about, level: "ok", message: name };
    case "unsure":
      return {
        ...about,
        level: "ok",
        message: `${name}: the provider answers, and does not say whether it has the model (status ${answer.status})`,
      };
    case "unknown-model":
      return {
        ...about,
        check: "model-unknown",
        level,
        message: `${provider} has no model '${model}'${answer.nearest === undefined ? "" : `; did you mean '${visible(answer.nearest)}'?`}`,
        remedy: isOllama
          ? `to get it:\n  ollama pull ${model}\nor change "model" in the configuration`
          : 'change "model" in the configuration',
      };
    case "key-refused":
      return {
        ...about,
        check: "model-key",
        level,
        message: `${provider} does not accept the key for '${model}' (status ${answer.status})`,
        remedy:
          variable === undefined
            ? `check models.providers.${provider}.apiKey in the configuration`
            : `check ${variable}, or models.providers.${provider}.apiKey in the configuration`,
      };
    case "unreachable":
      return {
        ...about,
        check: "model-unreachable",
        level: isOllama ? level : "warning",
        message: `${provider} cannot be reached: ${answer.reason}`,
        remedy: isOllama
          ? "to start it:\n  ollama serve\nif it runs elsewhere, set OLLAMA_BASE_URL"
          : "check the network, the proxy settings, and the address in models.providers",
      };
  }
}
