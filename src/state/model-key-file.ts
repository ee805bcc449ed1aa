// The model keys that a person has given, in one file that only they can read.

import { rm } from "node:fs/promises";
import { join } from "node:path";
import { isJsonObject } from "../model/json.ts";
import type { ModelKeys } from "../model/model-keys.ts";
import { type Clock, systemClock } from "../util/clock.ts";
import { readJsonFile, readJsonFileNow, writeJsonFile } from "./json-file.ts";
import { withLock } from "./lock.ts";

const FORMAT = 1;
const MAX_BYTES = 64 * 1024;

export class ModelKeyFile implements ModelKeys {
  readonly path: string;
  readonly #clock: Clock;

  constructor(stateDir: string, clock: Clock = systemClock) {
    this.path = join(stateDir, "model-keys.json");
    this.#clock = clock;
  }

  async read(): Promise<ReadonlyMap<string, string>> {
    return keysIn(await readJsonFile(this.path, MAX_BYTES));
  }

  /** For what is redacted from the start, and cannot wait. */
  readNow(): ReadonlyMap<string, string> {
    return keysIn(readJsonFileNow(this.path, MAX_BYTES));
  }

  store(provider: string, key: string): Promise<void> {
    return this.#alone(async () => {
      const keys = new Map([...(await this.read()), [provider, key]]);
      await this.#write(keys);
    });
  }

  forget(provider?: string): Promise<string[]> {
    return this.#alone(async () => {
      const keys = new Map(await this.read());
      const forgotten = [...keys.keys()].filter((each) => each === (provider ?? each));
      for (const each of forgotten) keys.delete(each);
      // A file without a key in it, such as a damaged one, goes too.
      await (keys.size === 0 ? rm(this.path, { force: true }) : this.#write(keys));
      return forgotten;
    });
  }

  #write(keys: ReadonlyMap<string, string>): Promise<void> {
    return writeJsonFile(this.path, { format: FORMAT, keys: Object.fromEntries(keys) });
  }

  #alone<Result>(task: () => Promise<Result>): Promise<Result> {
    return withLock(`${this.path}.lock`, this.#clock, task);
  }
}

function keysIn(value: unknown): ReadonlyMap<string, string> {
  if (!isJsonObject(value) || value.format !== FORMAT || !isJsonObject(value.keys)) {
    return new Map();
  }
  return new Map(
    Object.entries(value.keys).filter(
      (entry): entry is [string, string] => typeof entry[1] === "string" && entry[1] !== "",
    ),
  );
}
