import { expect, it } from "vitest";
import { fixture } from "../../support/boards.ts";
import { useScratch } from "../harness.ts";

const scratch = useScratch();

it("shows what the servers of the gateway write, and with -f what they write from then on", async () => {
  scratch.servers({
    echo: fixture("echo"),
    broken: fixture("stderr-then-exit", "--reason=the key is missing"),
  });
  await scratch.up();
  const logs = (...argv: string[]) => scratch.run(["logs", ...argv]);
  await expect.poll(async () => (await logs()).stdout).toMatch(/broken: .*start failed/);
  await expect.poll(async () => (await logs()).stdout).toMatch(/^\d\d:\d\d:\d\d echo: ready$/m);
  const { stdout } = await logs("broken");
  expect(stdout).toMatch(/^\d\d:\d\d:\d\d broken \| Error: the key is missing$/m);
  expect(stdout).not.toContain("echo");
  const [first = ""] = (await logs("broken", "--json")).stdout.split("\n");
  expect(JSON.parse(first)).toMatchObject({
    server: "broken",
    stream: "stderr",
    text: "Error: the key is missing",
  });
  expect(await logs("brken")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("did you mean 'broken'?"),
  });
  const followed = scratch.start(["logs", "echo", "-f"]);
  await followed.stdout.until("echo: ready\n");
  await scratch.run(["restart", "echo"]);
  await followed.stdout.until("echo: stopped\n");
  followed.events.emit("SIGINT");
  expect((await followed.done).code).toBe(0);
});

it("says what to do where no gateway runs", async () => {
  scratch.servers({ echo: fixture("echo") });
  const { code, stdout, stderr } = await scratch.run(["logs"]);
  expect([code, stdout]).toEqual([3, ""]);
  expect(stderr).toMatch(
    /^plugboard: no gateway is running for \S+, and only a gateway keeps what its servers write\n/,
  );
  expect(stderr).toContain("--verbose");
  expect(stderr).toContain("\n  plugboard up -d\n");
});
