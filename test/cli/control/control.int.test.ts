import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { gatewayFile, recordGateway } from "../../../src/core/state/running-gateway.ts";
import { fixture } from "../../support/boards.ts";
import { useScratch } from "../harness.ts";

const scratch = useScratch();

it("plugboard restart and plugboard down reach the gateway that runs, whatever they were started with", async () => {
  const { command = "", args = [] } = fixture("echo");
  const late = {
    command: "sh",
    args: ["-c", 'test -e database || { echo "no database" >&2; exit 1; }; exec "$@"', "sh"],
    maxRestarts: 0,
  };
  late.args.push(command, ...args);
  scratch.servers({ echo: fixture("echo"), broken: { command: "no-such-program" }, late });
  const config = join(scratch.directory, "servers.json");
  expect(await scratch.run(["down"])).toEqual({
    code: 0,
    stdout: `no gateway is running for ${config}\n`,
    stderr: "",
  });
  const none = await scratch.run(["restart", "echo"]);
  expect(none.code).toBe(3);
  expect(none.stderr).toContain(`no gateway is running for ${config}`);

  const up = await scratch.up();
  const pidOfEcho = async (): Promise<number> => {
    const { stdout } = await scratch.run(["status", "echo", "--json"]);
    return JSON.parse(stdout).servers[0].pid;
  };
  const env = { PATH: "/nowhere", TZ: "Asia/Tokyo" };
  const before = await scratch.run(["restart", "echo"], { env });
  expect(before).toEqual({ code: 0, stdout: "restarted echo: 11 tools\n", stderr: "" });
  const pid = await pidOfEcho();
  const again = await scratch.run(["restart", "echo", "--json"]);
  expect(JSON.parse(again.stdout)).toMatchObject({ server: "echo", state: { kind: "ready" } });
  expect(await pidOfEcho()).not.toBe(pid);
  const failed = await scratch.run(["restart", "broken"]);
  expect(failed).toMatchObject({ code: 3, stdout: "restarted broken, but it is not ready\n" });
  expect(failed.stderr).toMatch(/^plugboard: broken is not available: \S+/);
  // Calls of others leave it failed; a command that names it tries it again, whether or not its tools are known.
  const { stdout: status } = await scratch.run(["status", "late"]);
  expect(status).toContain("no database");
  expect(status).toMatch(/to start it again:\n +plugboard restart late/);
  const named = await scratch.run(["call", "late/echo", "text=hi"]);
  expect([named.code, named.stderr]).toEqual([3, expect.stringContaining("no database")]);
  writeFileSync(join(scratch.directory, "database"), "");
  expect(await scratch.run(["call", "late/echo", "text=hi"])).toMatchObject({ stdout: "hi\n" });
  const crash = await scratch.run(["call", "late/crash"]);
  expect(crash.code).toBe(3);
  expect(await scratch.run(["call", "late/echo", "text=hi"])).toMatchObject({ stdout: "hi\n" });
  const typo = await scratch.run(["restart", "ecco"]);
  expect([typo.code, typo.stderr]).toEqual([2, expect.stringContaining("did you mean 'echo'?")]);
  const agent = await scratch.run(["restart", "echo", "--agent", "nobody"]);
  expect([agent.code, agent.stderr]).toEqual([2, expect.stringContaining("no agent 'nobody'")]);

  for (const words of [["restart", "echo"], ["down"]]) {
    const refused = await scratch.run(["--standalone", ...words]);
    const why = `plugboard ${words[0]} is about the gateway, and --standalone leaves the gateway alone`;
    expect(refused).toEqual({
      code: 2,
      stdout: "",
      stderr: `plugboard: ${why}\nhint: leave out --standalone\nmore: plugboard help INVALID_ARGUMENTS\n`,
    });
  }

  const down = await scratch.run(["down", "--json"], { env });
  expect(JSON.parse(down.stdout)).toEqual({ stopped: true, pid: process.pid });
  // It is gone when the command ends, and its end is a regular one.
  expect((await up.done).code).toBe(0);
  expect(up.stderr.text).toContain("The gateway has stopped, since plugboard down was run\n");
  expect((await scratch.run(["down"])).stdout).toContain("no gateway is running");
});

