import { execFile } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { PlugboardError } from "../../../src/core/types/errors.ts";
import { parseCookie } from "../../../src/core/process/cookie.ts";
import type {
  ServerProcess,
  StartProcessOptions,
} from "../../../src/core/process/start-process.ts";
import { startProcess } from "../../../src/core/process/start-process.ts";
import { explainSpawnFailure } from "../../../src/core/process/spawn-failure.ts";
import { taskkillPath } from "../../../src/core/process/stop-process-tree.ts";
import { eventually, expectNoProcesses, isAlive, processesWith } from "../../support/processes.ts";
import type { Compiled } from "../../support/compile.ts";
import { fixture, introduction } from "./fixtures.ts";
import { compileHost, hostArgs, testHost } from "./hosts.ts";

const servers: ServerProcess[] = [];
let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "plugboard-spawn-"));
});

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.stop()));
  expectNoProcesses();
});

afterAll(() => rm(directory, { recursive: true }));

async function spawn(options: StartProcessOptions): Promise<ServerProcess> {
  const server = await startProcess(options);
  servers.push(server);
  return server;
}

const script = (code: string, options: Partial<StartProcessOptions> = {}): Promise<ServerProcess> =>
  spawn({ command: process.execPath, args: ["-e", code], ...options });

describe("a server's process", () => {
  it("has three streams and reports its exit", async () => {
    const server = await script(
      `process.stdin.on("data", (d) => process.stdout.write(d)).on("end", () => {
         console.error("bye"); process.exitCode = 7; });`,
    );
    const stdout = text(server.stdout);
    const stderr = text(server.stderr);
    server.stdin.end("hello");
    expect(await server.exited).toEqual({ code: 7, signal: null });
    expect(await stdout).toBe("hello");
    expect(await stderr).toBe("bye\n");
  });

  it("reports the signal that ended it", async () => {
    const server = await script("setInterval(() => {}, 1000)");
    process.kill(server.pid, "SIGKILL");
    expect(await server.exited).toEqual({ code: null, signal: "SIGKILL" });
  });

  it("finds the baseline, what is configured and its cookie in its environment", async () => {
    const server = await script("console.log(JSON.stringify(process.env))", {
      env: { KEY: "k", HOME: "/elsewhere" },
      ambient: { PATH: "/bin", HOME: "/home/ada", OPENAI_API_KEY: "sk-1" },
    });
    const { PLUGBOARD_COOKIE, ...env } = JSON.parse(await text(server.stdout));
    expect(env).toEqual({ PATH: "/bin", HOME: "/elsewhere", KEY: "k" });
    expect(PLUGBOARD_COOKIE).toBe(server.cookie);
    expect(parseCookie(server.cookie)).toMatchObject({ pid: process.pid });
  });

  it("runs in the directory it was given", async () => {
    const server = await script("console.log(process.cwd())", { cwd: directory });
    expect((await text(server.stdout)).trim()).toMatch(/plugboard-spawn-/);
  });

  it("gets its arguments as they are: there is no shell", async () => {
    const args = ["$HOME", "a b", "`id`", "*", "", '"', "&& exit"];
    const code = "console.log(JSON.stringify(process.argv.slice(1)))";
    const server = await spawn({ command: process.execPath, args: ["-e", code, "--", ...args] });
    expect(JSON.parse(await text(server.stdout))).toEqual(args);
  });

  it("does not bring the host down by closing its pipes", async () => {
    const args = ["-c", "exec 0<&-; echo closed; sleep 60"];
    const server = await spawn({ command: "/bin/sh", args });
    await once(server.stdout, "data");
    server.stdin.write("into the void");
    const error = await once(server.stdin, "close").catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: "EPIPE" });
    await server.stop();
    expect(isAlive(server.pid)).toBe(false);
  });
});

