import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../src/core/types/json.ts";
import { fixture } from "../../support/boards.ts";
import { useScratch } from "../harness.ts";

const scratch = useScratch();
const { configure } = scratch;

const run = (...argv: string[]) => scratch.run(["--config", "board.json", ...argv]);

describe("plugboard audit", () => {
  const lines = async (...argv: string[]): Promise<JsonObject[]> =>
    (await run("audit", "--json", ...argv)).stdout
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as JsonObject);

  it("lists every call that a command made, including refused ones", async () => {
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

  it("reads the file that the configuration names", async () => {
    const audit = { file: "calls.jsonl", arguments: true };
    configure({ echo: fixture("echo") }, {}, { audit });
    await run("call", "echo", "text=hi");
    expect(await lines()).toMatchObject([{ tool: "echo", arguments: { text: "hi" } }]);
    expect(existsSync(join(scratch.directory, "calls.jsonl"))).toBe(true);
    expect(existsSync(join(scratch.directory, "home", "audit.jsonl"))).toBe(false);
  });
});
