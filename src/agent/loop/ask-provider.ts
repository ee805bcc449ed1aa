// Asks a model's provider whether it takes the key and has the model. Nothing is generated, so it costs nothing.

import type { ModelProviderType } from "../../core/types/agent-config.ts";
import { isJsonObject, tryParseJson } from "../../core/types/json.ts";
import { closest } from "../../util/closest.ts";
import { type Clock, systemClock } from "../../util/clock.ts";
import { errorMessage } from "../../util/error-message.ts";
import { oneLine } from "../../util/text.ts";
import { type ModelOptions, type OpenedProvider, openProvider } from "./model.ts";

export type ProviderAnswer =
  | { kind: "known" }
  /** `nearest` is the name of a model that may have been meant. */
  | { kind: "unknown-model"; nearest?: string }
  | { kind: "key-refused"; status: number }
  | { kind: "unreachable"; reason: string }
  /** The provider answers, but its answer does not tell whether it has the model. */
  | { kind: "unsure"; status: number };

const PATIENCE_MS = 5000;
const MOST_BYTES = 4 * 1024 * 1024;

/** Rejects as `openModel` does, where the provider cannot even be asked. Aborting `signal` ends the wait. */
export async function askProvider(
  id: string,
  options: ModelOptions,
  signal?: AbortSignal,
): Promise<ProviderAnswer> {
  const opened = await openProvider(id, options);
  const { clock = systemClock } = options;
  try {
    return await ask(opened, clock, signal);
  } catch (error) {
    const reason = opened.redact(oneLine(errorMessage(error), 300));
    return { kind: "unreachable", reason };
  } finally {
    await opened.close();
  }
}

interface Question {
  url: string;
  headers: Record<string, string>;
  /** The answer is a list of models, among which it has to be. */
  isList: boolean;
}

async function ask(
  opened: OpenedProvider,
  clock: Clock,
  unless: AbortSignal = new AbortController().signal,
): Promise<ProviderAnswer> {
  const { url, headers, isList } = questionFor(opened);
  const controller = new AbortController();
  const timer = clock.after(PATIENCE_MS, () =>
    controller.abort(new Error(`it did not answer within ${PATIENCE_MS / 1000} s`)),
  );
  try {
    const signal = AbortSignal.any([controller.signal, unless]);
    const response = await opened.fetch(url, { method: "GET", headers, signal });
    const { status } = response;
    const text = await readText(response);
    if (status === 401 || status === 403) return { kind: "key-refused", status };
    // Google answers so to a key that it does not know.
    if (status === 400 && opened.provider.type === "google") return { kind: "key-refused", status };
    if (status === 404 && !isList && opened.baseURL === undefined) return { kind: "unknown-model" };
    if (!response.ok) return { kind: "unsure", status };
    return isList ? findIn(text, opened.model, status) : { kind: "known" };
  } catch (error) {
    throw controller.signal.aborted ? controller.signal.reason : error;
  } finally {
    timer.cancel();
  }
}

/** The addresses that the SDKs have. */
const ADDRESSES: Readonly<Record<ModelProviderType, string>> = {
  anthropic: "https://api.anthropic.com/v1",
  openai: "https://api.openai.com/v1",
  google: "https://generativelanguage.googleapis.com/v1beta",
  "openai-compatible": "",
};

function questionFor({ provider, key, baseURL, model }: OpenedProvider): Question {
  const { type } = provider;
  const models = `${(baseURL ?? ADDRESSES[type]).replace(/\/+$/, "")}/models`;
  const one = `${models}/${encodeURIComponent(model)}`;
  const secret = key.first;
  const bearer: Record<string, string> =
    secret === undefined ? {} : { authorization: `Bearer ${secret}` };
  switch (type) {
    case "anthropic":
      return {
        url: one,
        headers: { "x-api-key": secret ?? "", "anthropic-version": "2023-06-01" },
        isList: false,
      };
    case "google":
      return { url: one, headers: { "x-goog-api-key": secret ?? "" }, isList: false };
    case "openai":
      return { url: one, headers: bearer, isList: false };
    case "openai-compatible":
      return { url: models, headers: bearer, isList: true };
  }
}

function findIn(text: string, model: string, status: number): ProviderAnswer {
  const answer = tryParseJson(text);
  const list = isJsonObject(answer) ? answer["data"] : undefined;
  if (!Array.isArray(list)) return { kind: "unsure", status };
  const ids = list.flatMap((each: unknown) =>
    isJsonObject(each) && typeof each["id"] === "string" ? [each["id"]] : [],
  );
  // Ollama adds a tag to a name without one.
  if (ids.includes(model) || ids.includes(`${model}:latest`)) return { kind: "known" };
  const nearest = closest(model, ids);
  return { kind: "unknown-model", nearest };
}

/** Stops reading after as many bytes as no list of models has. */
async function readText(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk as Uint8Array, { stream: true });
    if (text.length > MOST_BYTES) break;
  }
  return text;
}
