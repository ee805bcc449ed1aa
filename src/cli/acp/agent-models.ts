// The models that answer the sessions of `plugboard acp`. It runs for as long as the editor does, so a key that you give
// meanwhile is used from the next session on, and one that you take back is not used any more.

import { Models } from "../../agent/loop/models.ts";
import type { AgentConfig } from "../../core/types/agent-config.ts";
import { canonicalJson } from "../../util/canonical-json.ts";
import type { CliContext } from "../context.ts";
import { forgetKeys, modelKeys } from "../given-keys.ts";
import { chooseModels, modelOptions } from "../models.ts";

export interface CurrentModels {
  models: Models;
  /** Says which model is used and why, where nobody has chosen one. */
  notice?: string | undefined;
}

interface Choice {
  /** Undefined if there was no model at all. */
  found: CurrentModels | undefined;
  /** The stored keys that it was made with, as one text. */
  keys: string;
}

export class AgentModels {
  readonly #agent: AgentConfig;
  /** The model on the command line. */
  readonly #asked: string | undefined;
  readonly #context: CliContext;
  readonly #keys;
  readonly #programPath: Promise<string | undefined> | undefined;
  readonly #secrets = new Set<string>();
  /** Sessions keep the models that they were opened with. */
  readonly #all: Models[] = [];
  /** The latest choice, which every question waits for. */
  #current: Promise<Choice>;

  /** Begins to look for a model at once. */
  constructor(
    agent: AgentConfig,
    asked: string | undefined,
    context: CliContext,
    programPath?: Promise<string | undefined>,
  ) {
    this.#programPath = programPath;
    this.#agent = agent;
    this.#asked = asked;
    this.#context = context;
    this.#keys = modelKeys(context);
    this.#current = this.#choose(undefined);
  }

  /** Undefined if there is no model at all. Does not reject. */
  async current(): Promise<CurrentModels | undefined> {
    this.#current = this.#current.then(async (last) => {
      const isSame = last.keys === (await this.#readKeys());
      return isSame && last.found !== undefined ? last : this.#choose(last.found);
    });
    return (await this.#current).found;
  }

  /** The keys that models were opened with so far, and the secrets of their settings. */
  get secrets(): ReadonlySet<string> {
    return this.#secrets;
  }

  /** Whether the model that is used by default has its key. */
  async canAnswer(): Promise<boolean> {
    const { models } = (await this.current()) ?? {};
    return (
      models !== undefined &&
      models.open(models.ids[0]).then(
        () => true,
        () => false,
      )
    );
  }

  /** Forgets the keys that you have given. Resolves to the providers whose key was there. */
  async forgetKeys(): Promise<string[]> {
    try {
      return await forgetKeys(undefined, this.#context);
    } finally {
      for (const models of this.#all) models.reopenAll();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#current;
    await Promise.all(this.#all.map((models) => models.close()));
  }

  async #choose(last: CurrentModels | undefined): Promise<Choice> {
    const keys = await this.#readKeys();
    const chosen = await chooseModels(this.#agent, this.#asked, this.#context);
    if (chosen === undefined) return { found: undefined, keys };
    const { ids, notice } = chosen;
    if (notice !== undefined && notice !== last?.notice) {
      this.#context.screen.note(`plugboard: ${notice}`);
    }
    if (last !== undefined && canonicalJson(last.models.ids) === canonicalJson(ids)) {
      last.models.reopenAll();
      return { found: last, keys };
    }
    const models = new Models(ids, {
      ...modelOptions(this.#agent, this.#context, this.#programPath),
      onSecret: (secret) => this.#secrets.add(secret),
    });
    this.#all.push(models);
    return { found: { models, notice }, keys };
  }

  async #readKeys(): Promise<string> {
    return canonicalJson([...(await this.#keys.read())]);
  }
}
