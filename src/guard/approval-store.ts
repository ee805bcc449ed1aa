// Remembers for which tools the answer was "always", by the hash of the tool's definition: when the definition
// changes, the user is asked again. Approvals for a session's own server end with the process.

import { join } from "node:path";
import type { ToolSubject } from "../model/guard.ts";
import { isJsonObject } from "../model/json.ts";
import { readJsonFile, writeJsonFile } from "../state/json-file.ts";
import { withLock } from "../state/lock.ts";
import { type Clock, systemClock } from "../util/clock.ts";

const FORMAT = 1;
const MAX_BYTES = 8 * 1024 * 1024;
/** Beyond this, the oldest are dropped, and the user is asked again. */
const MOST_APPROVALS = 10_000;

/** The call waits while another process holds the lock. */
const PATIENCE_MS = 2000;

interface Approval {
  tool: string;
  hash: string;
  /** Milliseconds since the epoch. */
  at: number;
}

export interface ApprovalStoreOptions {
  /** Without it, nothing outlives the process. */
  stateDir?: string;
  clock?: Clock;
  /** The answer still counts in this process. */
  onWriteError?: (error: unknown) => void;
}

export class ApprovalStore {
  readonly #file: string | undefined;
  readonly #clock: Clock;
  readonly #onWriteError: (error: unknown) => void;
  readonly #granted = new Set<string>();
  #writing: Promise<void> = Promise.resolve();

  constructor({ stateDir, clock = systemClock, onWriteError = () => {} }: ApprovalStoreOptions) {
    this.#file = stateDir === undefined ? undefined : join(stateDir, "approvals.json");
    this.#clock = clock;
    this.#onWriteError = onWriteError;
  }

  /** Reads the file again if it does not know: another process may have the answer, and the user need not be asked. */
  async has(subject: ToolSubject): Promise<boolean> {
    if (this.#granted.has(keyOf(subject))) return true;
    if (this.#file === undefined || subject.origin === "session") return false;
    const { canonical, hash } = subject;
    const approvals = await readApprovals(this.#file);
    if (!approvals.some((each) => each.tool === canonical && each.hash === hash)) return false;
    this.#granted.add(keyOf(subject));
    return true;
  }

  /** Never rejects. */
  async add(subject: ToolSubject): Promise<void> {
    this.#granted.add(keyOf(subject));
    const file = this.#file;
    if (file === undefined || subject.origin === "session") return;
    const approval: Approval = {
      tool: subject.canonical,
      hash: subject.hash,
      at: this.#clock.now(),
    };
    const write = (): Promise<void> =>
      withLock(`${file}.lock`, this.#clock, () => merge(file, approval), PATIENCE_MS);
    this.#writing = this.#writing.then(write).catch(this.#onWriteError);
    await this.#writing;
  }
}

function keyOf({ canonical, hash, origin }: ToolSubject): string {
  return JSON.stringify([origin === "session", canonical, hash]);
}

/** Adds to what is in the file now, because other processes write to it too. */
async function merge(file: string, { tool, hash, at }: Approval): Promise<void> {
  const others = (await readApprovals(file)).filter(
    (each) => each.tool !== tool || each.hash !== hash,
  );
  const approvals = [...others, { tool, hash, at }].slice(-MOST_APPROVALS);
  await writeJsonFile(file, { format: FORMAT, approvals });
}

async function readApprovals(file: string): Promise<Approval[]> {
  const value = await readJsonFile(file, MAX_BYTES);
  if (!isJsonObject(value) || value.format !== FORMAT || !Array.isArray(value.approvals)) return [];
  return value.approvals.filter(isApproval);
}

function isApproval(value: unknown): value is Approval {
  return (
    isJsonObject(value) &&
    typeof value.tool === "string" &&
    typeof value.hash === "string" &&
    typeof value.at === "number"
  );
}
