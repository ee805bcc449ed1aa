import { join } from "node:path";
import { expect, it } from "vitest";
import { ownBin } from "../../../src/core/config/own-server.ts";
import { useScratch } from "../harness.ts";

const scratch = useScratch();

it("a board that is its own server is refused, and starts nothing", async () => {
  const env = { PLUGBOARD_HOME: join(scratch.directory, "home") };
  scratch.servers({ me: { command: process.execPath, args: [ownBin(), "serve"], env } });
  const { stdout } = await scratch.run(["status", "me"]);
  expect(stdout).toContain("failed");
  expect(stdout).toContain("a server of Plugboard has started Plugboard again");
});

it("serve says what to do", async () => {
  const { code, stderr } = await scratch.run(["serve"], { env: { PLUGBOARD_COOKIE: "x" } });
  expect(code).toBe(2);
  expect(stderr).toContain("take plugboard out of the servers of its own configuration");
});
