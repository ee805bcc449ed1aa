// Remembers for which tools the answer was "always": for one agent and one of its callers, by the hash of the tool's and its server's
// definition, so that the user is asked again when one of them changes. Nothing about a session's own server or about
// the host's own tools is written to disk.

import { stat } from "node:fs/promises";
import { join } from "node:path";
import type { StoredApproval } from "../model/approval.ts";
import type { ToolSubject } from "../model/guard.ts";
import { isJsonObject } from "../model/json.ts";
import { readJsonFile, writeJsonFile } from "../state/json-file.ts";
import { withLock } from "../state/lock.ts";
import { type Clock, systemClock } from "../util/clock.ts";

const FORMAT = 2;
const MAX_BYTES = 8 * 1024 * 1024;
/** Beyond this, the oldest are dropped, and the user is asked again. */
const MOST_APPROVALS = 10_000;

/** The call waits while another process holds the lock. */
const PATIENCE_MS = 2000;

/** Whose approvals they are. */
type ApprovingAgent = Pick<StoredApproval, "agent" | "config">;

export interface ApprovalStoreOptions {
  agent: ApprovingAgent;
  /** Without it, nothing outlives the process. */
  stateDir?: string;
  clock?: Clock;
  /** The answer still counts in this process. */
  onWriteError?: (error: unknown) => void;
}

export class ApprovalStore {
  readonly #agent: ApprovingAgent;
  readonly #file: string | undefined;
  readonly #clock: Clock;
  readonly #onWriteError: (error: unknown) => void;
  /** What is not in the file. */
  readonly #granted = new Set<string>();
  /** What is in the file, as it was last read. */
  #kept = { version: "", keys: new Set<string>() };
  #writing: Promise<void> = Promise.resolve();

  constructor(options: ApprovalStoreOptions) {
    const { agent, stateDir, clock = systemClock, onWriteError = () => {} } = options;
    this.#agent = agent;
    this.#file = stateDir === undefined ? undefined : approvalsFile(stateDir);
    this.#clock = clock;
    this.#onWriteError = onWriteError;
  }

  /** Whether an approval of the tool outlives the process. */
  keeps({ origin }: Pick<ToolSubject, "origin">): boolean {
    // A host's own tools write and run whatever is in reach of the session: another directory is another question.
    return this.#file !== undefined && origin !== "session" && origin !== "native";
  }

  /** Reads the file again if it has changed: the user may have answered, or forgotten the answer, elsewhere. */
  async has(subject: ToolSubject, caller?: string): Promise<boolean> {
    if (this.#granted.has(sessionKey(subject, caller))) return true;
    const file = this.#file;
    if (file === undefined || !this.keeps(subject)) return false;
    const version = await versionOf(file);
    if (version !== this.#kept.version) {
      const keys = new Set((await readApprovals(file)).map(keyOf));
      this.#kept = { version, keys };
    }
    return this.#kept.keys.has(keyOf({ ...this.#agent, ...toolOf(subject), caller }));
  }

  /** Never rejects. */
  async add(subject: ToolSubject, caller?: string): Promise<void> {
    const file = this.#file;
    if (file === undefined || !this.keeps(subject)) {
      this.#granted.add(sessionKey(subject, caller));
      return;
    }
    const approval = {
      ...this.#agent,
      ...toolOf(subject),
      ...(caller !== undefined && { caller }),
      at: this.#clock.now(),
    };
    const write = (): Promise<void> =>
      change(file, this.#clock, (approvals) => [
        ...approvals.filter((each) => keyOf(each) !== keyOf(approval)),
        approval,
      ]);
    this.#writing = this.#writing.then(write).catch((error: unknown) => {
      this.#granted.add(sessionKey(subject, caller));
      this.#onWriteError(error);
    });
    await this.#writing;
  }
}

export function approvalsFile(stateDir: string): string {
  return join(stateDir, "approvals.json");
}

/** Oldest first. */
export async function readApprovals(file: string): Promise<StoredApproval[]> {
  const value = await readJsonFile(file, MAX_BYTES);
  if (!isJsonObject(value) || value.format !== FORMAT || !Array.isArray(value.approvals)) return [];
  return value.approvals.filter(isApproval);
}

/** Rejects if the file cannot be written. */
export async function forgetApprovals(
  file: string,
  clock: Clock,
  forgotten: readonly StoredApproval[],
): Promise<void> {
  const keys = new Set(forgotten.map(keyOf));
  await change(file, clock, (approvals) => approvals.filter((each) => !keys.has(keyOf(each))));
}

/** Starts from what is in the file now, because other processes write to it too. */
async function change(
  file: string,
  clock: Clock,
  to: (approvals: StoredApproval[]) => StoredApproval[],
): Promise<void> {
  await withLock(
    `${file}.lock`,
    clock,
    async () => {
      const approvals = to(await readApprovals(file)).slice(-MOST_APPROVALS);
      await writeJsonFile(file, { format: FORMAT, approvals });
    },
    PATIENCE_MS,
  );
}

function toolOf({ canonical: tool, hash }: ToolSubject): Pick<StoredApproval, "tool" | "hash"> {
  return { tool, hash };
}

function keyOf({ agent, config, tool, hash, caller }: Omit<StoredApproval, "at">): string {
  return JSON.stringify([agent, config ?? "", tool, hash, caller ?? ""]);
}

function sessionKey({ canonical, hash, origin }: ToolSubject, caller = ""): string {
  return JSON.stringify([origin === "session", canonical, hash, caller]);
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

function isApproval(value: unknown): value is StoredApproval {
  return (
    isJsonObject(value) &&
    typeof value.agent === "string" &&
    (value.config === undefined || typeof value.config === "string") &&
    typeof value.tool === "string" &&
    typeof value.hash === "string" &&
    (value.caller === undefined || typeof value.caller === "string") &&
    typeof value.at === "number"
  );
}
