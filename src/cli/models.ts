// Which models a command uses: the one on its command line, those of the configuration, or those that a key or a
// running Ollama stands for.

import { findDefaultModels } from "../agent/loop/default-model.ts";
import type { ModelOptions } from "../agent/loop/model.ts";
import type { AgentConfig } from "../core/types/agent-config.ts";
import type { CliContext } from "./context.ts";
import { modelKeys } from "./given-keys.ts";

export interface ChosenModels {
  /** The first is the default. */
  ids: readonly [string, ...string[]];
  /** Says which model is used and why, where nobody has chosen one. */
  notice?: string;
}

/** `asked` is the one on the command line. Undefined if there is no model at all. Sends no request to a provider. */
export async function chooseModels(
  agent: AgentConfig,
  asked: string | undefined,
  context: Pick<CliContext, "io" | "clock">,
): Promise<ChosenModels | undefined> {
  const { models = [], modelProviders: providers, networkProxy: proxy } = agent;
  const [first, ...others] = new Set(asked === undefined ? models : [asked, ...models]);
  if (first !== undefined) return { ids: [first, ...others] };
  const { io, clock } = context;
  const keys = modelKeys(context);
  const found = await findDefaultModels({ env: io.env, keys, clock, providers, proxy });
  if (found === undefined) return undefined;
  const { ids, because } = found;
  const text = `no model is configured; using ${ids[0]}, because ${because} (--model or "model" in the configuration chooses another)`;
  return { ids, notice: text };
}

export function modelOptions(
  agent: AgentConfig,
  context: Pick<CliContext, "io" | "clock">,
  programPath?: Promise<string | undefined>,
): ModelOptions {
  const { io, clock } = context;
  const { modelProviders: providers, networkProxy: proxy, secrets } = agent;
  const { modelNotice: notice, modelTimeout: timeout } = agent;
  const keys = modelKeys(context);
  return { env: io.env, keys, clock, providers, proxy, notice, timeout, secrets, programPath };
}
