// The demo server as a process, compiled as it is for the package.

import { spawn, spawnSync } from "node:child_process";
import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const PROJECT = fileURLToPath(new URL("../../../../", import.meta.url));

let directory: string;

beforeAll(() => {
  // Inside the project, where the compiled files find their dependencies.
  const cache = join(PROJECT, "node_modules", ".cache");
  mkdirSync(cache, { recursive: true });
  directory = mkdtempSync(join(cache, "demo-"));
  writeFileSync(join(directory, "package.json"), '{ "type": "module", "version": "9.9.9" }');
  const config = join(directory, "tsconfig.json");
  writeFileSync(
    config,
    JSON.stringify({
      extends: join(PROJECT, "tsconfig.build.json"),
      compilerOptions: { rootDir: join(PROJECT, "src"), outDir: "dist", declaration: false },
      include: [],
      files: [join(PROJECT, "src", "cli", "demo", "server", "server.ts")],
    }),
  );
  const manifest = createRequire(import.meta.url).resolve("typescript/package.json");
  const tsc = join(dirname(manifest), "bin", "tsc");
  const built = spawnSync(process.execPath, [tsc, "-p", config], { encoding: "utf8" });
  expect(built.stdout).toBe("");
}, 60_000);

afterAll(() => rmSync(directory, { recursive: true }));

interface Running {
  child: ChildProcessWithoutNullStreams;
  lines: string[];
  request: (id: number, method: string, params: object) => Promise<Record<string, unknown>>;
}

function start(): Running {
  const child = spawn(process.execPath, [
    join(directory, "dist", "cli", "demo", "server", "server.js"),
  ]);
  const lines: string[] = [];
  const reader = createInterface(child.stdout).on("line", (line) => lines.push(line));
  return {
    child,
    lines,
    request: async (id, method, params) => {
      child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
      for (;;) {
        const [line] = await once(reader, "line");
        const message = JSON.parse(line);
        if (message.id === id) return message;
      }
    },
  };
}

const clientInfo = { name: "test", version: "1" };
const hello = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo };

describe("the demo server's process", () => {
  it("writes the protocol to stdout and nothing else, and ends with its stdin", async () => {
    const { child, lines, request } = start();
    let stderr = "";
    child.stderr.on("data", (chunk) => (stderr += chunk));
    const { result } = await request(1, "initialize", hello);
    expect(result).toMatchObject({ serverInfo: { name: "plugboard-demo", version: "9.9.9" } });
    const params = { name: "countdown", arguments: { from: 1 } };
    expect(await request(2, "tools/call", params)).toMatchObject({
      result: { structuredContent: { steps: 1 } },
    });
    child.stdin.end();
    expect(await once(child, "close")).toEqual([0, null]);
    for (const line of lines) expect(JSON.parse(line)).toMatchObject({ jsonrpc: "2.0" });
    expect(stderr).toBe("");
  });

  it("answers the modern protocol", async () => {
    const { child, request } = start();
    const _meta = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientInfo": clientInfo,
      "io.modelcontextprotocol/clientCapabilities": {},
    };
    expect(await request(1, "server/discover", { _meta })).toMatchObject({
      result: { supportedVersions: ["2026-07-28"] },
    });
    child.stdin.end();
    expect(await once(child, "exit")).toEqual([0, null]);
  });

  it("ends with its stdin and on SIGTERM in the middle of a call", async () => {
    const endings: [(child: ChildProcessWithoutNullStreams) => void, unknown[]][] = [
      [(child) => child.stdin.end(), [0, null]],
      [(child) => child.kill("SIGTERM"), [null, "SIGTERM"]],
    ];
    for (const [end, status] of endings) {
      const { child, request } = start();
      await request(1, "initialize", hello);
      const params = { name: "countdown", arguments: { from: 1, intervalMs: 10_000 } };
      void request(2, "tools/call", params);
      await request(3, "ping", {});
      end(child);
      expect(await once(child, "exit")).toEqual(status);
    }
  });
});
