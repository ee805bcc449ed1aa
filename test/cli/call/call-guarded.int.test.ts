// Calls that the guard refuses, and secrets that no command prints.

import { beforeEach, describe, expect, it } from "vitest";
import { fixture } from "../../support/boards.ts";
import { useScratch } from "../harness.ts";

const scratch = useScratch();
const { configure } = scratch;

const run = (...argv: string[]) => scratch.run(["--config", "board.json", ...argv]);

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
        'plugboard: echo/crash is refused by the rule "echo/crash" in agents.defaults.tools.deny\nmore: plugboard help REFUSED_BY_POLICY\n',
      );
      // Known by now: nothing is started for it.
      expect((await run("call", name)).code).toBe(4);
    },
  );

  it("is not listed", async () => {
    const { stdout } = await run("tools");
    expect(stdout).toContain("echo/cwd");
    expect(stdout).not.toMatch(/crash|echo\/pid/);
    expect(JSON.parse((await run("status", "--json")).stdout)).toMatchObject({
      servers: [{ name: "echo", tools: 9 }],
    });
  });

  it("can be called with --owner if it is ownerOnly", async () => {
    const refused = await run("call", "echo/pid");
    expect(refused.code).toBe(4);
    expect(refused.stderr).toContain("if you are the owner, use --owner");
    expect(await run("--owner", "call", "echo/pid")).toMatchObject({ code: 0 });
    expect((await run("tools", "--owner")).stdout).toContain("echo/pid");
    expect((await run("call", "echo/crash", "--owner")).code).toBe(4);
  });

  it("does not make other unknown names look refused", async () => {
    expect((await run("call", "crahs")).code).toBe(2);
    expect((await run("call", "echo/nothing")).code).toBe(2);
  });
});

const offer = (description: string): string =>
  scratch.file("offer.json", { tools: [{ name: "read", description }] });

describe("a tool that changed", () => {
  beforeEach(async () => {
    const file = offer("Reads.");
    configure({ docs: fixture("from-file", `--file=${file}`) }, { pins: "block" });
    expect(await run("call", "docs/read")).toMatchObject({ code: 0, stdout: "read\n" });
    offer("Sends.");
  });

  it("is refused from the first call on, until it is approved", async () => {
    const refused = await run("call", "docs/read");
    expect(refused.code).toBe(4);
    expect(refused.stderr).toContain("docs/read is refused, since it changed after it was pinned");
    expect(refused.stderr).toContain("plugboard --config board.json pins approve docs/read");
    expect((await run("call", "docs/read")).code).toBe(4);
    expect((await run("pins", "show", "docs/read")).stdout).toContain(
      "    - Reads.\n    + Sends.\n",
    );
    expect(await run("pins", "approve", "docs/read")).toMatchObject({ code: 0 });
    expect(await run("call", "docs/read")).toMatchObject({ code: 0, stdout: "read\n" });
  });

  it("is reported by tools and status", async () => {
    const { stderr } = await run("tools", "--refresh");
    expect(stderr).toContain("changed since it was pinned");
    expect((await run("status")).stdout).toContain("changed since it was pinned");
  });
});

describe("a tool that changed since it was pinned, where pins only warn", () => {
  it("runs, and whoever first sees that is told so and how to prevent it", async () => {
    const file = offer("Reads.");
    configure({ docs: fixture("from-file", `--file=${file}`) });
    expect(await run("call", "docs/read")).toMatchObject({ code: 0, stdout: "read\n", stderr: "" });
    offer("Sends.");
    const called = await run("call", "docs/read");
    expect(called).toMatchObject({ code: 0, stdout: "read\n" });
    const told = called.stderr.replace(/\s+/g, " ");
    expect(told).toContain(
      `it is still used, except by rules for "@readOnly", since "pins" is "warn"; to accept it: `,
    );
    const overview = (await run()).stdout.replace(/\s+/g, " ");
    expect(overview).toContain(
      `! what 'docs' offers differs from what you first saw, and is still used; "pins": "block" would refuse it until you approve it: plugboard --config board.json pins show docs`,
    );
    await run("pins", "approve", "docs");
    expect((await run()).stdout).not.toContain("differs");
  });
});

describe("a secret of a server", () => {
  it("is not in anything that a command prints or stores", async () => {
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

it("plugboard call says how to enable a server that is disabled", async () => {
  scratch.file("board.json", { mcpServers: { off: { command: "off", enabled: false } } });
  const { code, stderr } = await run("call", "off/echo");
  expect(code).not.toBe(0);
  expect(stderr).toContain("server 'off' is disabled");
  expect(stderr).toMatch(/to enable it:\s+plugboard (--config board\.json )?enable off/);
});
