// Finds out the identity of a host process, for the cookies of its servers.

import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import { readStat } from "../../util/proc-stat.ts";
import type { HostIdentity } from "./cookie.ts";

import { psStartTime } from "./ps-table.ts";

/** `proc` is where the proc file system is. */
export function hostIdentity({
  platform = process.platform,
  pid = process.pid,
  uid = process.geteuid?.() ?? 0,
  proc = "/proc",
} = {}): HostIdentity {
  switch (platform) {
    case "linux": {
      const start = orEmpty(() => readStat(proc, pid)?.start) || "0";
      return { uid, pid, start, space: linuxSpace(proc) };
    }
    case "win32":
      return { uid, pid, start: "0", space: fingerprint(hostname()) };
    default:
      return { uid, pid, start: psStartTime(pid) ?? "0", space: fingerprint(hostname()) };
  }
}

let current: HostIdentity | undefined;

/** This process, looked up once: outside Linux that runs `ps`. */
export function currentHost(): HostIdentity {
  current ??= hostIdentity();
  return current;
}

/** No server of this process started before. `ps` gives start times in seconds, and may be one off. */
export function sinceHostStart(): string {
  return String(Number(currentHost().start) - 1);
}

function linuxSpace(proc: string): string {
  const namespace = orEmpty(() => readlinkSync(`${proc}/self/ns/pid`));
  const boot = orEmpty(() => readFileSync(`${proc}/sys/kernel/random/boot_id`, "latin1").trim());
  // Where neither can be read, the machine's name has to do.
  return fingerprint(namespace + boot || hostname());
}

function orEmpty(read: () => string | undefined): string {
  try {
    return read() ?? "";
  } catch {
    return "";
  }
}

/** FNV-1a with 64 bits. It only has to tell spaces apart, and loading node:crypto takes longer than a spawn. */
function fingerprint(text: string): string {
  let hash = 0xcbf29ce484222325n;
  for (const byte of Buffer.from(text)) {
    hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  }
  return hash.toString(36);
}
