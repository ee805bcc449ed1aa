import { afterEach, expect, it } from "vitest";
import { closeAll, owned } from "../../fixtures/http/client.ts";
import { startRegistry } from "../../fixtures/registry/registry.ts";
import { useScratch } from "../harness.ts";
import { NAME, notes, packages } from "./packages.ts";

const scratch = useScratch();
afterEach(closeAll);

it("plugboard outdated says what is newer or was taken back, also by its exit code", async () => {
  const registry = owned(await startRegistry([notes("1.0.0")]));
  const { env } = packages(scratch, registry.url);
  const run = (...argv: string[]) => scratch.run(argv, { env: env() });

  const none = await run("outdated");
  expect(none).toMatchObject({ code: 0, stdout: "" });
  expect(none.stderr).toContain("no server was added from a registry");

  await run("add", NAME, "--yes", "--no-check");
  await run("add", "other", "--yes", "--no-check", "--", "serve");
  const current = await run("outdated");
  expect(current).toMatchObject({ code: 0, stdout: "" });
  expect(current.stderr).toContain("all servers from the registry are up to date");

  registry.published.push(notes("1.0.1"));
  const { code, stdout, stderr } = await run("outdated");
  expect(code).toBe(1);
  expect(stdout).toMatch(/^notes +1\.0\.0 +1\.0\.1 +io\.github\.someone\/notes$/m);
  expect(stdout).not.toContain("other");
  expect(stderr).toContain("to update them:\n  plugboard update\n");

  registry.published[0] = { ...notes("1.0.0"), status: "deleted", statusMessage: "malware" };
  expect((await run("outdated")).stdout).toContain("version 1.0.0 was deleted: malware");
  registry.published = [notes("1.0.0", { identifier: "evil-mcp" })];
  const changed = await run("outdated", "--json");
  expect(changed.code).toBe(1);
  expect(JSON.parse(changed.stdout)).toMatchObject({
    servers: [
      {
        name: "notes",
        registry: registry.url,
        from: NAME,
        installed: "1.0.0",
        newest: "1.0.0",
        outdated: true,
        notes: ["what the registry says about version 1.0.0 has changed since you added it"],
      },
    ],
  });

  await registry.close();
  const gone = await run("outdated");
  expect(gone.code).toBe(3);
  expect(gone.stdout).toContain("gave no usable answer");
});

it("plugboard outdated asks no registry that only an untrusted file names", async () => {
  const evil = owned(await startRegistry([notes("6.6.6")]));
  const provenance = {
    kind: "registry",
    registry: evil.url,
    name: NAME,
    version: "1.0.0",
    hash: `sha256-${"0".repeat(64)}`,
  };
  scratch.file("plugboard.json", { mcpServers: { notes: { command: "notes", provenance } } });
  for (const command of ["outdated", "update"]) {
    const { code, stdout, stderr } = await scratch.run([command]);
    expect(code).not.toBe(0);
    expect(`${stdout}${stderr}`).toContain("is not trusted");
  }
  expect(evil.asked).toEqual([]);
});
