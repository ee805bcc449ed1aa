// A gateway under measurement: its process, a client of it, and what it and all that it started take.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { connect } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { connectMcp } from "./mcp-over-http.mjs";

export const MODULES = fileURLToPath(new URL("../node_modules/", import.meta.url));

const READY_MS = 30_000;
const END_MS = 5_000;

/** Starts `node args` and resolves to `{ pid, end() }` when something listens on the port. */
export async function startGateway(args, { port, env = {} }) {
  const child = spawn(process.execPath, args, {
    env: { ...process.env, ...env },
    stdio: ["ignore", "ignore", "inherit"],
  });
  const exited = once(child, "exit");
  const deadline = performance.now() + READY_MS;
  while (!(await listens(port))) {
    if (child.exitCode !== null) throw new Error(`the gateway ended with ${child.exitCode}`);
    if (performance.now() > deadline) throw new Error("the gateway does not listen");
    await delay(20);
  }
  return {
    pid: child.pid,
    async end() {
      child.kill("SIGTERM");
      const timer = setTimeout(() => child.kill("SIGKILL"), END_MS);
      await exited;
      clearTimeout(timer);
    },
  };
}

/** A client as the measures want it. `gateway` is `{ pid, end() }`; the tools may have a prefix there. */
export async function openThrough(gateway, how) {
  const client = await connectMcp(how);
  const named = new Map(
    ["echo", "big"].map((tool) => [tool, client.toolNames.find((name) => name.endsWith(tool))]),
  );
  return {
    tools: client.toolNames.length,
    call: (tool, args) => client.call(named.get(tool), args),
    text: (result) => result.content[0].text,
    openSession: () => client.openSession(),
    cpuMicros: () => cpuMicrosOf(gateway.pid),
    memoryBytes: () => memoryOfTree(gateway.pid),
    async close() {
      await client.close();
      await gateway.end();
    },
  };
}

/** Of that process alone, not of the server behind it. */
function cpuMicrosOf(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, "latin1").split(") ")[1].split(" ");
  // utime and stime, in hundredths of a second.
  return (Number(fields[11]) + Number(fields[12])) * 10_000;
}

/** Resident memory of the process and of all that it started: some gateways start a process per session. */
function memoryOfTree(root) {
  const parents = new Map();
  const memory = new Map();
  for (const name of readdirSync("/proc").filter((one) => /^\d+$/.test(one))) {
    try {
      const status = readFileSync(`/proc/${name}/status`, "latin1");
      parents.set(Number(name), Number(/^PPid:\s*(\d+)/m.exec(status)?.[1]));
      memory.set(Number(name), Number(/^VmRSS:\s*(\d+)/m.exec(status)?.[1] ?? 0) * 1_024);
    } catch {
      // It has ended meanwhile.
    }
  }
  const belongs = (pid) => pid === root || (parents.has(pid) && belongs(parents.get(pid)));
  return [...memory].reduce((sum, [pid, bytes]) => (belongs(pid) ? sum + bytes : sum), 0);
}

function listens(port) {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    const tell = (does) => {
      socket.destroy();
      resolve(does);
    };
    socket.once("connect", () => tell(true)).once("error", () => tell(false));
  });
}
