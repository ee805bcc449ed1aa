// Starts servers once, in a process that has done nothing before, and prints as JSON what that took: milliseconds of
// this process's own CPU for loading the client and for reaching the servers, until their tools are known.
//
//   node checks/bench/cold-start.mjs stdio <how many> <plugboard|sdk-v2|hand-written>
//   node checks/bench/cold-start.mjs remote <url> <plugboard|sdk-v2>

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const [kind, what, contender] = process.argv.slice(2);
const TINY = fileURLToPath(new URL("tiny-server.sh", import.meta.url));
const targets =
  kind === "remote"
    ? [{ url: what }]
    : Array.from({ length: Number(what) }, () => ({ command: "/bin/sh", args: [TINY] }));

/** Each loads its client, and returns what opens the servers; that returns the number of tools and what closes them. */
const CONTENDERS = {
  async plugboard() {
    const { openBoard } = await import("../../dist/index.js");
    return async () => {
      const stateDir = await mkdtemp(join(tmpdir(), "plugboard-bench-"));
      const servers = Object.fromEntries(targets.map((target, index) => [`s${index}`, target]));
      const board = await openBoard({ servers }, { stateDir });
      const close = async () => {
        await board.close();
        await rm(stateDir, { recursive: true, force: true });
      };
      return { tools: board.tools().length, close };
    };
  },
  async "sdk-v2"() {
    const { Client, StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client");
    const { StdioClientTransport } =
      kind === "stdio" ? await import("@modelcontextprotocol/client/stdio") : {};
    const open = async (target) => {
      const client = new Client({ name: "bench", version: "1.0.0" });
      const transport =
        target.url === undefined
          ? new StdioClientTransport(target)
          : new StreamableHTTPClientTransport(new URL(target.url));
      await client.connect(transport);
      const { tools } = await client.listTools();
      return { tools: tools.length, close: () => client.close() };
    };
    return () => openEach(open);
  },
  async "hand-written"() {
    const { open } = await import("./clients/hand-written.mjs");
    return () => openEach(({ command, args }) => open(command, args));
  },
};

async function openEach(open) {
  const clients = await Promise.all(targets.map(open));
  return {
    tools: clients.reduce((sum, { tools }) => sum + tools, 0),
    close: () => Promise.all(clients.map(({ close }) => close())),
  };
}

function spent() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

const before = spent();
const open = await CONTENDERS[contender]();
const loaded = spent();
const began = performance.now();
const { tools, close } = await open();
const figures = { load: loaded - before, start: spent() - loaded, ms: performance.now() - began };
await close();
if (tools !== targets.length) throw new Error(`expected ${targets.length} tools, found ${tools}`);
console.log(JSON.stringify(figures));
