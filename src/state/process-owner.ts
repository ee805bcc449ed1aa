// Names the process that owns a file or directory, so that another process can tell whether it still runs.

import { createHash } from "node:crypto";
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import { readStat } from "../util/proc-stat.ts";
import { signalProcess } from "../util/signal.ts";

/** Undefined for a process that has ended, and where the system does not tell. */
export function startOf(pid: number): string | undefined {
  if (process.platform !== "linux") return undefined;
  const found = readStat("/proc", pid);
  return found?.zombie ? undefined : found?.start;
}

let machine: string | undefined;

/** Process ids mean something only here: containers may share a directory, and a restart gives them anew. */
export function thisMachine(): string {
  machine ??= [
    hostname(),
    ...(process.platform === "linux"
      ? [
          readlinkSync("/proc/self/ns/pid"),
          readFileSync("/proc/sys/kernel/random/boot_id", "latin1"),
        ]
      : []),
  ]
    .join(" ")
    .trim();
  return machine;
}

const OWNER = /^([0-9a-f]{8})-([0-9a-f]{8})-([0-9a-f]{8})-(\d{1,10})-(\d{1,20})$/;

/** This process as a part of a file name: its machine, when that was booted, its process space, its id, its start. */
export function ownerName(): string {
  const { host, boot, space } = here();
  return [host, boot, space, process.pid, startOf(process.pid) ?? 0].join("-");
}

/** True only if the process surely has ended: false for one that cannot be looked up from here. */
export function isOwnerGone(name: string): boolean {
  const [, host, boot, space, pid, start] = OWNER.exec(name) ?? [];
  const now = here();
  if (host !== now.host) return false;
  // No process outlives a restart of its machine.
  if (boot !== now.boot) return true;
  if (space !== now.space) return false;
  if (signalProcess(Number(pid), 0) === "gone") return true;
  try {
    return start !== "0" && startOf(Number(pid)) !== start;
  } catch {
    return false;
  }
}

interface Place {
  host: string;
  boot: string;
  /** Containers on one machine number their processes each for itself. */
  space: string;
}

let place: Place | undefined;

function here(): Place {
  place ??= {
    // Two machines may have the same name, and an image for containers may have no id.
    host: fingerprint(`${hostname()} ${orEmpty(() => readFileSync("/etc/machine-id", "latin1"))}`),
    boot: fingerprint(orEmpty(() => readFileSync("/proc/sys/kernel/random/boot_id", "latin1"))),
    space: fingerprint(orEmpty(() => readlinkSync("/proc/self/ns/pid"))),
  };
  return place;
}

function orEmpty(read: () => string): string {
  try {
    return read();
  } catch {
    return "";
  }
}

function fingerprint(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 8);
}
