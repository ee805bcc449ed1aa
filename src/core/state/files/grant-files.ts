// What sign-ins produce, in files that only their owner can read: one for each document.

import { rm } from "node:fs/promises";
import { join } from "node:path";
import { isJsonObject, type JsonObject } from "../../types/json.ts";
import type { GrantDocument, GrantStore } from "../../types/shared-state.ts";
import { canonicalJson } from "../../../util/canonical-json.ts";
import type { Clock } from "../../../util/clock.ts";
import { readJsonFile, writeJsonFile } from "../json-file.ts";
import { withLock } from "../lock.ts";

const MAX_BYTES = 1024 * 1024;

export class GrantFiles implements GrantStore {
  readonly #directory: string;
  readonly #clock: Clock;

  constructor(stateDir: string, clock: Clock) {
    this.#directory = join(stateDir, "auth");
    this.#clock = clock;
  }

  async read(kind: GrantDocument, key: string): Promise<JsonObject | undefined> {
    const value = await readJsonFile(this.#path(kind, key), MAX_BYTES);
    return isJsonObject(value) ? value : undefined;
  }

  write(kind: GrantDocument, key: string, value: JsonObject): Promise<void> {
    return this.#alone(kind, key, () => writeJsonFile(this.#path(kind, key), value));
  }

  remove(kind: GrantDocument, key: string): Promise<void> {
    return this.#alone(kind, key, () => rm(this.#path(kind, key), { force: true }));
  }

  replace(
    kind: GrantDocument,
    key: string,
    before: JsonObject | undefined,
    after: JsonObject | undefined,
  ): Promise<boolean> {
    return this.#alone(kind, key, async () => {
      if (canonicalJson(await this.read(kind, key)) !== canonicalJson(before)) return false;
      const path = this.#path(kind, key);
      await (after === undefined ? rm(path, { force: true }) : writeJsonFile(path, after));
      return true;
    });
  }

  withLease<Result>(key: string, task: () => Promise<Result>): Promise<Result> {
    return withLock(join(this.#directory, `grant-${key}.lock`), this.#clock, task);
  }

  #path(kind: GrantDocument, key: string): string {
    return join(this.#directory, `${kind}-${key}.json`);
  }

  /** Apart from the lease: its holder writes too. */
  #alone<Result>(kind: GrantDocument, key: string, task: () => Promise<Result>): Promise<Result> {
    return withLock(`${this.#path(kind, key)}.lock`, this.#clock, task);
  }
}
