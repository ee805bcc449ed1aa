// A gateway that a command has started in the background: a process of its own, from the build. The commands
// themselves run in this process.

import { execFileSync } from "node:child_process";
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it } from "vitest";
import type { ServerConfig } from "../../src/core/types/server-config.ts";
import { useScratch } from "../cli/harness.ts";
import { fixture } from "../support/boards.ts";
import { eventually, expectAllGone, isAlive, processesWith } from "../support/processes.ts";

const BIN = fileURLToPath(new URL("../../dist/bin.cjs", import.meta.url));

const scratch = useScratch();

/** Pids of gateways of this test. Their servers do not get this variable. */
const gateways = (): number[] => processesWith(`PLUGBOARD_HOME=${scratch.directory}/home`);

/** Everything of those gateways, their servers included. */
const ofGateways = (): number[] => {
  const pids = gateways();
  return [
    ...pids,
    ...pids.flatMap((pid) => processesWith(`.${pid}.`).filter((each) => each !== pid)),
  ];
};

afterEach(async () => {
  const pids = ofGateways();
  for (const pid of gateways()) process.kill(pid, "SIGTERM");
  // SIGTERM is its regular end: nothing of it or its servers stays.
  const deadline = Date.now() + 15_000;
  while (pids.some(isAlive) && Date.now() < deadline)
    await new Promise((done) => setTimeout(done, 20));
  expectAllGone(pids);
});

function configure(servers: Record<string, ServerConfig>, gateway: object = {}): string {
  return scratch.file("plugboard.json", { agents: { defaults: { mcp: { servers } } }, gateway });
}

const PAGE = { ...fixture("page"), keepAlive: true };

/** What a command prints, if it succeeds without a word on stderr. */
async function printed(...argv: string[]): Promise<string> {
  const { code, stdout, stderr } = await scratch.run(["--config", "plugboard.json", ...argv]);
  expect([code, stderr]).toEqual([0, ""]);
  return stdout.trim();
}

