// What the guard refuses, asks and keeps, at the command line.

import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { beforeEach, describe, expect, it } from "vitest";
import type { ServerConfig } from "../../../../src/model/server-config.ts";
import type { JsonObject } from "../../../../src/model/json.ts";
import { fixture } from "../../../support/boards.ts";
import { Sink, useScratch } from "../harness.ts";

const scratch = useScratch();

const run = (...argv: string[]) => scratch.run(["--config", "board.json", ...argv]);

/** A configuration whose defaults have these servers, and more to say. */
function configure(
  servers: Record<string, ServerConfig>,
  defaults: object = {},
  root: object = {},
) {
  scratch.file("board.json", { agents: { defaults: { mcp: { servers }, ...defaults } }, ...root });
}

describe("a tool that a rule refuses", () => {
  beforeEach(() =>
    configure(
      { echo: fixture("echo") },
      { tools: { deny: ["echo/crash"], ownerOnly: ["echo/pid"] } },
    ),
  );

  it.each(["echo/crash", "mcp__echo__crash", "crash"])(
    "is refused by every name, with the rule and code 4: %s",
    async (name) => {
      const { code, stdout, stderr } = await run("call", name);
      expect({ code, stdout }).toEqual({ code: 4, stdout: "" });
      expect(stderr).toBe(
        'plugboard: echo/crash is refused by the rule "echo/crash" in agents.defaults.tools.deny\n',
      );
      // Known by now: nothing is started for it.
      expect((await run("call", name)).code).toBe(4);
    },
  );

  it("is not listed", async () => {
    const { stdout } = await run("tools");
    expect(stdout).toContain("mcp__echo__cwd");
    expect(stdout).not.toMatch(/crash|mcp__echo__pid/);
    expect(JSON.parse((await run("status", "--json")).stdout)).toMatchObject([
      { name: "echo", tools: 9 },
    ]);
  });

  it("is there for the owner where it is for the owner alone", async () => {
    const refused = await run("call", "echo/pid");
    expect(refused.code).toBe(4);
    expect(refused.stderr).toContain("the owner calls it with --owner");
    expect(await run("--owner", "call", "echo/pid")).toMatchObject({ code: 0 });
    expect((await run("tools", "--owner")).stdout).toContain("mcp__echo__pid");
    expect((await run("call", "echo/crash", "--owner")).code).toBe(4);
  });

  it("does not hide that another name is unknown", async () => {
    expect((await run("call", "crahs")).code).toBe(2);
    expect((await run("call", "echo/nothing")).code).toBe(2);
  });
});

describe("a call that must be approved", () => {
  beforeEach(() => configure({ echo: fixture("echo") }, { tools: { approval: "ask" } }));

  /** Somebody at a terminal who types this when asked. */
  async function answering(answer: string, ...argv: string[]) {
    const stdin = Object.assign(new PassThrough(), { isTTY: true });
    const stderr = new Sink({ columns: 80, rows: 24 });
    const running = scratch.start(["--config", "board.json", ...argv], {
      stdin,
      stderr,
      env: { NO_COLOR: "1" },
    });
    await stderr.until("[N]o ");
    stdin.write(answer);
    return running.done;
  }

  it.each([
    ["y\n", 0, "3\n"],
    ["YES\n", 0, "3\n"],
    ["n\n", 4, ""],
    ["\n", 4, ""],
    ["sure\n", 4, ""],
  ])("is made or not by what is typed: %j", async (answer, code, stdout) => {
    expect(await answering(answer, "call", "add", "a=1", "b=2")).toMatchObject({ code, stdout });
    // And asked about again.
    expect(await answering(answer, "call", "add", "a=1", "b=2")).toMatchObject({ code, stdout });
  });

  it("is shown in full: what, why, with which arguments", async () => {
    const { stderr } = await answering("n\n", "call", "add", "a=1", "b=2");
    expect(stderr).toContain(
      [
        "echo/add needs your approval: every call of this tool needs approval",
        "  Adds two numbers.",
        "  self-described, unverified: readOnly: true",
        '  arguments: {"a":1,"b":2}',
        "Allow this call? [y]es, [a]lways, [N]o ",
      ].join("\n"),
    );
    expect(stderr).toContain("plugboard: echo/add was not approved\n");
  });

  it("is not asked about any more after an always, at a terminal or not", async () => {
    expect((await answering("a\n", "call", "echo", "text=hi")).stdout).toBe("hi\n");
    expect(await run("call", "echo", "text=again")).toEqual({
      code: 0,
      stdout: "again\n",
      stderr: "",
    });
    expect((await run("call", "add", "a=1", "b=2")).code).toBe(4);
  });

  it("is refused where nobody can be asked", async () => {
    const { code, stdout, stderr } = await scratch.run(
      ["--config", "board.json", "call", "echo", "text=hi"],
      { stdin: "y\n" },
    );
    expect({ code, stdout }).toEqual({ code: 4, stdout: "" });
    expect(stderr).toContain("echo/echo must be approved and nobody can be asked");
  });

  it("is not made after Ctrl-C at the question", async () => {
    const stdin = Object.assign(new PassThrough(), { isTTY: true });
    const stderr = new Sink({ columns: 80, rows: 24 });
    const argv = ["--config", "board.json", "call", "echo", "text=hi"];
    const running = scratch.start(argv, { stdin, stderr, env: { NO_COLOR: "1" } });
    await stderr.until("[N]o ");
    running.events.emit("SIGINT");
    expect(await running.done).toMatchObject({ code: 130, stdout: "" });
  });
});

