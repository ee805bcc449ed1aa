// Commands beside a running gateway. All are in this process; test/e2e/attached.test.ts has processes of their own.

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { beforeEach, describe, expect, it } from "vitest";
import { fixture } from "../../support/boards.ts";
import { startedProcesses } from "../../support/processes.ts";
import { type Running, Sink, useScratch } from "../harness.ts";

const scratch = useScratch();

let gateway: Running | undefined;

async function up(
  argv: readonly string[] = [],
  env: Record<string, string> = {},
): Promise<Running> {
  gateway = await scratch.up(argv, { env });
  return gateway;
}

/** What a command prints, if it succeeds. */
async function printed(...argv: string[]): Promise<string> {
  const { code, stdout, stderr } = await scratch.run(argv);
  expect([code, stderr]).toEqual([0, ""]);
  return stdout;
}

describe("while a gateway runs", () => {
  beforeEach(() => {
    scratch.servers({
      echo: fixture("echo"),
      library: fixture("library"),
      later: { ...fixture("echo"), lazy: true },
    });
  });

  it("commands use its servers, start none, and show the same as without it", async () => {
    const alone = new Map<string, string>();
    const commands = [
      ["tools", "echo"],
      ["tools", "--server", "library"],
      ["tools", "--json"],
      ["tools", "sum of two numbers", "--json"],
      ["call", "echo/add", "a=1", "b=2"],
      ["call", "echo/echo", "text=hi", "--json"],
      ["call", "echo/add", "--help"],
      ["resources"],
      ["resources", "--server", "library"],
      ["prompts", "--json"],
    ];
    // Once before: what is cached shows in the lists.
    await printed("tools", "--refresh");
    for (const argv of commands) alone.set(argv.join(" "), await printed(...argv));
    const { stderr } = await up(["--verbose"]);
    for (const name of ["echo", "library", "later"]) await stderr.until(`${name}: ready`);
    const servers = startedProcesses();
    for (const argv of commands) {
      const shown = await printed(...argv);
      expect(comparable(shown), argv.join(" ")).toEqual(
        comparable(alone.get(argv.join(" ")) ?? ""),
      );
      expect(startedProcesses()).toEqual(servers);
    }
    const pids = new Set<string>();
    for (const _ of [1, 2]) pids.add(await printed("call", "echo/pid"));
    expect(pids.size).toBe(1);
    expect(stderr.text).toMatch(/^info {2}command attached: call pid=\d+ agent=default$/m);
    expect(stderr.text).toMatch(/^info {2}command left: call pid=\d+ agent=default$/m);
  });

  it("the overview and status say whose servers they show, and --standalone starts its own", async () => {
    expect(await printed()).toMatch(/servers\.json, servers started for this command\n/);
    expect(await printed("status")).toMatch(/\n\nThese servers were started for this command\.\n$/);
    const { stderr } = await up(["--verbose"]);
    await stderr.until("library: ready");
    expect(await printed()).toMatch(
      /servers\.json, the servers of the gateway \(pid \d+, for [^)]+\)\n/,
    );
    const { gateway: shown } = JSON.parse(await printed("--json"));
    expect(shown).toMatchObject({
      pid: process.pid,
      attached: { list: [{ command: "list" }] },
    });
    expect(await printed("status")).toMatch(/^The gateway runs at /);
    expect(await printed("--standalone", "--refresh")).toMatch(
      /servers started for this command\n/,
    );
    expect(await printed("status", "--standalone")).toMatch(/^server +state/);
    const own = await printed("call", "echo/pid", "--standalone");
    expect(await printed("call", "echo/pid")).not.toBe(own);
  });

  it("a server that would be started with another variable is the command's own; the status says why", async () => {
    await up();
    const tokyo = { env: { TZ: "Asia/Tokyo" } };
    const own = await scratch.run(["call", "echo/pid"], tokyo);
    expect([own.code, own.stderr]).toEqual([0, ""]);
    expect(own.stdout).not.toBe(await printed("call", "echo/pid"));
    const told = await scratch.run(["--verbose", "call", "echo/pid"], tokyo);
    const why = "is not shared, because TZ is set differently there";
    expect(told.stderr).toContain(`server 'echo' of the gateway ${why}`);
    expect((await scratch.run(["status"], tokyo)).stdout).toContain(
      `Server 'echo' of the gateway ${why}`,
    );
    expect(await printed("status")).not.toContain("not shared");
  });

  it("what the shell's PATH and directory change for one server changes nothing for the others", async () => {
    const config = scratch.file("mixed.json", {
      mcpServers: {
        echo: fixture("echo"),
        here: { ...fixture("echo"), args: [...(fixture("echo").args ?? []), "."] },
      },
    });
    await up(["--config", config]);
    const elsewhere = join(scratch.directory, "elsewhere");
    mkdirSync(elsewhere);
    const env = { PATH: `${process.env["PATH"]}:${elsewhere}` };
    const call = async (tool: string, cwd?: string): Promise<string> =>
      (
        await scratch.run(["--config", config, "call", tool], {
          env,
          ...(cwd !== undefined && { cwd: () => cwd }),
        })
      ).stdout;
    const [shared, own] = [await call("echo/pid"), await call("here/pid")];
    expect(await call("echo/pid", elsewhere)).toBe(shared);
    expect(await call("here/pid", elsewhere)).not.toBe(own);
    expect(await call("here/pid")).toBe(own);
    const overview = await scratch.run(["--config", config], { env, cwd: () => elsewhere });
    expect(overview.stdout).toMatch(
      /the servers of the gateway \(pid \d+, for [^)]+\) but for here\n/,
    );
  });

  it("a call is on record once, under the same name, with its own timeout", async () => {
    await up();
    const slow = await scratch.run(["call", "echo/sleep", "ms=60000", "--timeout", "200"]);
    expect([slow.code, slow.stderr]).toEqual([3, expect.stringContaining("200 ms")]);
    const wrong = await scratch.run(["call", "echo/ecko", "text=x"]);
    expect([wrong.code, wrong.stderr]).toEqual([
      2,
      expect.stringContaining("did you mean 'echo/echo'?"),
    ]);
    await printed("call", "echo/echo", "text=hi");
    gateway?.events.emit("SIGTERM");
    await gateway?.done;
    const records = await printed("audit", "--json");
    const calls = records
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line))
      .map(({ server, tool, agent, outcome }) => [`${server}/${tool}`, agent, outcome]);
    expect(calls).toEqual([
      ["echo/sleep", "default", "TIMEOUT"],
      ["echo/echo", "default", "ok"],
    ]);
  });
});

