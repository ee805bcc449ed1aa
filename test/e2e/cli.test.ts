// The command as it is installed: compiled, in a process of its own, with real pipes and signals. Needs the
// build.

import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readlinkSync } from "node:fs";
import { Agent, request } from "node:http";
import { connect } from "node:net";
import { basename } from "node:path";
import { text as textOf } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it } from "vitest";
import { Sink, useScratch } from "../cli/harness.ts";
import { fixture } from "../support/boards.ts";
import { eventually, expectNoProcesses } from "../support/processes.ts";

const BIN = fileURLToPath(new URL("../../dist/bin.cjs", import.meta.url));

const scratch = useScratch();
const started: Program[] = [];

class Program {
  readonly child: ChildProcess;
  readonly ended: Promise<unknown>;
  stdout = "";
  stderr = "";

  constructor(command: string, args: readonly string[]) {
    const { directory: cwd } = scratch;
    const env = {
      ...process.env,
      CI: "1",
      PLUGBOARD_HOME: `${cwd}/home`,
      BIN,
      NODE: process.execPath,
    };
    this.child = spawn(command, args, {
      cwd,
      env: { ...env, PLUGBOARD_CONFIG: `${cwd}/servers.json` },
    });
    this.child.stdout?.setEncoding("utf8").on("data", (text: string) => (this.stdout += text));
    this.child.stderr?.setEncoding("utf8").on("data", (text: string) => (this.stderr += text));
    this.ended = once(this.child, "close").then(([code, signal]) => code ?? signal);
    started.push(this);
  }

  async says(text: string): Promise<void> {
    while (!this.stderr.includes(text)) await once(this.child.stderr ?? this.child, "data");
  }

  /** Nothing that it started is left. */
  expectClean(): void {
    expectNoProcesses(`PLUGBOARD_COOKIE=1.${process.geteuid?.() ?? 0}.${this.child.pid}.`);
  }
}

const plugboard = (...args: string[]) => new Program(process.execPath, [BIN, ...args]);
const shell = (script: string) => new Program("/bin/sh", ["-c", script]);

afterEach(async () => {
  for (const { child, ended } of started.splice(0)) {
    child.kill("SIGKILL");
    await ended;
  }
});

describe("plugboard up", () => {
  it.runIf(process.platform === "linux")(
    "has loaded what a call needs before the first one: too few descriptors at that moment harm nothing",
    async () => {
      const most = 128;
      scratch.servers({ echo: fixture("echo") });
      const gateway = shell(`ulimit -n ${most}; exec "$NODE" "$BIN" up --search --port 0`);
      await gateway.says("listens on");
      const port = Number(/http:\/\/[\d.]+:(\d+)\/mcp/.exec(gateway.stderr)?.[1]);
      const token = scratch.read("home/gateway/token").trim();
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      const ask = async (method: string, params: object): Promise<string> => {
        const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
        const asked = request({ port, path: "/mcp", method: "POST", agent, headers });
        asked.end(JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }));
        const [response] = await once(asked, "response");
        return textOf(response);
      };
      // Each needs a part that is otherwise loaded with its first use.
      const both = async (): Promise<string> =>
        (await ask("tools/call", { name: "search_tools", arguments: { queries: ["echo"] } })) +
        (await ask("resources/read", { uri: "plugboard://context" }));
      await ask("tools/list", {});
      const sockets = Array.from({ length: most }, () => connect(port, "127.0.0.1"));
      for (const socket of sockets) socket.on("error", () => {});
      const open = (): number => readdirSync(`/proc/${gateway.child.pid}/fd`).length;
      await eventually(() => open() >= most);
      await both();
      for (const socket of sockets) socket.destroy();
      await eventually(() => open() < most);
      expect(await both()).toMatch(/echo__echo.*"contents":\[/s);
      agent.destroy();
      gateway.child.kill("SIGTERM");
      expect(await gateway.ended).toBe(0);
    },
  );

  it("finishes the calls in flight after SIGTERM, and exits with 0", async () => {
    scratch.servers({ echo: fixture("echo") });
    const gateway = plugboard("up", "--port", "0");
    await gateway.says("listens on");
    const [url] = /http:\/\/[\d.:]+\/mcp/.exec(gateway.stderr) ?? [];
    const call = async (tool: string, args: object): Promise<string> => {
      const response = await fetch(String(url), {
        method: "POST",
        headers: {
          authorization: `Bearer ${scratch.read("home/gateway/token").trim()}`,
          "content-type": "application/json",
        },
        body: JSON.stringify({
          jsonrpc: "2.0",
          id: 1,
          method: "tools/call",
          params: { name: `echo__${tool}`, arguments: args },
        }),
      });
      return response.text();
    };
    await call("echo", { text: "ready" });
    const slow = call("sleep", { ms: 500 });
    await call("echo", { text: "behind it" });
    gateway.child.kill("SIGTERM");
    expect(await slow).toContain("slept 500 ms");
    expect(await gateway.ended).toBe(0);
    gateway.expectClean();
  });
});

