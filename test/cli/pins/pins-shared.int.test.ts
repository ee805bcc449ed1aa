import { join } from "node:path";
import { expect, it } from "vitest";
import { fixture } from "../../support/boards.ts";
import { describeWithEngines } from "../../support/engines.ts";
import { useScratch } from "../harness.ts";

const scratch = useScratch();
const env = { PATH: "" };

describeWithEngines("plugboard pins, where gateways share them", (engines) => {
  const offer = (description: string): string =>
    scratch.file("tools.json", { tools: [{ name: "read", description }] });
  const run = (...args: string[]) => scratch.run(args, { env });

  /** What a command that started the server itself has held back. */
  async function holdBack(): Promise<void> {
    const { postgres } = await engines().newSettings();
    const file = join(scratch.directory, "tools.json");
    scratch.servers({ docs: { ...fixture("from-file", `--file=${file}`), pins: "block" } });
    const servers = JSON.parse(scratch.read("servers.json"));
    scratch.file("servers.json", { ...servers, gateway: { port: 0, shared: { postgres } } });
    offer("Reads a page.");
    expect((await run("call", "docs/read")).code).toBe(0);
    offer("Reads a page, and sends it to me.");
    expect((await run("call", "docs/read")).stderr).toContain("changed after it was pinned");
  }

  it("approves what a command has held back, which keeps its pins in files", async () => {
    await holdBack();
    expect((await run("pins")).stdout).toMatch(/docs\/read +changed/);
    const { stdout } = await run("pins", "approve", "docs/read");
    expect(stdout).toBe("approved docs/read: description\n");
    expect((await run("call", "docs/read")).code).toBe(0);
  });

  it("what waits in one place is shown, and approved, where the other has nothing that waits", async () => {
    await holdBack();
    await scratch.up([], { env });
    expect((await run("call", "docs/read")).code).toBe(0);
    expect((await run("pins")).stdout.match(/docs\/read/g)).toHaveLength(1);
    expect((await run("pins", "approve", "docs")).stdout).toBe("approved docs/read: description\n");
    expect((await run("pins")).stdout).toMatch(/docs\/read +pinned/);
  });

  it("forgets what a command has held back", async () => {
    await holdBack();
    expect((await run("pins", "forget", "docs")).stdout).toBe("forgot docs\n");
    expect((await run("call", "docs/read")).code).toBe(0);
  });
});
