// The cookie: an environment variable in every process of a server, naming the host that started it. By it
// we recognise our servers' processes after that host is gone.

/**
 * Names one host process. Pids are reused, so the start time is part of it; and both mean something only
 * within one boot and one pid namespace, which is the `space`.
 */
export interface HostIdentity {
  uid: number;
  pid: number;
  /** As the platform's process table gives it; "0" where it is not known. */
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

/** `undefined` for anything that is not a complete, well-formed cookie of this version. */
export function parseCookie(text: string): Cookie | undefined {
  const [, uid, pid, start, space, serial] = PATTERN.exec(text) ?? [];
  if (!uid || !pid || !start || !space || !serial) return undefined;
  return { uid: Number(uid), pid: Number(pid), start, space, serial };
}
