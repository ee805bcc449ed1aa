// Names the process that owns a file or directory, so that another process can tell whether it still runs.

import { createHash } from "node:crypto";
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import { hasErrorCode } from "../../util/error-code.ts";
import { readStat } from "../../util/proc-stat.ts";
import { signalProcess } from "../../util/signal.ts";

const OWNER = /^([0-9a-f]{8})-([0-9a-f]{8})-([0-9a-f]{8})-(\d{1,10})-(\d{1,20})$/;

/** This process as a part of a file name: its machine, when that was booted, its process space, its id, its start. */
export function ownerName(): string {
  const { host, boot, space } = here();
  own ??= startOf(process.pid) ?? "0";
  return [host, boot, space, process.pid, own].join("-");
}

/** Unknown for a process that cannot be looked up from here. */
export function ownerState(name: string): "running" | "gone" | "unknown" {
  const [, host, boot, space, pid, start] = OWNER.exec(name) ?? [];
  try {
    const now = here();
    if (host !== now.host) return "unknown";
    // No process outlives a restart of its machine.
    if (boot !== now.boot) return "gone";
    if (space !== now.space) return "unknown";
    if (signalProcess(Number(pid), 0) === "gone") return "gone";
    // It may be a later process with the same id.
    if (start === "0") return "unknown";
    return startOf(Number(pid)) === start ? "running" : "gone";
  } catch {
    // Nothing proves that it is gone. This process may have run out of files.
    return "running";
  }
}

/** Whether the name is that of the process with this id, and that runs. False where it cannot be looked up. */
export function isOwner(name: string, pid: number): boolean {
  return OWNER.exec(name)?.[4] === String(pid) && ownerState(name) === "running";
}

/** Undefined for a process that has ended, and where the system does not tell. */
function startOf(pid: number): string | undefined {
  if (process.platform !== "linux") return undefined;
  const found = readStat("/proc", pid);
  return found?.zombie ? undefined : found?.start;
}

interface Place {
  host: string;
  boot: string;
  /** Containers on one machine number their processes each for itself. */
  space: string;
}

let place: Place | undefined;
/** When this process has started. */
let own: string | undefined;

function here(): Place {
  place ??= {
    // Two machines may have the same name, and an image for containers may have no id.
    host: fingerprint(`${hostname()} ${orEmpty(() => readFileSync("/etc/machine-id", "latin1"))}`),
    boot: fingerprint(orEmpty(() => readFileSync("/proc/sys/kernel/random/boot_id", "latin1"))),
    space: fingerprint(orEmpty(() => readlinkSync("/proc/self/ns/pid"))),
  };
  return place;
}

/** Throws when this process has run out of files: under a wrong name, others would take it for gone. */
function orEmpty(read: () => string): string {
  try {
    return read();
  } catch (error) {
    if (hasErrorCode(error, "EMFILE", "ENFILE")) throw error;
    return "";
  }
}

function fingerprint(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 8);
}