it.each([
  ["in Plugboard's home", "home/plugboard.json", []],
  ["that is named", "named.json", ["--config", "named.json"]],
])("down stops a gateway whose file %s is gone", async (_, file, argv) => {
  mkdirSync(join(scratch.directory, "home"), { mode: 0o700 });
  scratch.file(file, { mcpServers: { echo: fixture("echo") } });
  const up = await scratch.up(argv);
  rmSync(join(scratch.directory, file));
  const down = await scratch.run([...argv, "down"]);
  expect(down).toMatchObject({ code: 0, stdout: expect.stringContaining("has stopped") });
  expect((await up.done).code).toBe(0);
  const again = await scratch.run([...argv, "down"]);
  expect([again.code, again.stdout + again.stderr]).toEqual(
    argv.length === 0
      ? [0, "no gateway is running\n"]
      : [2, expect.stringContaining("there is no such file")],
  );
});

it("plugboard up takes the place of a gateway in the background, and tells of one that it cannot stop", async () => {
  scratch.servers({ echo: fixture("echo") });
  const home = join(scratch.directory, "home");
  const config = join(scratch.directory, "servers.json");
  const first = await scratch.up();
  const second = await scratch.run(["up", "--port", "0"]);
  expect([second.code, second.stderr]).toEqual([
    3,
    expect.stringMatching(
      /a gateway for .*servers\.json is already running\n.*to stop it:\n  plugboard down\n/,
    ),
  ]);
  // As if it had been started by a command.
  const note = JSON.parse(scratch.read(gatewayFile("home", config, "json")));
  writeFileSync(gatewayFile(home, config, "json"), JSON.stringify({ ...note, background: true }));
  const third = await scratch.up();
  expect(third.stderr.text).toContain(
    `This gateway takes the place of the one in the background (pid ${process.pid})`,
  );
  expect((await first.done).code).toBe(0);
  third.events.emit("SIGTERM");
  expect((await third.done).code).toBe(0);

  await recordGateway(home, { pid: 1, since: 1, version: "0", config });
  const own = JSON.parse(scratch.read(gatewayFile("home", config, "json")));
  const elsewhere = { ...own, owner: "another machine" };
  writeFileSync(gatewayFile(home, config, "json"), JSON.stringify(elsewhere));
  const refused = await scratch.run(["down"]);
  expect([refused.code, refused.stderr]).toEqual([
    3,
    expect.stringContaining("the gateway is of an earlier version of Plugboard"),
  ]);
});

it.each([
  ["another machine", (owner: string) => owner.replace(/^[0-9a-f]{8}/, "00000000")],
  ["another container", (owner: string) => owner.replace(/^(.{18})[0-9a-f]{8}/, "$100000000")],
  ["what cannot be looked up", () => "unknown"],
])("plugboard down does not signal a process here for a gateway on %s", async (_, change) => {
  scratch.servers({});
  const home = join(scratch.directory, "home");
  const config = join(scratch.directory, "servers.json");
  const bystander = spawn("sleep", ["60"]);
  try {
    const pid = bystander.pid ?? 0;
    const channel = { path: join(home, "gone.sock"), key: "key" };
    await recordGateway(home, { pid, since: 1, version: "0", config, channel });
    const file = gatewayFile(home, config, "json");
    const note = JSON.parse(readFileSync(file, "utf8"));
    writeFileSync(file, JSON.stringify({ ...note, owner: change(note.owner) }));
    const { code, stderr } = await scratch.run(["down"]);
    expect(code).toBe(3);
    expect(stderr).toContain("no process was signalled");
    expect([bystander.exitCode, bystander.signalCode]).toEqual([null, null]);
  } finally {
    if (bystander.kill("SIGKILL")) await once(bystander, "exit");
  }
});