describe("what needs a person comes to the command that made the call", () => {
  it("an approval, and its refusal", async () => {
    const servers = { echo: fixture("echo") };
    const config = scratch.file("rules.json", {
      agents: { defaults: { mcp: { servers }, tools: { approval: "ask", deny: ["echo/crash"] } } },
    });
    await up(["--config", config]);
    const stdin = new PassThrough();
    Object.assign(stdin, { isTTY: true });
    const stderr = new Sink({ columns: 100 });
    const asked = scratch.start(["--config", config, "call", "echo/echo", "text=hi"], {
      stdin,
      stderr,
    });
    await stderr.until("Allow this call?");
    stdin.write("y\n");
    const answered = await asked.done;
    expect([answered.code, answered.stdout]).toEqual([0, "hi\n"]);
    const nobody = await scratch.run(["--config", config, "call", "echo/echo", "text=hi"]);
    expect([nobody.code, nobody.stdout]).toEqual([4, ""]);
    expect(nobody.stderr).toContain("needs your approval");
    const yes = await scratch.run(["--config", config, "call", "echo/echo", "text=hi", "--yes"]);
    expect(yes.stdout).toBe("hi\n");
    const denied = await scratch.run(["--config", config, "call", "echo/crash", "--yes"]);
    expect([denied.code, denied.stderr]).toEqual([4, expect.stringContaining("deny")]);
  });

  it("a tool that only the owner may call needs --owner here, too", async () => {
    const servers = { echo: fixture("echo") };
    const config = scratch.file("owner.json", {
      agents: { defaults: { mcp: { servers }, tools: { ownerOnly: ["echo/add"] } } },
    });
    await up(["--config", config]);
    const call = ["--config", config, "call", "echo/add", "a=1", "b=2"];
    expect((await scratch.run(call)).code).toBe(4);
    expect((await scratch.run(["--owner", ...call])).stdout).toBe("3\n");
  });
});

