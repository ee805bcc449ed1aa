// Remembers which configuration files were approved, and what they would have started at that time: `trust.json`
// in Plugboard's home.

import { createHash } from "node:crypto";
import { join } from "node:path";
import { isJsonObject } from "../../types/json.ts";
import { readJsonFileNow, writeJsonFile } from "../../state/json-file.ts";
import { withLock } from "../../state/lock.ts";
import { systemClock } from "../../../util/clock.ts";
import { placeOf } from "../find.ts";
import type { Launch } from "./trust.ts";

const FORMAT = 1;
const MAX_BYTES = 16 * 1024 * 1024;

export interface TrustRecord {
  file: string;
  /** When it was approved; milliseconds since the epoch. */
  at: number;
  /** Hashes by label. */
  approved: ReadonlyMap<string, string>;
}

/** Where the records of a home are kept. */
export function trustFile(home: string): string {
  return join(home, "trust.json");
}

/** Two records with one digest approve the same. */
export function digestOf({ file, approved }: TrustRecord): string {
  const byLabel = [...approved].toSorted(([a], [b]) => (a < b ? -1 : 1));
  const text = JSON.stringify([file, byLabel]);
  return createHash("sha256").update(text).digest("hex");
}

export class TrustStore {
  readonly #path: string;

  /** `home` is Plugboard's home. */
  constructor(home: string) {
    this.#path = trustFile(home);
  }

  /** In the order of approval. Empty where `trust.json` cannot be read. */
  async list(): Promise<TrustRecord[]> {
    const value = readJsonFileNow(this.#path, MAX_BYTES);
    if (!isJsonObject(value) || value["format"] !== FORMAT) return [];
    const { files } = value;
    return Array.isArray(files) ? files.flatMap((each) => toRecord(each) ?? []) : [];
  }

  async find(file: string): Promise<TrustRecord | undefined> {
    const place = placeOf(file);
    return (await this.list()).find((record) => record.file === place);
  }

  /** In place of what was approved before. */
  async approve(
    file: string,
    launches: readonly Pick<Launch, "label" | "hash">[],
    at: number,
  ): Promise<void> {
    const place = placeOf(file);
    const approved = new Map(launches.map(({ label, hash }) => [label, hash]));
    await this.#alone(async () =>
      this.#write([...(await this.#without(place)), { file: place, at, approved }]),
    );
  }

  /** False where it was not trusted. */
  async revoke(file: string): Promise<boolean> {
    const place = placeOf(file);
    return this.#alone(async () => {
      if (!(await this.list()).some((record) => record.file === place)) return false;
      await this.#write(await this.#without(place));
      return true;
    });
  }

  /** Another process may change the file at the same time. */
  #alone<Result>(task: () => Promise<Result>): Promise<Result> {
    return withLock(`${this.#path}.lock`, systemClock, task);
  }

  async #without(place: string): Promise<TrustRecord[]> {
    return (await this.list()).filter((record) => record.file !== place);
  }

  async #write(records: readonly TrustRecord[]): Promise<void> {
    const files = records.map(({ file, at, approved }) => ({ file, at, approved: [...approved] }));
    await writeJsonFile(this.#path, { format: FORMAT, files });
  }
}

function toRecord(value: unknown): TrustRecord | undefined {
  if (!isJsonObject(value)) return undefined;
  const { file, at, approved } = value;
  if (typeof file !== "string" || typeof at !== "number" || !Array.isArray(approved)) {
    return undefined;
  }
  return approved.every(isEntry) ? { file, at, approved: new Map(approved) } : undefined;
}

function isEntry(value: unknown): value is [string, string] {
  return (
    Array.isArray(value) && value.length === 2 && value.every((each) => typeof each === "string")
  );
}
