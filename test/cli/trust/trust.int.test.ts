import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { beforeEach, describe, expect, it } from "vitest";
import type { ServerConfig } from "../../../src/core/types/server-config.ts";
import { fixture } from "../../support/boards.ts";
import { Sink, useScratch } from "../harness.ts";

const scratch = useScratch();

let file: string;

/** What lies in the working directory. */
function found(servers: Record<string, ServerConfig>, root: object = {}): void {
  file = scratch.file("plugboard.json", { agents: { defaults: { mcp: { servers } } }, ...root });
}

/** Somebody at a terminal who types this. */
function person(types: string) {
  const stdin = Object.assign(new PassThrough(), { isTTY: true });
  stdin.write(types);
  return { stdin, stderr: new Sink({ columns: 80, rows: 24 }), env: { NO_COLOR: "1" } };
}

const touch = (): ServerConfig => ({
  command: process.execPath,
  args: ["-e", `require("fs").writeFileSync(${JSON.stringify(`${scratch.directory}/ran`)}, "")`],
});

const hasRun = (): boolean => existsSync(`${scratch.directory}/ran`);

describe("an untrusted configuration in the working directory", () => {
  beforeEach(() => found({ touch: touch() }));

  it.each([[[]], [["tools"]], [["tools", "--refresh"]], [["call", "touch/x"]], [["status"]]])(
    "starts nothing: plugboard %j",
    async (argv) => {
      const { code, stdout, stderr } = await scratch.run(argv);
      expect(code).toBe(2);
      expect(stdout).toBe("");
      expect(stderr).toContain(`${file} is not trusted yet, so nothing was started.\n`);
      expect(stderr).toContain("\nhint: if you trust it:\n  plugboard trust\n");
      const again = ["plugboard --config plugboard.json", ...argv].join(" ");
      expect(stderr).toContain(`\nto use it just once:\n  ${again}\n`);
      expect(hasRun()).toBe(false);
    },
  );

  it("is shown in full, with invisible characters written out", async () => {
    const long = "x".repeat(500);
    found(
      {
        sly: {
          command: "npx",
          args: ["-y", long, "a\u001b[2K\u202eb c"],
          env: { PATH: "/evil" },
          cwd: "sub",
          roots: ["/"],
          keepAlive: true,
        },
        site: {
          url: "https://example.com/mcp",
          headers: { "X-Key": "${AWS_SECRET_ACCESS_KEY}" },
          allowPrivate: true,
        },
        both: { transport: "sse", command: "unused", url: "https://example.com/sse" },
      },
      { network: { allow: ["10.0.0.0/8"] } },
    );
    const { stderr } = await scratch.run([]);
    expect(stderr.split("\n").slice(1, -6)).toEqual([
      "It would start or use:",
      `  sly: npx -y ${long} 'a\\u{1b}[2K\\u{202e}b c'`,
      "      in sub",
      "      with PATH=/evil",
      '      with roots: ["/"]',
      "      kept running between commands (keepAlive)",
      "  site: https://example.com/mcp",
      "      with the header X-Key: ${AWS_SECRET_ACCESS_KEY}",
      "      with allowPrivate: true",
      "  both: https://example.com/sse",
      '  network: {"allow":["10.0.0.0/8"]}',
      "Looser than by default: network.allow",
    ]);
  });

  it("is shown with the variables that run code, and why", async () => {
    found({ sly: { command: "node", env: { LD_PRELOAD: "/x.so", PATH: "./bin", MODE: "fast" } } });
    for (const argv of [["trust"], []]) {
      const lines = (await scratch.run(argv)).stderr.split("\n");
      expect(lines.filter((line) => line.startsWith("      "))).toEqual([
        "      with LD_PRELOAD=/x.so",
        "      with PATH=./bin",
        "      with MODE=fast",
        "      warning: LD_PRELOAD loads libraries into every program: code runs that the command does not show",
        "      warning: PATH has a directory that is not absolute, or of the workspace, whose programs would run in place of yours: code runs that the command does not show",
      ]);
    }
  });

  it.each([
    ["--config", ["--config", "plugboard.json", "status"], {}],
    ["$PLUGBOARD_CONFIG", ["status"], { PLUGBOARD_CONFIG: "plugboard.json" }],
  ])("needs no trust if it is named by %s", async (_, argv, env) => {
    found({ echo: fixture("echo") });
    expect(await scratch.run(argv, { env })).toMatchObject({ code: 0, stderr: "" });
  });

  it("needs no trust if it starts nothing", async () => {
    found({});
    expect(await scratch.run([])).toMatchObject({ code: 0 });
  });

  it("that is invalid is reported like any other", async () => {
    scratch.file("plugboard.json", "{ agents: 3 }");
    for (const argv of [["tools"], ["trust", "--yes"]]) {
      const { code, stderr } = await scratch.run(argv);
      expect(code).toBe(2);
      expect(stderr).toContain("agents");
      expect(stderr).not.toContain("trusted");
    }
  });
});