describe("what a person decides elsewhere reaches the gateway", () => {
  it("approved pins, and an approval that is forgotten", async () => {
    const offer = (description: string): string =>
      scratch.file("offer.json", { tools: [{ name: "look", description }] });
    const file = offer("Looks around.");
    const servers = {
      from: { ...fixture("from-file", `--file=${file}`), pins: "block" },
      echo: { ...fixture("echo"), approval: "ask" },
    };
    const config = scratch.file("pins.json", { agents: { defaults: { mcp: { servers } } } });
    await up(["--config", config]);
    const run = (...argv: string[]): ReturnType<typeof scratch.run> =>
      scratch.run(["--config", config, ...argv]);
    const call = ["call", "from/look"];
    expect((await run(...call)).stdout).toBe("look\n");
    offer("Looks around, and tells everybody.");
    expect((await run("restart", "from")).code).toBe(0);
    const changed = await run(...call);
    expect([changed.code, changed.stderr]).toEqual([
      4,
      expect.stringContaining("it changed after it was pinned"),
    ]);
    expect((await run("pins", "approve", "from/look")).stdout).toContain("approved from/look");
    expect(await run(...call)).toMatchObject({ stdout: "look\n", stderr: "" });

    // What was always allowed is not asked about, until it is forgotten.
    const stdin = new PassThrough();
    Object.assign(stdin, { isTTY: true });
    const stderr = new Sink({ columns: 100 });
    const asked = scratch.start(["--config", config, "call", "echo/pid"], { stdin, stderr });
    await stderr.until("Allow this call?");
    stdin.write("a\n");
    expect((await asked.done).code).toBe(0);
    expect((await run("call", "echo/pid")).code).toBe(0);
    expect((await run("approvals", "forget", "echo")).stdout).toContain("forgot echo/pid");
    expect((await run("call", "echo/pid")).code).toBe(4);
  });
});

it("an editor that was started from a desktop has the PATH of the login shell, and attaches with it", async () => {
  scratch.servers({ echo: fixture("echo") });
  scratch.file(".profile", `PATH='${process.env["PATH"]}'\n`);
  const home = { HOME: scratch.directory, SHELL: "/bin/sh" };
  const { stderr } = await up([], home);
  const stdin = new PassThrough();
  const acp = scratch.start(["acp"], { stdin, env: { ...home, PATH: "/usr/bin:/bin" } });
  await Promise.race([stderr.until("command attached: acp"), acp.stderr.until("is not used")]);
  stdin.end();
  expect((await acp.done).stderr).toBe("");
});

