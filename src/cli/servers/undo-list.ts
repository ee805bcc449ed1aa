// The last changes that commands and the page have made to configuration files, so that each can be undone: the file's
// text before and after. These texts hold whatever credentials the files hold, so they are sealed, with a key in a file of
// its own beside them.

import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { SealedValues } from "../../core/state/engines/sealed-values.ts";
import { readJsonFile, writeJsonFile } from "../../core/state/json-file.ts";
import { withLock } from "../../core/state/lock.ts";
import { isJsonObject, tryParseJson } from "../../core/types/json.ts";
import type { Clock } from "../../util/clock.ts";

export interface KeptChange {
  /** Milliseconds since the epoch. */
  at: number;
  /** In words: `remove docs`. */
  what: string;
  /** The name of the command that made it; `up` for the page. */
  command: string;
  file: string;
  /** Undefined where the change has made the file. */
  before: string | undefined;
  after: string;
}

/** How many changes are kept. */
export const MOST_KEPT = 10;

const FORMAT = 1;
const LARGEST_KEY = 1024;
const LARGEST_LIST = 256 * 1024 * 1024;

/** As it is stored. The last member is the texts. */
type StoredChange = Omit<KeptChange, "before" | "after"> & { sealed: string };

export class UndoList {
  readonly #directory: string;
  readonly #clock: Clock;

  /** `home` is Plugboard's home. */
  constructor(home: string, clock: Clock) {
    this.#directory = join(home, "undo");
    this.#clock = clock;
  }

  /** The latest first. What cannot be opened is left out. */
  async list(): Promise<KeptChange[]> {
    const stored = await this.#stored();
    const seal = stored.length === 0 ? undefined : await this.#seal();
    if (seal === undefined) return [];
    return stored.flatMap((each) => opened(each, seal) ?? []);
  }

  /** Returns the changes that are not kept any more, because there are too many. */
  async add({ before, after, ...change }: KeptChange): Promise<KeptChange[]> {
    return this.#alone(async () => {
      const seal = (await this.#seal()) ?? (await this.#newSeal());
      const texts = gzipSync(JSON.stringify({ before, after })).toString("base64");
      const sealed = seal.seal(texts, placeOf(change));
      const all = [{ ...change, sealed }, ...(await this.#stored())];
      await this.#write(all.slice(0, MOST_KEPT));
      return all.slice(MOST_KEPT).flatMap((each) => opened(each, seal) ?? []);
    });
  }

  async remove({ at, file }: Pick<KeptChange, "at" | "file">): Promise<void> {
    await this.#alone(async () => {
      const stored = await this.#stored();
      await this.#write(stored.filter((each) => each.at !== at || each.file !== file));
    });
  }

  async #stored(): Promise<StoredChange[]> {
    const value = await readJsonFile(this.#path("changes.json"), LARGEST_LIST);
    if (!isJsonObject(value) || value["format"] !== FORMAT) return [];
    const { changes } = value;
    return Array.isArray(changes) ? changes.filter(isStored) : [];
  }

  #write(changes: readonly StoredChange[]): Promise<void> {
    return writeJsonFile(this.#path("changes.json"), { format: FORMAT, changes });
  }

  /** Undefined if there is no key. */
  async #seal(): Promise<SealedValues | undefined> {
    const value = await readJsonFile(this.#path("key.json"), LARGEST_KEY);
    const key = isJsonObject(value) ? value["key"] : undefined;
    return typeof key === "string" ? new SealedValues([key], randomBytes) : undefined;
  }

  async #newSeal(): Promise<SealedValues> {
    const key = randomBytes(32).toString("base64");
    await writeJsonFile(this.#path("key.json"), { key });
    return new SealedValues([key], randomBytes);
  }

  #path(name: string): string {
    return join(this.#directory, name);
  }

  #alone<Result>(task: () => Promise<Result>): Promise<Result> {
    return withLock(this.#path("changes.json.lock"), this.#clock, task);
  }
}

/** What the texts belong to: they open nowhere else. */
function placeOf({ at, what, command, file }: Omit<StoredChange, "sealed">): string {
  return JSON.stringify([at, what, command, file]);
}

function opened(stored: StoredChange, seal: SealedValues): KeptChange | undefined {
  const { sealed, ...change } = stored;
  try {
    const texts = seal.open(sealed, placeOf(change));
    if (texts === undefined) return undefined;
    const read = tryParseJson(gunzipSync(Buffer.from(texts, "base64")).toString("utf8"));
    if (!isJsonObject(read) || typeof read["after"] !== "string") return undefined;
    const { before, after } = read;
    return { ...change, before: typeof before === "string" ? before : undefined, after };
  } catch {
    // The key is another one by now, or somebody has edited the file.
    return undefined;
  }
}

function isStored(value: unknown): value is StoredChange {
  if (!isJsonObject(value) || typeof value["at"] !== "number") return false;
  return ["what", "command", "file", "sealed"].every((key) => typeof value[key] === "string");
}
