// The approvals for good in one file, which several processes may change.

import { stat } from "node:fs/promises";
import { join } from "node:path";
import type { StoredApproval } from "../../types/approval.ts";
import { isJsonObject } from "../../types/json.ts";
import type { ApprovalKey, ApprovalStore } from "../../types/shared-state.ts";
import { type Clock, systemClock } from "../../../util/clock.ts";
import { readJsonFile, writeJsonFile } from "../json-file.ts";
import { withLock } from "../lock.ts";
import { storedKey, isApproval } from "../stored-approval.ts";

const FORMAT = 2;
const MAX_BYTES = 8 * 1024 * 1024;
/** Beyond this, the oldest are dropped, and the user is asked again. */
const MOST_APPROVALS = 10_000;

/** The call waits while another process holds the lock. */
const PATIENCE_MS = 2000;

export class ApprovalFile implements ApprovalStore {
  readonly #file: string;
  readonly #clock: Clock;
  /** As the file was last read. */
  #known = { version: "", keys: new Set<string>() };
  #writing: Promise<unknown> = Promise.resolve();

  constructor(stateDir: string, clock: Clock = systemClock) {
    this.#file = join(stateDir, "approvals.json");
    this.#clock = clock;
  }

  /** Reads the file again if it has changed. */
  async has(approval: ApprovalKey): Promise<boolean> {
    const version = await versionOf(this.#file);
    if (version !== this.#known.version) {
      this.#known = { version, keys: new Set((await this.list()).map(storedKey)) };
    }
    return this.#known.keys.has(storedKey(approval));
  }

  add(approval: StoredApproval): Promise<void> {
    const key = storedKey(approval);
    return this.#change((all) => [...all.filter((each) => storedKey(each) !== key), approval]);
  }

  async list(): Promise<StoredApproval[]> {
    const value = await readJsonFile(this.#file, MAX_BYTES);
    if (!isJsonObject(value) || value.format !== FORMAT || !Array.isArray(value.approvals)) {
      return [];
    }
    return value.approvals.filter(isApproval);
  }

  async forget(approvals: readonly ApprovalKey[]): Promise<void> {
    if (approvals.length === 0) return;
    const keys = new Set(approvals.map(storedKey));
    await this.#change((all) => all.filter((each) => !keys.has(storedKey(each))));
  }

  /** Starts from what is in the file now, because other processes write to it too. */
  #change(to: (approvals: StoredApproval[]) => StoredApproval[]): Promise<void> {
    const write = async (): Promise<void> => {
      const approvals = to(await this.list()).slice(-MOST_APPROVALS);
      await writeJsonFile(this.#file, { format: FORMAT, approvals });
    };
    // One after the other, so that the patience is for other processes alone.
    const written = this.#writing.then(() =>
      withLock(`${this.#file}.lock`, this.#clock, write, PATIENCE_MS),
    );
    this.#writing = written.catch(() => {});
    return written;
  }
}

/** The file is always replaced as a whole. Empty if it is missing. */
async function versionOf(file: string): Promise<string> {
  try {
    const { ino, mtimeMs, size } = await stat(file);
    return [ino, mtimeMs, size].join(" ");
  } catch {
    return "";
  }
}
