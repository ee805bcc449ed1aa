// Sessions that a scripted model answers.

import { afterEach } from "vitest";
import { Models } from "../../../src/agent/loop/models.ts";
import { modelResponder } from "../../../src/agent/acp/responder/model-responder.ts";
import type { NewResponder } from "../../../src/agent/acp/responder/responder.ts";
import { type Model, type ModelOptions, startModel } from "../../support/model/start.mjs";

interface ScriptedSettings {
  /** Milliseconds of silence until the user is told, and until the model is given up. */
  notice?: number;
  timeout?: number;
  /** Default: "Be brief." */
  systemPrompt?: string | undefined;
  contextWindow?: number;
}

export interface Scripted {
  /** Starts a model that gives these answers; it replaces the previous one. */
  script(
    turns: ModelOptions["turns"],
    maxSteps?: number,
    settings?: ScriptedSettings,
  ): Promise<NewResponder>;
  /** What the latest one was asked. */
  readonly requests: Model["requests"];
}

/** Call it at the top of a suite, after `useDesk`. */
export function useScripted(): Scripted {
  const open: { model: Model; models: Models }[] = [];
  afterEach(async () => {
    await Promise.all(
      open.splice(0).map(async ({ model, models }) => {
        await models.close();
        await model.close();
      }),
    );
  });
  return {
    get requests() {
      return open.at(-1)?.model.requests ?? [];
    },
    async script(turns, maxSteps = 5, settings = {}) {
      const {
        systemPrompt,
        contextWindow = 200_000,
        ...silence
      } = {
        systemPrompt: "Be brief.",
        ...settings,
      };
      const model = await startModel({ turns });
      const baseUrl = `${model.url}/v1`;
      const scripted = { type: "anthropic" as const, baseUrl, apiKey: "k", contextWindow };
      const models = new Models(["scripted/m"], {
        env: {},
        providers: { scripted },
        ...silence,
      });
      open.push({ model, models });
      const options = { models, maxSteps, systemPrompt };
      return (past, chosen) => modelResponder(past, options, chosen);
    },
  };
}