describe("plugboard trust", () => {
  beforeEach(() => found({ echo: fixture("echo") }));

  it("shows what there is to trust, asks, and lets it start afterwards", async () => {
    const surroundings = person("y\n");
    const { code, stdout } = await scratch.run(["trust"], surroundings);
    expect(code).toBe(0);
    expect(surroundings.stderr.text).toMatch(/^ {2}echo: .*echo\.mjs$/m);
    expect(surroundings.stderr.text).toContain("Trust it? [y/N] ");
    expect(stdout).toBe(
      `${file} is now trusted; you are asked again when it changes what it starts\n`,
    );
    expect(await scratch.run(["call", "echo/echo", "text=hi"])).toMatchObject({ code: 0 });
  });

  it.each(["\n", "n\n", "no\n", "yeah\n", "y".repeat(5000)])(
    "takes %j for a no",
    async (answer) => {
      const { code, stderr } = await scratch.run(["trust"], person(answer));
      expect(code).toBe(2);
      expect(stderr).toContain("you did not trust it; nothing has changed");
      expect((await scratch.run(["tools"])).code).toBe(2);
    },
  );

  it("treats the end of stdin as a no", async () => {
    const surroundings = person("y");
    surroundings.stdin.end();
    expect(await scratch.run(["trust"], surroundings)).toMatchObject({ code: 2 });
  });

  it("ends with Ctrl-C", async () => {
    const running = scratch.start(["trust"], person(""));
    await running.stderr.until("[y/N]");
    running.events.emit("SIGINT");
    expect((await running.done).code).toBe(130);
  });

  it("does not ask without a terminal, and changes nothing", async () => {
    const { code, stderr } = await scratch.run(["trust"], { stdin: "y\n" });
    expect(code).toBe(2);
    expect(stderr).toContain("cannot ask whether to trust it, because this is not a terminal");
    expect(stderr).toContain("plugboard trust --yes");
    expect((await scratch.run(["tools"])).code).toBe(2);
  });

  it("approves with --yes, and still shows what it trusts", async () => {
    const { code, stderr } = await scratch.run(["trust", "--yes"]);
    expect(code).toBe(0);
    expect(stderr).toContain("echo.mjs");
    expect(await scratch.run(["tools"])).toMatchObject({ code: 0 });
  });

  it("does nothing the second time", async () => {
    await scratch.run(["trust", "--yes"]);
    expect(await scratch.run(["trust"])).toEqual({
      code: 0,
      stdout: `${file} is already trusted\n`,
      stderr: "",
    });
  });

  it("asks again after a change of what starts, and says what changed", async () => {
    found({ echo: fixture("echo"), old: fixture("echo") });
    await scratch.run(["trust", "--yes"]);
    found({ echo: fixture("echo", "--other"), new: touch() });
    const { code, stderr } = await scratch.run(["tools"]);
    expect(code).toBe(2);
    expect(stderr).toContain(`${file} has changed since it was trusted, so nothing was started.
  added: server new
  changed: server echo
  removed: server old
It would start or use:
`);
    expect(hasRun()).toBe(false);
  });

  it("does not ask again after any other change", async () => {
    await scratch.run(["trust", "--yes"]);
    found({ echo: { ...fixture("echo"), timeout: 20_000, toolPrefix: "e" } });
    expect(await scratch.run(["tools"])).toMatchObject({ code: 0 });
  });

  it("lists the trusted files, and revokes one", async () => {
    expect(await scratch.run(["trust", "--list"])).toMatchObject({
      stderr: "no files are trusted\n",
    });
    await scratch.run(["trust", "--yes"]);
    const listed = await scratch.run(["trust", "--list"]);
    expect(listed.stdout).toMatch(/plugboard\.json {2}1 item, since \d{4}-\d\d-\d\d\n$/);
    expect(await scratch.run(["trust", "--revoke"])).toMatchObject({
      code: 0,
      stdout: `${file} is no longer trusted\n`,
    });
    expect((await scratch.run(["tools"])).code).toBe(2);
    const again = await scratch.run(["trust", "--revoke", "plugboard.json"]);
    expect(again.code).toBe(2);
    expect(again.stderr).toContain("is not trusted");
  });

  it("prints JSON with --json", async () => {
    const trusted = ["server echo"];
    const json = async (...argv: string[]): Promise<unknown> =>
      JSON.parse((await scratch.run(["trust", "--json", ...argv])).stdout);
    expect(await json("--yes")).toEqual({ file, trusted });
    expect(await json("--list")).toEqual([{ file, at: expect.any(Number), trusted }]);
    expect(await json("--revoke", "plugboard.json")).toEqual({ file, revoked: true });
  });

  it("uses the file given with --config", async () => {
    const other = scratch.file("other.json", scratch.read("plugboard.json"));
    expect(await scratch.run(["trust", "--yes", "--config", "other.json"])).toMatchObject({
      stdout: `${other} is now trusted; you are asked again when it changes what it starts\n`,
    });
    expect((await scratch.run(["tools"])).code).toBe(2);
  });

  it("refuses a directory without a file, whatever else is configured", async () => {
    const { code, stderr } = await scratch.run(["trust", "--config", "no.json"]);
    expect(code).toBe(2);
    expect(stderr).toContain("there is no such file");
  });
});