/** A call that would take a minute, under way. */
async function underWay(...flags: string[]): Promise<Program> {
  scratch.servers({ echo: fixture("echo") });
  const program = plugboard("call", "progress", "steps=6000", "ms=10", ...flags);
  await program.says("progress: 1");
  return program;
}

const TOO_FEW_FILES: [string, RegExp][] = process.versions.node.startsWith("20.")
  ? [["ulimit -n 19; $NODE $BIN tools", /may not open as many files.*\nhint: .*ulimit -n 1024/]]
  : [];

describe("the plugboard command", () => {
  it.skipIf(process.platform === "win32").each<[string, RegExp]>([
    // Later versions of Node read one file at a time, so they run into no limit.
    ...TOO_FEW_FILES,
    [
      "mkdir x; cd x; rmdir ../x; $NODE $BIN tools",
      /directory does not exist any more\nhint: change/,
    ],
    [
      "cp servers.json plugboard.json; trap '' XFSZ; ulimit -f 0; $NODE $BIN trust --yes",
      /would become larger.*\nhint: raise/,
    ],
  ])("says what the machine refuses: %s", async (script, said) => {
    scratch.servers({ echo: fixture("echo") });
    const program = shell(script);
    expect(await program.ended).toBe(3);
    expect(program.stderr).toMatch(said);
    expect(program.stderr).not.toMatch(/internal error|\n\s+at /);
  });

  it("tells its version", async () => {
    const program = plugboard("--version");
    expect(await program.ended).toBe(0);
    expect(program.stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });

  it("calls, lists and reports", async () => {
    scratch.servers({ echo: fixture("echo") });
    for (const [args, code, out] of [
      [["call", "echo", "text=hi"], 0, /^hi\n$/],
      [["call", "fail"], 1, /^$/],
      [["call", "nope"], 2, /^$/],
      [["tools"], 0, /^echo\/echo /],
      [["status"], 0, /^server /],
      [[], 0, /\n1 server, 11 tools/],
    ] as const) {
      const program = plugboard(...args);
      expect(await program.ended).toBe(code);
      expect(program.stdout).toMatch(out);
      program.expectClean();
    }
  });

  it("has Node's warnings about packages in its log alone", async () => {
    const tool = `{ name: "shout", description: "", parameters: {}, execute: () => ({ content: [] }) }`;
    scratch.file("tools.mjs", `process.emitWarning("it is old");\nexport default [${tool}];`);
    const tools = { native: ["./tools.mjs"] };
    scratch.file("servers.json", { agents: { defaults: { mcp: { servers: {} }, tools } } });
    for (const [level, said] of [
      ["warn", ""],
      ["debug", expect.stringMatching(/^debug Warning: it is old\n/)],
    ] as const) {
      const program = plugboard("call", "native/shout", "--log-level", level);
      expect(await program.ended).toBe(0);
      expect(program.stderr).toEqual(said);
    }
  });

  it.each<[NodeJS.Signals, number]>([
    ["SIGINT", 130],
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ])("stops everything on %s", async (signal, code) => {
    const program = await underWay();
    program.child.kill(signal);
    expect(await program.ended).toBe(code);
    expect(program.stdout).toBe("");
    program.expectClean();
  });

  it("stops everything when stdin closes, if that is asked for, and opens no debugger at a signal", async () => {
    const program = await underWay("--exit-with-stdin");
    program.child.kill("SIGUSR1");
    // Node would write where its debugger listens before the next steps are shown.
    const steps = (): number => program.stderr.split("progress:").length;
    const before = steps();
    await eventually(() => steps() > before + 1);
    expect(program.stderr).not.toContain("Debugger");
    program.child.stdin?.end();
    expect(await program.ended).toBe(130);
    program.expectClean();
  });

  it("goes on without stdin otherwise", async () => {
    scratch.servers({ echo: fixture("echo") });
    const program = plugboard("call", "sleep", "ms=300");
    program.child.stdin?.end();
    expect(await program.ended).toBe(0);
    expect(program.stdout).toBe("slept 300 ms\n");
  });

  it("does not wait for a server that will not stop after a second Ctrl-C", async () => {
    scratch.servers({ stubborn: fixture("ignores-sigterm") });
    const program = plugboard("status");
    while (program.stdout === "") await once(program.child.stdout ?? program.child, "data");
    program.child.kill("SIGINT");
    await program.says("press Ctrl-C again to quit now");
    program.child.kill("SIGINT");
    expect(await program.ended).toBe(130);
    program.expectClean();
  });

  it("leaves the input of a shell's loop alone", async () => {
    scratch.servers({ echo: fixture("echo") });
    const program = shell(
      'printf "a\\nb\\nc\\n" | while read -r word; do "$NODE" "$BIN" call echo text="$word"; done',
    );
    expect(await program.ended).toBe(0);
    expect(program.stdout).toBe("a\nb\nc\n");
  });

  it("ends quietly when its reader does", async () => {
    scratch.servers({ many: fixture("many-tools", "--count=2000") });
    const program = shell('{ "$NODE" "$BIN" tools; echo "code $?" >&2; } | head -n 1');
    expect(await program.ended).toBe(0);
    expect(program.stdout).toMatch(/^many\/tool_0 .*\n$/);
    expect(program.stderr).toBe("code 0\n");
  });

  it("writes all of a large result into a pipe", async () => {
    scratch.servers({ echo: fixture("echo") });
    const program = shell('"$NODE" "$BIN" call big bytes=3000000 | wc -c');
    expect(await program.ended).toBe(0);
    expect(program.stdout.trim()).toBe("3000001");
  });

  it.runIf(process.platform === "linux").each([
    ["a full device", '"$NODE" "$BIN" call echo text=hi > /dev/full', "ENOSPC"],
    ["a full device, the version", '"$NODE" "$BIN" --version > /dev/full', "ENOSPC"],
    ["a full device, help", '"$NODE" "$BIN" --help > /dev/full', "ENOSPC"],
    // The first part of the result fits, and Node says nothing about the rest.
    ["a file that fills up", 'ulimit -f 64; "$NODE" "$BIN" call big bytes=3000000 > out', "EFBIG"],
  ])("exits with 1 when its output is lost: %s", async (_, script, reason) => {
    scratch.servers({ echo: fixture("echo") });
    const program = shell(script);
    expect(await program.ended).toBe(1);
    expect(program.stderr).toContain("plugboard: the output could not be written: ");
    expect(program.stderr).toContain(reason);
    const isCall = script.includes(" call ");
    expect(program.stderr.includes("the call has been made")).toBe(isCall);
  });

  it("is not failed by a full device that it has nothing to write to", async () => {
    scratch.servers({ echo: fixture("echo") });
    expect(await shell('"$NODE" "$BIN" audit > /dev/full').ended).toBe(0);
  });

  it.runIf(process.platform !== "win32").each(["SIGTERM", "SIGQUIT"] as const)(
    "ends its servers after %s",
    async (signal) => {
      scratch.servers({
        stubborn: fixture("ignores-sigterm", "--detached"),
        echo: fixture("echo"),
      });
      const program = plugboard("call", "echo/sleep", "ms=60000", "--verbose");
      await program.says("ready");
      program.child.kill(signal);
      expect(await program.ended).toBe(signal === "SIGTERM" ? 143 : 131);
      program.expectClean();
    },
  );

  it.runIf(process.platform === "linux")("ends even if a file operation hangs", async () => {
    // A read of a pipe to which nobody writes cannot be cancelled, and `process.exit` would wait for it.
    const pipe = `${scratch.directory}/pipe`;
    execFileSync("mkfifo", [pipe]);
    const command = 'exec "$0" "$1" --config /dev/fd/3 tools 3<>"$2"';
    const program = new Program("sh", ["-c", command, process.execPath, BIN, pipe]);
    await eventually(() => timesOpen(program.child.pid ?? 0, pipe) > 1);
    program.child.kill("SIGINT");
    await program.says("press Ctrl-C again");
    program.child.kill("SIGINT");
    expect(await program.ended).toBe("SIGINT");
  });
});

describe.skipIf(process.platform === "win32")("a command that needs the state alone", () => {
  it.each(["pins", "approvals", "tokens", "audit"])(
    "%s refuses a pipe in place of the configuration",
    async (name) => {
      execFileSync("mkfifo", [`${scratch.directory}/servers.json`]);
      const program = plugboard(name);
      expect(await program.ended).toBe(2);
      expect(program.stderr).toContain("is not a file; expected a configuration file");
    },
  );

  it("reads a configuration that a shell gives it", async () => {
    const program = shell(
      `echo '{ "mcpServers": {}, "audit": { "file": "shared.jsonl" } }' | "$NODE" "$BIN" --config /dev/stdin pins`,
    );
    expect(await program.ended).toBe(0);
  });
});

/** The shell has opened it once, and the command once more to read it. */
function timesOpen(pid: number, path: string): number {
  return readdirSync(`/proc/${pid}/fd`).filter((fd) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${fd}`) === path;
    } catch {
      return false;
    }
  }).length;
}

describe("the tour", () => {
  it.each<[string, () => Sink]>([
    ["in a pipe", () => new Sink()],
    ["at 80 columns", () => new Sink({ columns: 80 })],
  ])("runs on the demo, whatever is configured, %s", async (_, output) => {
    scratch.servers({ missing: { command: "no-such-command" } });
    const env = { NO_COLOR: "1", npm_lifecycle_event: "start" };
    const { code, stdout } = await scratch.run(["demo", "--json"], { stdout: output(), env });
    expect(code).toBe(0);
    expect(stdout).toMatch(/^demo +✓ ready +\d+ +/m);
    expect(stdout).toContain("demo/convert_time");
    expect(stdout).toMatch(/\n\$ plugboard call demo\/current_time zone=Tokyo\n.* in Asia\/Tokyo/);
    expect(stdout).toMatch(
      /\$ plugboard call demo\/convert_time time=14:30 from=Berlin to='Tokyo,New York'\n.*Europe\/Berlin/,
    );
    expect(stdout).toMatch(/\$ plugboard call demo\/countdown from=5\nLift-off/);
    expect(stdout).toContain("\n  plugboard add files -- npx ");
    expect(stdout).toContain("`npm link`");
    const [, more = ""] = stdout.split("\nMore\n");
    const pages = more.split("\n").flatMap((line) => (line.includes(".md") ? [line.trim()] : []));
    expect(pages.map((page) => [basename(page), existsSync(page)])).toEqual([
      ["README.md", true],
      ["cli.md", true],
      ["configuration.md", true],
    ]);
  });

  it("fits 80 columns", async () => {
    const { stdout } = await scratch.run(["demo"], {
      stdout: new Sink({ columns: 80 }),
      env: { NO_COLOR: "1" },
    });
    // A path is not broken, wherever the package is.
    const lines = stdout.split("\n").filter((line) => !line.endsWith(".md"));
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
  });

  it("is what a board without a configuration leads to", async () => {
    const { code, stdout } = await scratch.run([]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^the built-in demo\n/);
    expect(stdout).toContain("  plugboard demo ");
    expect(stdout).toContain("  plugboard add ");
    const json = await scratch.run(["--json"]);
    expect(JSON.parse(json.stdout)).toMatchObject({
      config: { source: "demo" },
      totals: { ready: 1 },
    });
  });
});
