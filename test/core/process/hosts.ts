// Hosts in separate processes, for tests in which the host ends.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { currentHost } from "../../../src/core/process/host-identity.ts";
import type { StartProcessOptions } from "../../../src/core/process/start-process.ts";
import { type Compiled, compile } from "../../support/compile.ts";
import { fixture } from "./fixtures.ts";

/** This process with its own space, so that tests and other hosts do not reap each other's processes. */
export const testHost = { ...currentHost(), space: `test${process.pid}` };

export type ServerList = Pick<StartProcessOptions, "command" | "args" | "env">[];

export interface Host {
  process: ChildProcess;
  servers: { said: Record<string, number>; cookie: string }[];
}

/** What a host imports. */
export function compileHost(): Promise<Compiled> {
  return compile("core/process/cookie", "core/process/host-identity", "core/process/start-process");
}

/** The arguments of a host that starts `list` with the real, compiled code and then does as told. */
export function hostArgs(
  modules: string,
  list: ServerList,
  then: "stay" | "exit" | "hurry" | "end",
  space = testHost.space,
): string[] {
  return [fixture("host"), `${modules}/core/process`, JSON.stringify(list), then, space];
}

export async function startHost(args: string[]): Promise<Host> {
  const host = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  const [chunk] = (await once(host.stdout, "data")) as [Buffer];
  return { process: host, servers: JSON.parse(chunk.toString()) };
}

/** As the system does it when memory is short: without a chance to clean up. */
export async function killHost(host: Host): Promise<void> {
  host.process.kill("SIGKILL");
  await once(host.process, "exit");
}
