// The model keys that a person has given, or the references to them, in one file that only they can read.

import { rm } from "node:fs/promises";
import { join } from "node:path";
import { isJsonObject } from "../types/json.ts";
import type { GivenKey, ModelKeys } from "../types/model-keys.ts";
import { type Clock, systemClock } from "../../util/clock.ts";
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

  async read(): Promise<ReadonlyMap<string, GivenKey>> {
    return keysIn(await readJsonFile(this.path, MAX_BYTES));
  }

  /** The keys in the file itself, read synchronously: they have to be redacted from the start. */
  readNow(): string[] {
    return [...keysIn(readJsonFileNow(this.path, MAX_BYTES)).values()].flatMap((given) =>
      given.kind === "key" ? [given.key] : [],
    );
  }

  store(provider: string, key: GivenKey): Promise<void> {
    return this.#alone(async () => {
      const keys = new Map([...(await this.read()), [provider, key]]);
      await this.#write(keys);
    });
  }

  forget(provider?: string): Promise<ReadonlyMap<string, GivenKey>> {
    return this.#alone(async () => {
      const keys = new Map(await this.read());
      const forgotten = new Map([...keys].filter(([each]) => each === (provider ?? each)));
      for (const each of forgotten.keys()) keys.delete(each);
      // A file without a key in it, such as a damaged one, goes too.
      await (keys.size === 0 ? rm(this.path, { force: true }) : this.#write(keys));
      return forgotten;
    });
  }

  #write(keys: ReadonlyMap<string, GivenKey>): Promise<void> {
    const written = [...keys].map(([provider, given]) => {
      if (given.kind === "key") return [provider, given.key];
      const { reference, since } = given;
      return [provider, { reference, since }];
    });
    return writeJsonFile(this.path, { format: FORMAT, keys: Object.fromEntries(written) });
  }

  #alone<Result>(task: () => Promise<Result>): Promise<Result> {
    return withLock(`${this.path}.lock`, this.#clock, task);
  }
}

function keysIn(value: unknown): ReadonlyMap<string, GivenKey> {
  if (!isJsonObject(value) || value.format !== FORMAT || !isJsonObject(value.keys)) {
    return new Map();
  }
  return new Map(
    Object.entries(value.keys).flatMap(([provider, kept]): [string, GivenKey][] => {
      const given = givenKey(kept);
      return given === undefined ? [] : [[provider, given]];
    }),
  );
}

/** A text is the key itself. */
function givenKey(kept: unknown): GivenKey | undefined {
  if (typeof kept === "string") return kept === "" ? undefined : { kind: "key", key: kept };
  if (!isJsonObject(kept)) return undefined;
  const { reference, since } = kept;
  if (typeof reference !== "string" || typeof since !== "number") return undefined;
  return { kind: "reference", reference, since };
}
