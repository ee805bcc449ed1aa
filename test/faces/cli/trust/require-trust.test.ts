import { describe, expect, it } from "vitest";
import { loadConfig } from "../../../../src/config/load.ts";
import { judgeFile, requireTrust } from "../../../../src/faces/cli/trust/require-trust.ts";
import { useScratch } from "../harness.ts";

const scratch = useScratch();

const config = (command: string) => ({
  agents: { defaults: { mcp: { servers: { docs: { command } } } } },
});

describe("trust in a file", () => {
  it("does not cover content that was read before or after a change", async () => {
    const file = scratch.file("plugboard.json", config("evil"));
    const found = { path: file, from: "directory" } as const;
    const loaded = await loadConfig(file);
    scratch.file("plugboard.json", config("good"));
    const { io, done } = scratch.start(["--version"]);
    await done;
    const { store, launches } = await judgeFile(file, io);
    await store.approve(file, launches.all, 0);
    await expect(requireTrust(found, loaded, { io, argv: [] })).rejects.toMatchObject({
      code: "UNTRUSTED",
      message: `${file} changed while it was being read`,
      hint: "try again",
    });
    await requireTrust(found, await loadConfig(file), { io, argv: [] });
  });
});