describe("a command that cannot be started", () => {
  async function failure(options: StartProcessOptions): Promise<PlugboardError> {
    const error: unknown = await startProcess({ server: "docs", ...options }).catch(
      (e: unknown) => e,
    );
    if (!(error instanceof PlugboardError)) throw new Error("it was started, or failed otherwise");
    expect(error).toMatchObject({ code: "SPAWN_FAILED", server: "docs" });
    expect(error.cause).toBeInstanceOf(Error);
    return error;
  }

  it.each([
    ["uvx", "uv"],
    ["npx", "Node.js"],
    ["no-such-thing", "it"],
  ])("%s: it is not on the server's PATH", async (command, install) => {
    const error = await failure({ command, env: { PATH: `${directory}${delimiter}/none` } });
    expect(error.message).toBe(`command '${command}' was not found on PATH`);
    expect(error.hint).toContain(`install ${install} or give an absolute path;`);
    expect(error.hint).toContain(`${directory}${delimiter}/none`);
    expect(error.permanent).toBe(true);
  });

  it("suggests the runner that was meant, and shows a long PATH only as a cause", async () => {
    const own = join(directory, "with-npx");
    await mkdir(own);
    await writeFile(join(own, "npx"), "", { mode: 0o755 });
    const path = [own, ...Array.from({ length: 40 }, (_, at) => `/none/${at}`)].join(delimiter);
    const error = await failure({ command: "npxx", env: { PATH: path } });
    expect(error.hint).toBe("did you mean 'npx'? Otherwise install it or give an absolute path");
    expect(error.cause).toMatchObject({ message: `PATH is ${path}` });
  });

  it("because there is no PATH at all", async () => {
    const error = await failure({ command: "uvx", ambient: { HOME: "/" }, env: { PATH: "" } });
    expect(error.hint).toContain("PATH is empty");
  });

  it.each<[string, Partial<StartProcessOptions>, RegExp, RegExp]>([
    ["a missing file", { command: "/none/server" }, /'\/none\/server' does not exist/, /path$/],
    ["a missing relative file", { command: "./none" }, /does not exist/, /taken from .*spawn-/],
    ["a directory", { command: "./folder" }, /is a directory/, /inside it/],
    ["a device", { command: "/dev/null" }, /'\/dev\/null' is not a file/, /^name a program$/],
    ["a cwd that is a device", { cwd: "/dev/null" }, /is not a directory/, /set 'cwd'/],
    ["a file without the right", { command: "./plain" }, /not executable \(.*plain\)/, /chmod \+x/],
    ["the same on PATH", { command: "plain" }, /not executable \(.*plain\)/, /chmod \+x/],
    ["a script without interpreter", { command: "./script" }, /first line names does not/, /#!/],
    ["the same on PATH", { command: "script" }, /first line names does not/, /#!/],
    [
      "a whole command line",
      { command: `runs -y foo "a b" 'c'` },
      /^command 'runs -y foo .*' contains arguments; Plugboard uses no shell, so they belong in "args"$/,
      /^set "command": "runs", "args": \["-y","foo","a b","c"\]$/,
    ],
    [
      "a whole command line with a path",
      { command: "runs ./x.js" },
      /contains arguments/,
      /^set "command": "runs", "args": \["\.\/x.js"\]$/,
    ],
    [
      "a path with a space and arguments",
      { command: "./my tools/runs --x" },
      /contains arguments/,
      /^set "command": ".\/my tools\/runs", "args": \["--x"\]$/,
    ],
    ["a missing name with a space", { command: "none -y" }, /'none -y' was not found/, /install/],
    [
      "a missing cwd",
      { cwd: "/none/here" },
      /'\/none\/here' does not exist/,
      /set 'cwd' to another one/,
    ],
    ["a cwd that is a file", { cwd: "plain" }, /is not a directory/, /set 'cwd' to a directory/],
    [
      "a cwd that is a program",
      { cwd: "script" },
      /is not a directory/,
      /set 'cwd' to a directory/,
    ],
    ["a NUL in an argument", { args: ["a\0b"] }, /cannot start .*null bytes/, /check 'command'/],
    ["too long an argument", { args: ["x".repeat(1 << 23)] }, /cannot start .*E2BIG/, /'args'/],
  ])("%s: it says so", async (_, options, message, hint) => {
    await mkdir(join(directory, "folder"), { recursive: true });
    await writeFile(join(directory, "plain"), "text");
    await writeFile(join(directory, "script"), "#!/none/interpreter\n");
    await chmod(join(directory, "script"), 0o755);
    await mkdir(join(directory, "my tools"), { recursive: true });
    for (const path of ["runs", "my tools/runs"]) {
      await writeFile(join(directory, path), "#!/bin/sh\n");
      await chmod(join(directory, path), 0o755);
    }
    const cwd = options.cwd?.startsWith("/") ? options.cwd : join(directory, options.cwd ?? "");
    const env = { PATH: directory };
    const error = await failure({ command: process.execPath, env, ...options, cwd });
    expect(error.message).toMatch(message);
    expect(error.hint).toMatch(hint);
    expect(error.permanent).toBe(true);
  });

  it("because it may not enter its directory (root always may)", async () => {
    const cwd = join(directory, "closed");
    await mkdir(cwd, { mode: 0 });
    const spawning = spawn({ command: process.execPath, args: ["-v"], cwd });
    const outcome = await spawning.then(() => "started", String);
    expect(outcome).toMatch(process.geteuid?.() === 0 ? /^started$/ : /cannot be entered/);
  });

  it.each(["EAGAIN", "EMFILE", "ENFILE", "ENOMEM"])(
    "because of %s may be started later",
    async (code) => {
      const spawned = {
        command: "x",
        cwd: "/none",
        env: {},
        platform: "linux",
        server: "s",
      } as const;
      const error = await explainSpawnFailure(Object.assign(new Error(code), { code }), spawned);
      expect(error).toMatchObject({ code: "SPAWN_FAILED", permanent: false });
      expect(error.message).toMatch(/^cannot start 'x': (too many|this process|the system)/);
    },
  );

  it("is explained even if the reason is not an Error", async () => {
    const spawned = { command: "x", cwd: undefined, env: {}, platform: "linux", server: undefined };
    const error = await explainSpawnFailure("odd", { ...spawned, platform: "linux" });
    expect(error.message).toBe("cannot start 'x': odd");
    expect(error.server).toBeUndefined();
  });
});

describe("a host that has run out of files", () => {
  let compiled: Compiled;
  beforeAll(async () => {
    compiled = await compileHost();
  });
  afterAll(() => compiled.remove());

  it("can try again, and leaves nothing of what it had started", async () => {
    const said = String.raw`echo '{}'; exec sleep 60`;
    const list = Array.from({ length: 20 }, () => ({ command: "/bin/sh", args: ["-c", said] }));
    const limited = 'ulimit -n 64 && exec "$0" "$@"';
    const args = ["-c", limited, process.execPath, ...hostArgs(compiled.modules, list, "exit")];
    const { stdout } = await promisify(execFile)("/bin/sh", args);
    const failed = JSON.parse(stdout).flatMap(
      (outcome: { failed?: object }) => outcome.failed ?? [],
    );
    expect(failed.at(-1)).toEqual({
      code: "SPAWN_FAILED",
      permanent: false,
      message: expect.stringContaining("too many files open"),
    });
    await eventually(() => processesWith(testHost.space).length === 0);
  });
});

// What Windows does differently, as far as it can be run anywhere: cross-spawn, no groups, taskkill.
describe("on Windows", () => {
  let taskkill: string;
  beforeAll(async () => {
    taskkill = join(directory, "taskkill");
    await writeFile(taskkill, `#!/bin/sh\necho "$@" >> "$0.log"\nkill -9 "$2"\n`);
    await chmod(taskkill, 0o755);
  });

  const windows = (
    name: string,
    options: Partial<StartProcessOptions> = {},
  ): Promise<ServerProcess> =>
    spawn({
      command: process.execPath,
      args: [fixture(name)],
      platform: "win32",
      taskkill,
      timing: { eof: 2000, kill: 300 },
      ...options,
    });

  it("a server that ends with stdin is left to do so", async () => {
    const server = await windows("polite", { timing: { eof: 10_000 } });
    await introduction(server.stdout);
    await server.stop();
    expect(await server.exited).toEqual({ code: 0, signal: null });
  });

  it("any other is ended with all below it by taskkill", async () => {
    const server = await windows("stubborn", { timing: { eof: 50 } });
    await introduction(server.stdout);
    await server.stop();
    expect(await server.exited).toEqual({ code: null, signal: "SIGKILL" });
    expect(await readFile(`${taskkill}.log`, "utf8")).toBe(`/pid ${server.pid} /T /F\n`);
  });

  it.each([
    [{ SystemRoot: "D:\\Win" }, "D:\\Win\\System32\\taskkill.exe"],
    [{ SYSTEMROOT: "D:\\Win" }, "D:\\Win\\System32\\taskkill.exe"],
    [{}, "C:\\Windows\\System32\\taskkill.exe"],
  ])("taskkill is the system's own (%j)", (env, path) => {
    expect(taskkillPath(env)).toBe(path);
  });

  it("one that cannot be ended is reported", async () => {
    const warnings: string[] = [];
    const logger = { debug() {}, info() {}, error() {}, warn: (m: string) => warnings.push(m) };
    const options = { taskkill: "/none/taskkill", timing: { eof: 1, kill: 50 } };
    const server = await windows("stubborn", { ...options, logger });
    await server.stop();
    expect(warnings).toEqual(["a server's process cannot be ended"]);
    process.kill(server.pid, "SIGKILL");
    await server.exited;
  });
});
