// A client connected to the demo server, in either era of the protocol, over documentation of a test's own.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, InMemoryTransport } from "@modelcontextprotocol/client";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { createDemoServer } from "../../../../src/cli/demo/server/create.ts";
import type { Clock } from "../../../../src/util/clock.ts";
import { systemClock } from "../../../../src/util/clock.ts";

type Era = "legacy" | { pin: string };

export const ERAS: [name: string, era: Era][] = [
  ["legacy", "legacy"],
  ["modern", { pin: "2026-07-28" }],
];

const clock: Clock = { ...systemClock, now: () => Date.UTC(2026, 6, 15, 12) };

/** A package with a README and a page about the configuration. */
export function makePackage(): string {
  const root = mkdtempSync(join(tmpdir(), "plugboard-"));
  mkdirSync(join(root, "docs"));
  writeFileSync(join(root, "README.md"), "# Plugboard\n\nPlug any server into any agent.\n");
  writeFileSync(
    join(root, "docs", "configuration.md"),
    "# Configuration\n\n## Timeouts\n\nA call may take 60 s.\n",
  );
  return root;
}

export function removePackage(root: string): void {
  rmSync(root, { recursive: true });
}

export async function connect(era: Era, root: string): Promise<Client> {
  const [near, far] = InMemoryTransport.createLinkedPair();
  serveStdio(() => createDemoServer({ clock, root }), { transport: far });
  const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode: era } });
  await client.connect(near);
  return client;
}