describe("a tool that changed", () => {
  const offer = (description: string): string =>
    scratch.file("offer.json", { tools: [{ name: "read", description }] });

  beforeEach(async () => {
    const file = offer("Reads.");
    configure({ docs: fixture("from-file", `--file=${file}`) }, { pins: "block" });
    expect(await run("call", "docs/read")).toMatchObject({ code: 0, stdout: "read\n" });
    offer("Sends.");
  });

  it("is refused from the first call on, until somebody approves it", async () => {
    const refused = await run("call", "docs/read");
    expect(refused.code).toBe(4);
    expect(refused.stderr).toContain("docs/read is refused, since it changed after it was pinned");
    expect(refused.stderr).toContain("plugboard pins approve docs/read");
    expect((await run("call", "docs/read")).code).toBe(4);
    expect((await run("pins", "show", "docs/read")).stdout).toContain(
      "    - Reads.\n    + Sends.\n",
    );
    expect(await run("pins", "approve", "docs/read")).toMatchObject({ code: 0 });
    expect(await run("call", "docs/read")).toMatchObject({ code: 0, stdout: "read\n" });
  });

  it("is told of by whatever looks at the tools", async () => {
    const { stderr } = await run("tools", "--refresh");
    expect(stderr).toContain("changed since it was pinned");
    expect((await run("status")).stdout).toContain("changed since it was pinned");
  });
});

describe("plugboard audit", () => {
  const lines = async (...argv: string[]): Promise<JsonObject[]> =>
    (await run("audit", "--json", ...argv)).stdout
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as JsonObject);

  it("tells of every call that a command made, refused ones too", async () => {
    configure({ echo: fixture("echo") }, { tools: { deny: ["echo/crash"] } });
    await run("call", "echo", "text=hi");
    await run("call", "fail");
    await run("call", "echo/crash");
    expect(await lines()).toMatchObject([
      { type: "call", server: "echo", tool: "echo", decision: "allowed", outcome: "ok" },
      { tool: "fail", decision: "allowed", outcome: "error" },
      {
        tool: "crash",
        decision: "refused",
        rule: '"echo/crash" in agents.defaults.tools.deny',
        outcome: "REFUSED_BY_POLICY",
      },
    ]);
    expect(await lines("--tool", "echo/f*")).toHaveLength(1);
    expect(statSync(join(scratch.directory, "home", "audit.jsonl")).mode & 0o777).toBe(0o600);
  });

  it.each(["echo/add", "mcp__echo__add", "add"])(
    "has the arguments of a refused call, once: %s",
    async (name) => {
      configure(
        { echo: fixture("echo") },
        { tools: { deny: ["echo/add"] } },
        { audit: { arguments: true } },
      );
      expect((await run("call", name, "a=1", "b=2.5")).code).toBe(4);
      expect(await lines()).toMatchObject([
        { tool: "add", decision: "refused", arguments: { a: 1, b: 2.5 } },
      ]);
      // The rule comes before what is wrong with the arguments.
      expect((await run("call", name, "a=x")).code).toBe(4);
    },
  );

  it("has the hash of a refused call's own arguments", async () => {
    configure({ echo: fixture("echo") }, { tools: { deny: ["echo/add"] } });
    await run("call", "echo/add", "a=1", "b=2");
    await run("call", "echo/add", "a=1", "b=3");
    const hashes = (await lines()).map(({ argumentsHash }) => argumentsHash);
    expect(new Set(hashes).size).toBe(2);
  });

  it("finds the file that the configuration names", async () => {
    const audit = { file: "calls.jsonl", arguments: true };
    configure({ echo: fixture("echo") }, {}, { audit });
    await run("call", "echo", "text=hi");
    expect(await lines()).toMatchObject([{ tool: "echo", arguments: { text: "hi" } }]);
    expect(existsSync(join(scratch.directory, "calls.jsonl"))).toBe(true);
    expect(existsSync(join(scratch.directory, "home", "audit.jsonl"))).toBe(false);
  });
});

describe("a secret of a server", () => {
  it("is in nothing that a command prints or keeps", async () => {
    const token = "tok-3f9a77c1e2";
    const docs = { ...fixture("hostile-words"), env: { API_TOKEN: "${DOCS_TOKEN}" } };
    configure({ docs }, {}, { audit: { arguments: true } });
    const env = { DOCS_TOKEN: token };
    const printed: string[] = [];
    for (const argv of [
      ["status", "--json"],
      ["status", "docs"],
      ["tools", "--long"],
      ["call", "docs/tell", "--log-level", "debug", `text=${token}`],
      ["call", "docs/refuse", "--json"],
      ["audit", "--json"],
      ["pins", "--json"],
    ]) {
      const { stdout, stderr } = await scratch.run(["--config", "board.json", ...argv], { env });
      printed.push(stdout, stderr);
    }
    expect(printed.join("\n")).toContain("[REDACTED]");
    expect(printed.join("\n")).not.toContain(token);
  });
});
