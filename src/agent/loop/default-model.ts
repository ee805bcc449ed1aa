// Which models to offer where none is configured: those of the providers whose key is set or stored, or what a running
// Ollama has.

import { connect } from "node:net";
import { expandValue } from "../../core/config/resolve.ts";
import type { ModelProvider } from "../../core/types/agent-config.ts";
import { isJsonObject, tryParseJson } from "../../core/types/json.ts";
import type { ModelKeys } from "../../core/types/model-keys.ts";
import { withProxy } from "../../core/net/proxy-env.ts";
import { type Clock, within } from "../../util/clock.ts";
import type { Environment } from "../../util/environment.ts";
import { DEFAULT_MODELS, keyVariablesOf, PROVIDERS } from "./provider.ts";

/** Ollama answers at once if it runs. Nobody should wait for one that is not there. */
const PROBE_MS = 500;
const LOOPBACK: ReadonlySet<string> = new Set(["127.0.0.1", "[::1]", "localhost"]);

export interface DefaultModels {
  /** The first is the default. */
  ids: readonly [string, ...string[]];
  /** Why this one: `ANTHROPIC_API_KEY is set`. */
  because: string;
}

export interface DefaultModelOptions {
  env: Environment;
  /** What a person has given; the environment comes first. */
  keys?: Pick<ModelKeys, "read">;
  clock: Clock;
  /** `models.providers` of the configuration. */
  providers?: Readonly<Record<string, ModelProvider>>;
  /** `network.proxy` of the configuration; overrides the environment. */
  proxy?: string;
}

/** Undefined if there is neither a key nor an Ollama. Does not reject. Ollama is asked only where there is no key. */
export async function findDefaultModels(
  options: DefaultModelOptions,
): Promise<DefaultModels | undefined> {
  const { env, keys } = options;
  const set = Object.keys(DEFAULT_MODELS).flatMap((provider) => {
    const variable = keyVariablesOf(provider).find((name) => env[name]);
    return variable === undefined ? [] : [{ provider, because: `${variable} is set` }];
  });
  const stored = await keys?.read();
  const given = Object.keys(DEFAULT_MODELS)
    .filter((provider) => stored?.has(provider) && !set.some((each) => each.provider === provider))
    .map((provider) => ({ provider, because: `you gave a key for ${provider}` }));
  const [first, ...others] = [...set, ...given].map(({ provider, because }) => ({
    id: `${provider}/${DEFAULT_MODELS[provider]}`,
    because,
  }));
  if (first !== undefined) {
    return { ids: [first.id, ...others.map(({ id }) => id)], because: first.because };
  }
  return ollamaModels(options).catch(() => undefined);
}

/** In Ollama's order, in which the one that was changed last comes first. */
async function ollamaModels(options: DefaultModelOptions): Promise<DefaultModels | undefined> {
  const { env, providers = {} } = options;
  const { baseUrl = "" } = providers["ollama"] ?? PROVIDERS["ollama"] ?? {};
  const url = new URL(expandValue(baseUrl, "models.providers.ollama.baseUrl", env));
  const names = await listModels(url, options);
  // A model that only makes embeddings cannot answer.
  const [first, ...others] = names
    .filter((name) => !/embed/i.test(name))
    .map((name) => `ollama/${name}`);
  if (first === undefined) return undefined;
  return { ids: [first, ...others], because: `Ollama runs at ${url.host}` };
}

async function listModels(url: URL, { env, clock, proxy }: DefaultModelOptions): Promise<string[]> {
  if (LOOPBACK.has(url.hostname) && !(await isListening(url, clock))) return [];
  const { createModelFetch } = await import("./model-fetch.ts");
  const network = createModelFetch(withProxy(env, proxy), clock);
  try {
    const asking = network.fetch(`${url.href.replace(/\/$/, "")}/models`, { method: "GET" });
    const text = await within(
      clock,
      PROBE_MS,
      asking.then((response) => response.text()),
    );
    const answer = tryParseJson(text ?? "");
    const list = isJsonObject(answer) && Array.isArray(answer["data"]) ? answer["data"] : [];
    return list.flatMap((each: unknown) =>
      isJsonObject(each) && typeof each["id"] === "string" ? [each["id"]] : [],
    );
  } finally {
    await network.close();
  }
}

/** The network stack takes longer to load than a closed port takes to refuse. Sends nothing. */
async function isListening({ hostname, port }: URL, clock: Clock): Promise<boolean> {
  const host = hostname.replace(/^\[|\]$/g, "");
  const socket = connect({ host, port: Number(port || 80) });
  const opened = new Promise<boolean>((resolve) => {
    socket.once("connect", () => resolve(true));
    socket.once("error", () => resolve(false));
  });
  const isOpen = await within(clock, PROBE_MS, opened);
  socket.destroy();
  return isOpen === true;
}
