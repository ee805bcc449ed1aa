import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { fixture } from "../../support/boards.ts";
import { useScratch } from "../harness.ts";

const scratch = useScratch();

it("one command shows the servers of other applications running, one more puts them into another", async () => {
  mkdirSync(join(scratch.directory, ".cursor"));
  scratch.file(".mcp.json", { mcpServers: { shared: fixture("echo") } });
  scratch.file(".cursor/mcp.json", { mcpServers: { docs: fixture("crlf") } });
  mkdirSync(join(scratch.directory, ".config/zed"), { recursive: true });
  scratch.file(".config/zed/settings.json", { context_servers: { notes: fixture("echo") } });
  const imported = await scratch.run(["import", "--write", "--yes"]);
  expect(imported.code).toBe(0);
  expect(imported.stdout).toContain("added docs, notes, shared to ");
  for (const name of ["docs", "notes", "shared"]) {
    expect(imported.stdout).toMatch(new RegExp(`^${name} +\\S ready`, "m"));
  }
  const connected = await scratch.run(["connect", "claude-code", "--yes"]);
  expect(connected.code).toBe(0);
  expect(scratch.read(".claude.json")).toContain('"serve"');
});