describe("a client on stdio beside a gateway", () => {
  /** `plugboard serve`, with messages as lines. */
  function serve() {
    const [stdin, stdout] = [new PassThrough(), new Sink()];
    const running = scratch.start(["serve"], { stdin, stdout });
    let ids = 0;
    const call = async (name: string, args: object = {}): Promise<string> => {
      ids += 1;
      const id = ids;
      const params = { name, arguments: args };
      stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params })}\n`);
      await stdout.until(`"id":${id},`);
      const line = stdout.text.split("\n").find((each) => each.includes(`"id":${id},`)) ?? "";
      return JSON.parse(line).result.content[0].text;
    };
    const end = async (): Promise<string> => {
      stdin.end();
      return (await running.done).stderr;
    };
    return { call, end, stderr: running.stderr };
  }

  it("has servers of its session in its own process, and shares the others", async () => {
    scratch.servers({
      echo: fixture("echo"),
      own: { ...fixture("echo"), scope: "session" },
    });
    await up();
    const [one, other] = [serve(), serve()];
    expect(await one.call("echo__pid")).toBe(await other.call("echo__pid"));
    expect(await one.call("own__pid")).not.toBe(await other.call("own__pid"));
    // The shared one, and one for each session.
    expect(startedProcesses()).toHaveLength(3);
    await one.end();
    await other.end();
    expect(startedProcesses()).toHaveLength(1);
  });

  it("loses no call while the gateway is restarted", async () => {
    scratch.servers({ echo: fixture("echo") });
    const first = await up();
    const { call, end, stderr } = serve();
    const pid = await call("echo__pid");
    const slow = call("echo__sleep", { ms: 1500 });
    // A later answer shows that the slow call has arrived.
    await call("echo__echo", { text: "behind it" });
    first.events.emit("SIGTERM");
    await stderr.until("is stopping");
    const waiting = call("echo__pid");
    expect(await slow).toBe("slept 1500 ms");
    await first.done;
    await up();
    expect(await waiting).not.toBe(pid);
    expect(await call("echo__pid")).toBe(await waiting);
    expect(startedProcesses()).toHaveLength(1);
    expect(await end()).toContain("another gateway");
  });

  it("does not follow the gateway to an edit that nobody has approved for it", async () => {
    const write = (servers: object): string =>
      scratch.file("plugboard.json", { agents: { defaults: { mcp: { servers } } } });
    const file = write({ echo: fixture("echo") });
    await scratch.run(["trust", "--yes"]);
    const first = await up();
    const { call, end, stderr } = serve();
    await call("echo__pid");
    first.events.emit("SIGTERM");
    await stderr.until("is stopping");
    await first.done;
    write({ echo: fixture("echo"), more: fixture("echo") });
    // Whoever names the file approves it for this gateway.
    await up(["--config", file]);
    const own = await call("echo__pid");
    expect(await printed("--config", file, "call", "echo/pid")).not.toBe(`${own}\n`);
    expect(await end()).not.toContain("another gateway");
  });
});

describe("trust", () => {
  it("is needed beside a gateway as it is without one", async () => {
    const servers = { echo: fixture("echo") };
    scratch.file("plugboard.json", { agents: { defaults: { mcp: { servers } } } });
    // Whoever names the file needs no trust; whoever finds it does.
    await up(["--config", join(scratch.directory, "plugboard.json")]);
    const refused = await scratch.run(["call", "echo/echo", "text=x"]);
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining("is not trusted")]);
    const named = ["--config", "plugboard.json", "call", "echo/pid"];
    const pid = await printed(...named);
    await scratch.run(["trust", "--yes"]);
    expect(await printed("call", "echo/pid")).toBe(pid);
  });

  it("that a gateway lacks keeps commands away from it", async () => {
    const servers = { echo: fixture("echo") };
    scratch.file("plugboard.json", { agents: { defaults: { mcp: { servers } } } });
    await up();
    const call = ["call", "echo/echo", "text=x"];
    const { code, stdout, stderr } = await scratch.run(["--config", "plugboard.json", ...call]);
    expect([code, stdout]).toEqual([0, "x\n"]);
    expect(stderr).toContain("was not trusted when it read the file");
  });
});

/** Without what may differ from one run to the next. */
function comparable(text: string): unknown {
  if (!text.startsWith("{")) return text;
  return JSON.parse(text, (key, value) => (TIMES.has(key) ? undefined : value));
}

const TIMES = new Set(["since", "startMs", "pid", "cached", "state"]);
