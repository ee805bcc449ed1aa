import { describe, expect, it } from "vitest";
import { globalOptions } from "../../../src/cli/context.ts";
import { judgeFile } from "../../../src/cli/trust/judge-file.ts";
import { requireTrust } from "../../../src/cli/trust/require-trust.ts";
import { useScratch } from "../harness.ts";

const scratch = useScratch();

const config = (workspace: string) =>
  JSON.stringify({
    agents: { defaults: { workspace, mcp: { servers: { docs: { command: "docs" } } } } },
  });

describe("trust in a file", () => {
  it("is about the text that was read, whatever the file holds by then", async () => {
    const path = scratch.file("plugboard.json", config("good"));
    const found = { kind: "file", path, from: "directory" } as const;
    const { io, done } = scratch.start(["--version"]);
    await done;
    const context = { io, argv: [], options: globalOptions({}) };
    const { store, launches } = await judgeFile(found, io);
    await store.approve(path, launches.all, 0);
    await expect(requireTrust(found, config("evil"), context)).rejects.toMatchObject({
      code: "UNTRUSTED",
      message: expect.stringContaining(`${path} has changed since it was trusted`),
    });
    await requireTrust(found, config("good"), context);
  });
});