it("there is nothing to trust without a file in the working directory", async () => {
  scratch.servers({});
  const { code, stderr } = await scratch.run(["trust"]);
  expect(code).toBe(2);
  expect(stderr).toContain(`there is no plugboard.json to trust in ${scratch.directory}`);
});

describe("Plugboard's home", () => {
  const home = (): string => join(scratch.directory, "home");

  it("is refused where others can write to it, with the command to run", async () => {
    found({ touch: touch() });
    mkdirSync(home(), { recursive: true });
    chmodSync(home(), 0o777);
    const { code, stderr } = await scratch.run(["trust", "--yes"]);
    expect(code).toBe(2);
    expect(stderr).toContain(`other users can write to ${home()}`);
    expect(stderr).toContain(`chmod go-w ${home()}`);
  });

  it.each([
    [0o600, 0],
    [0o666, 2],
  ])("may have a configuration of mode %o: exit %i", async (mode, expected) => {
    mkdirSync(home(), { recursive: true, mode: 0o700 });
    const path = join(home(), "plugboard.json");
    const config = {
      agents: { defaults: { mcp: { servers: { touch: { ...touch(), lazy: true } } } } },
    };
    writeFileSync(path, JSON.stringify(config));
    chmodSync(path, mode);
    const { code, stderr } = await scratch.run(["status"]);
    expect({ code, isUntrusted: stderr.includes("is not trusted yet") }).toEqual({
      code: expected,
      isUntrusted: expected === 2,
    });
    if (expected === 0) return;
    expect(stderr).toContain("because other users can write to it");
    expect(stderr).toContain(`\n  chmod go-w ${path}\n`);
    expect(await scratch.run(["trust", "--yes"])).toMatchObject({
      code: 0,
      stdout: `${path} is now trusted; you are asked again when it changes what it starts\n`,
    });
    expect((await scratch.run(["status"])).code).toBe(0);
  });

  it("answers although its trust.json is a named pipe", async () => {
    found({ touch: touch() });
    mkdirSync(home(), { recursive: true, mode: 0o700 });
    execFileSync("mkfifo", [join(home(), "trust.json")]);
    const { stderr } = await scratch.run(["tools"]);
    expect(stderr).toContain("is not trusted yet");
  });
});
