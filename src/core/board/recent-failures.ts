// Remembers on disk which servers could not be started in the last minutes, or were late, so that a command that lists what
// all servers have, and a client that lists them, do not wait for a dead one every time. A server is known by a hash of its definition and of
// the values of its variables: change either, and its failure is forgotten.

import { hash } from "node:crypto";
import { existsSync } from "node:fs";
import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { asWritten, resolveTarget } from "../config/resolve.ts";
import { type ErrorCode, PlugboardError } from "../types/errors.ts";
import { isJsonObject } from "../types/json.ts";
import type { ServerDefinition } from "../types/server-definition.ts";
import { readJsonFile, writeJsonFile } from "../state/json-file.ts";
import type { Clock } from "../../util/clock.ts";
import type { Environment } from "../../util/environment.ts";
import { removeFile } from "../../util/own-file.ts";
import { duration } from "../../util/text.ts";

const FORMAT = 1;
const MAX_BYTES = 64 * 1024;
/** How long a failure is remembered. */
const RECENT_MS = 5 * 60_000;

/** `late`: it had not answered yet, and nobody knows how that start ended. */
export interface RecentStart {
  kind: "failed" | "late";
  error: PlugboardError;
}

export class RecentFailures {
  readonly #directory: string;
  readonly #clock: Clock;

  constructor(stateDir: string, clock: Clock) {
    this.#directory = join(stateDir, "failures");
    this.#clock = clock;
  }

  /** What became of the last start, if that was a few minutes ago; the message of its error says when. */
  async read(key: string): Promise<RecentStart | undefined> {
    const value = await readJsonFile(this.#path(key), MAX_BYTES);
    if (!isJsonObject(value) || value.format !== FORMAT) return undefined;
    const { failedAt, code, message, hint, quote, isHintQuoted } = value;
    if (typeof failedAt !== "number" || typeof code !== "string") return undefined;
    if (typeof message !== "string") return undefined;
    const age = this.#clock.now() - failedAt;
    if (!(age >= 0 && age < RECENT_MS)) return undefined;
    const error = new PlugboardError(code as ErrorCode, `${message}; tried ${ago(age)}`, {
      hint: typeof hint === "string" ? hint : undefined,
      quote: typeof quote === "string" ? quote : undefined,
      isHintQuoted: isHintQuoted === true,
    });
    return { kind: value.kind === "late" ? "late" : "failed", error };
  }

  /** `error` must not contain secrets. Also deletes what is too old to count. */
  async record(
    key: string,
    kind: RecentStart["kind"],
    error: Pick<PlugboardError, "code" | "message" | "hint" | "quote" | "isHintQuoted">,
  ): Promise<void> {
    const failedAt = this.#clock.now();
    const { code, message, hint, quote, isHintQuoted } = error;
    const failure = { code, message, hint, quote, isHintQuoted };
    await writeJsonFile(this.#path(key), { format: FORMAT, kind, failedAt, ...failure });
    for (const name of await readdir(this.#directory)) {
      const path = join(this.#directory, name);
      const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: failedAt }));
      if (failedAt - mtimeMs > RECENT_MS) await rm(path, { force: true });
    }
  }

  async forget(key: string): Promise<void> {
    const path = this.#path(key);
    // Most servers have none, and an attempt to remove one costs many times as much as this.
    if (existsSync(path)) await removeFile(path);
  }

  #path(key: string): string {
    return join(this.#directory, `${key}.json`);
  }
}

function ago(ms: number): string {
  return ms < 1000 ? "just now" : `${duration(ms)} ago`;
}

/** Undefined while a variable of the server is not set. */
export function failureKey(
  definition: ServerDefinition,
  cwd: string,
  env: Environment,
): string | undefined {
  const { name, target, protocol, timeout } = definition;
  try {
    const resolved = resolveTarget(definition, env, undefined, asWritten);
    const started = JSON.stringify([name, target, resolved, protocol, timeout, cwd]);
    return hash("sha256", started).slice(0, 32);
  } catch {
    return undefined;
  }
}