describe("a server that is kept alive", () => {
  it("keeps its page between two commands, until the gateway is stopped", async () => {
    configure({ page: PAGE, other: fixture("echo") });
    expect(await printed("call", "page/open", "url=https://example.com")).toBe(
      "opened https://example.com",
    );
    const [gateway = 0, ...others] = gateways();
    expect(others).toEqual([]);
    // A server that nobody has used does not run for it.
    expect(ofGateways()).toHaveLength(2);
    const current = await printed("call", "page/current");
    expect(current).toMatch(/^https:\/\/example\.com in \d+$/);
    // Commands that list something find the same server, and no port is open.
    expect(await printed("tools", "page/")).toContain("page/current");
    const shown = await printed("status");
    expect(shown).toContain(`in the background (pid ${gateway}`);
    const log = /Its log is (.*)$/m.exec(shown)?.[1] ?? "";
    expect(readFileSync(log, "utf8")).toMatch(
      /^\S+ The gateway runs in the background with \S+plugboard\.json \(pid \d+\), until no command has used it for 5 min\n/,
    );
    expect(await printed("call", "page/current")).toBe(current);
    // It does not belong to the command that has started it.
    expect(ancestorsOf(gateway)).not.toContain(process.pid);
    expect(await printed("down")).toContain(`the gateway (pid ${gateway}) has stopped`);
    await eventually(() => !isAlive(gateway));
    expect(readFileSync(log, "utf8")).toMatch(
      /The gateway has stopped, since plugboard down or up was run\n$/,
    );
    expect(readdirSync(join(scratch.directory, "home/gateway"))).not.toContainEqual(
      expect.stringMatching(/^[0-9a-f]{16}\.(json|lock|sock)$/),
    );
  });

  it("moves to the gateway of `up -d`, which stays until it is stopped", async () => {
    configure({ page: PAGE });
    await printed("call", "page/current");
    const [kept = 0] = gateways();
    const started = await printed("up", "-d", "--port", "0");
    expect(started).toMatch(
      /^The gateway runs in the background \(pid \d+\) and listens on http:\S+\/mcp\n/,
    );
    // The other one gives up its lock a moment before it ends.
    await eventually(() => gateways().length === 1);
    const [gateway = 0] = gateways();
    expect(gateway).not.toBe(kept);
    expect(started).toContain(`(pid ${gateway})`);
    await printed("call", "page/current");
    expect(await printed("status")).toContain(`(pid ${gateway}, `);
    expect(await printed("logs", "page")).toMatch(/^\d\d:\d\d:\d\d page: ready$/m);
    const again = await scratch.run(["--config", "plugboard.json", "up", "-d"]);
    expect(again.stderr).toContain(`a gateway runs already (pid ${gateway}, at http:`);
    expect(await printed("down")).toContain(`the gateway (pid ${gateway}) has stopped`);
    configure({ page: PAGE }, { host: "192.0.2.1", behindProxy: true });
    const failed = await scratch.run(["--config", "plugboard.json", "up", "-d"]);
    expect(failed.code).toBe(3);
    expect(failed.stderr).toMatch(
      /^plugboard: the gateway was not started: .*192\.0\.2\.1:\d+\nhint: everything that it said is in \S+; check gateway\.host/,
    );
  });

  it("and is your own stays with your gateway in a project that you have not trusted", async () => {
    configure({ evil: { command: "evil", keepAlive: true } });
    mkdirSync(join(scratch.directory, "home"), { mode: 0o700 });
    scratch.file("home/plugboard.json", { mcpServers: { page: PAGE } });
    const first = await scratch.run(["call", "page/current"]);
    expect(first.stderr).toContain("is not trusted yet, so only your own servers are used.");
    expect(gateways()).toHaveLength(1);
    const [, pid] = /in (\d+)/.exec(first.stdout) ?? [];
    expect((await scratch.run(["call", "page/current"])).stdout).toContain(`in ${pid}`);
    const own = ["--config", join(scratch.directory, "home/plugboard.json")];
    expect((await scratch.run([...own, "call", "page/current"])).stdout).toContain(`in ${pid}`);
  });

  it("has one gateway if two commands start one at the same time", async () => {
    configure({ page: PAGE });
    const [one, two] = await Promise.all([
      printed("call", "page/current"),
      printed("call", "page/current"),
    ]);
    expect(two).toBe(one);
    await eventually(() => gateways().length === 1);
  });

  it("ends with its gateway, when nobody has used it for a while; the next command starts it anew", async () => {
    configure({ page: PAGE }, { idleTimeout: 300 });
    const first = await printed("call", "page/current");
    const pids = ofGateways();
    await eventually(() => !pids.some(isAlive));
    const directory = join(scratch.directory, "home/gateway");
    const log = readdirSync(directory).find((name) => name.endsWith(".log")) ?? "";
    expect(readFileSync(join(directory, log), "utf8")).toMatch(
      /The gateway has stopped, since no command has used it for 300 ms\n$/,
    );
    const { stdout, stderr } = await scratch.run([
      "--config",
      "plugboard.json",
      "--verbose",
      "call",
      "page/current",
    ]);
    expect(stdout).not.toBe(first);
    expect(stderr).toMatch(
      /^info {2}a gateway runs in the background now; to stop it:\n {2}plugboard --config plugboard\.json down\ninfo {2}uses the servers of the gateway \(pid \d+\)\n/,
    );
  });

  it.runIf(process.platform === "linux")(
    "does not hold the files that the shell has open in which the command ran",
    () => {
      const config = configure({ page: PAGE });
      const lock = scratch.file("lock", "");
      const file = openSync(lock, "w");
      const none = Array.from({ length: 17 }, () => "ignore" as const);
      try {
        const words = [BIN, "--config", config, "call", "page/current"];
        execFileSync(process.execPath, words, {
          cwd: scratch.directory,
          env: { PATH: process.env["PATH"], PLUGBOARD_HOME: `${scratch.directory}/home` },
          // Node itself keeps the first sixteen from the programs that it starts.
          stdio: ["ignore", "pipe", "pipe", ...none, file],
        });
      } finally {
        closeSync(file);
      }
      const pids = ofGateways();
      expect(pids).toHaveLength(2);
      const open = pids.flatMap((pid) =>
        readdirSync(`/proc/${pid}/fd`).map((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`)),
      );
      expect(open).not.toContain(lock);
    },
  );

  it("outlives a server in whose shell the command ran", async () => {
    const file = configure({ page: PAGE });
    const words = [process.execPath, BIN, "--config", file, "call", "page/open", "url=kept"];
    const shell = scratch.file("shell.json", {
      agents: {
        defaults: {
          mcp: {
            servers: {
              shell: {
                ...fixture("shell"),
                env: { PLUGBOARD_HOME: `${scratch.directory}/home`, OLLAMA_BASE_URL: "" },
              },
            },
          },
        },
      },
    });
    const command = words.map((word) => `'${word}'`).join(" ");
    const outer = await scratch.run(["--config", shell, "call", "shell/run", `command=${command}`]);
    expect(outer).toMatchObject({ code: 0, stdout: "opened kept\n" });
    // The server with the shell is gone by now, with everything that belonged to it.
    const [gateway = 0] = gateways();
    expect(processesWith("PLUGBOARD_COOKIE=")).not.toContain(gateway);
    expect(await printed("call", "page/current")).toMatch(/^kept in \d+$/);
  });
});

describe("no gateway is started in the background", () => {
  it.each<[string, Record<string, ServerConfig>, string[]]>([
    ["without keepAlive", { page: fixture("page") }, []],
    ["for another server", { page: fixture("page"), kept: PAGE }, []],
    ["with --standalone", { page: PAGE }, ["--standalone"]],
  ])("%s", async (_, servers, options) => {
    configure(servers);
    expect(await printed(...options, "call", "page/open", "url=x")).toBe("opened x");
    expect(gateways()).toEqual([]);
  });

  it("where it cannot run: the command says why, and does without", async () => {
    configure({ page: PAGE });
    mkdirSync(join(scratch.directory, "home"), { mode: 0o700 });
    writeFileSync(join(scratch.directory, "home/gateway"), "in the way");
    const argv = ["--config", "plugboard.json", "call", "page/open", "url=x"];
    const { code, stdout, stderr } = await scratch.run(argv);
    expect([code, stdout]).toEqual([0, "opened x\n"]);
    expect(stderr).toMatch(/^warn {2}no gateway could be started in the background: /);
    expect(stderr).toContain("This command starts servers of its own");
  });

  it("and a call that leaves a browser behind says how to keep it", async () => {
    configure({ page: fixture("page", "--like=@playwright/mcp"), other: fixture("page") });
    const call = (tool: string) => scratch.run(["--config", "plugboard.json", "call", tool]);
    expect((await call("page/current")).stderr).toBe(
      `hint: 'page' has ended with this command, and its page is gone; to keep it for the next one, set "keepAlive": true for it in the configuration\n`,
    );
    expect((await call("other/current")).stderr).toBe("");
    expect(existsSync(join(scratch.directory, "home/gateway"))).toBe(false);
  });
});

function ancestorsOf(pid: number): number[] {
  const parent = Number(
    execFileSync("ps", ["-o", "ppid=", "-p", String(pid)], { encoding: "utf8" }),
  );
  return parent <= 1 ? [parent] : [parent, ...ancestorsOf(parent)];
}
