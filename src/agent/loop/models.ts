// The models of an agent: opened when they are first needed, shared by all sessions and closed together.

import { PlugboardError } from "../../core/types/errors.ts";
import type { AgentModel, ModelOptions } from "./model.ts";

export class Models {
  /** Never empty. The first is the default. */
  readonly ids: readonly [string, ...string[]];
  readonly #options: ModelOptions;
  readonly #opened = new Map<string, Promise<AgentModel>>();
  /**
   * Models with keys that may no longer be used. They stay open until `close`, because a turn ends with the model that
   * it began with.
   */
  readonly #retired: Promise<AgentModel>[] = [];
  #isClosed = false;

  constructor(ids: readonly [string, ...string[]], options: ModelOptions = {}) {
    this.ids = ids;
    this.#options = options;
  }

  /** Rejects as `openModel` does. The next call tries again, since the user may have installed the package by then. */
  open(id: string): Promise<AgentModel> {
    const known = this.#opened.get(id);
    if (known !== undefined) return known;
    const opening = this.#open(id);
    this.#opened.set(id, opening);
    opening.catch(() => {
      if (this.#opened.get(id) === opening) this.#opened.delete(id);
    });
    return opening;
  }

  /** Loads the code of the default model, so that it is there even when too many files are open later. Never rejects. */
  async loadCode(): Promise<void> {
    const { loadModelCode } = await import("./model.ts");
    await loadModelCode(this.ids[0], this.#options);
  }

  /** From now on every model is opened with the keys that there are then. */
  reopenAll(): void {
    this.#retired.push(...this.#opened.values());
    this.#opened.clear();
  }

  /** Ends every connection, including those of models that are still being opened; idempotent. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const opened = [...this.#retired, ...this.#opened.values()];
    await Promise.allSettled(opened.map(async (model) => (await model).close()));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #open(id: string): Promise<AgentModel> {
    if (this.#isClosed) throw new PlugboardError("CONNECTION_CLOSED", "the agent is being closed");
    // It loads the network stack, which takes as long as everything else that `plugboard acp` loads to start.
    const { openModel } = await import("./model.ts");
    return openModel(id, this.#options);
  }
}
