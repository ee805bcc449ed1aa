// The cookie: one environment variable in every process a server consists of, naming the host that
// started it, so that it can be told apart from everything else on the machine after that host is gone.

import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import { readStat } from "./proc-stat.ts";
import { psStartTime } from "./ps.ts";

export const COOKIE_VARIABLE = "PLUGBOARD_COOKIE";

/**
 * A host process, distinguishable from every other one: pids are reused, so its start time is part
 * of it, and both mean something only within one boot and one pid namespace, the `space`.
 */
export interface HostIdentity {
  uid: number;
  pid: number;
  /** As the process table of the platform gives it; "0" where it is not known. */
  start: string;
  space: string;
}

export interface Cookie extends HostIdentity {
  /** Tells the servers of one host apart. */
  serial: string;
}

const PATTERN = /^1\.(\d{1,10})\.(\d{1,10})\.(\d{1,20})\.([0-9a-z]{1,16})\.([0-9a-z]{8,32})$/;

export function makeCookie(host: HostIdentity, random: () => number = Math.random): string {
  const serial = random().toString(36).slice(2, 12).padEnd(10, "0");
  return ["1", host.uid, host.pid, host.start, host.space, serial].join(".");
}

/** `undefined` for anything that is not a cookie of this version, whole and well-formed. */
export function parseCookie(text: string): Cookie | undefined {
  const [, uid, pid, start, space, serial] = PATTERN.exec(text) ?? [];
  if (!uid || !pid || !start || !space || !serial) return undefined;
  return { uid: Number(uid), pid: Number(pid), start, space, serial };
}

export interface IdentityOptions {
  platform?: NodeJS.Platform;
  pid?: number;
  uid?: number;
  /** Where the proc file system is. */
  proc?: string;
}

export function hostIdentity(options: IdentityOptions = {}): HostIdentity {
  const { platform = process.platform, pid = process.pid, proc = "/proc" } = options;
  const uid = options.uid ?? process.geteuid?.() ?? 0;
  switch (platform) {
    case "linux":
      return {
        uid,
        pid,
        start: orEmpty(() => readStat(proc, pid)?.start) || "0",
        space: linuxSpace(proc),
      };
    case "win32":
      return { uid, pid, start: "0", space: fingerprint(hostname()) };
    default:
      return { uid, pid, start: psStartTime(pid) ?? "0", space: fingerprint(hostname()) };
  }
}

let current: HostIdentity | undefined;

/** This process, looked up once: outside Linux that takes a run of `ps`. */
export function currentHost(): HostIdentity {
  current ??= hostIdentity();
  return current;
}

function linuxSpace(proc: string): string {
  const namespace = orEmpty(() => readlinkSync(`${proc}/self/ns/pid`));
  const boot = orEmpty(() => readFileSync(`${proc}/sys/kernel/random/boot_id`, "latin1").trim());
  // Where neither can be read the machine's name has to do.
  return fingerprint(namespace + boot || hostname());
}

function orEmpty(read: () => string | undefined): string {
  try {
    return read() ?? "";
  } catch {
    return "";
  }
}

/** FNV-1a with 64 bits: it only has to tell apart, and loading node:crypto takes longer than a spawn. */
function fingerprint(text: string): string {
  let hash = 0xcbf29ce484222325n;
  for (const byte of Buffer.from(text)) {
    hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  }
  return hash.toString(36);
}
