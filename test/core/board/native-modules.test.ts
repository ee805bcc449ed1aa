// Native tools from modules that a configuration names.

import { execFileSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openBoard } from "../../../src/core/board/board.ts";
import { loadNativeModules } from "../../../src/core/board/native-modules.ts";
import { loadConfig } from "../../../src/core/config/load.ts";
import type { NativeModule } from "../../../src/core/types/agent-config.ts";
import { temporaryDirectory } from "../../support/directory.ts";

const TOOL = `{ name: "today", description: "The date.", parameters: { type: "object" },
  execute: () => ({ content: [{ type: "text", text: "Monday" }] }) }`;

async function directory(): Promise<string> {
  const path = temporaryDirectory();
  return path;
}

async function modules(...sources: string[]): Promise<NativeModule[]> {
  const folder = await directory();
  return Promise.all(
    sources.map(async (source, index) => {
      const written = `./tools${index}.mjs`;
      const path = join(folder, written);
      await writeFile(path, source);
      return { written, path };
    }),
  );
}

const named = (name: string): string => TOOL.replace("today", name);

describe("a module", () => {
  it.each<[string, string, string[]]>([
    ["a tool", `export default ${TOOL}`, ["today"]],
    ["a list", `export default [${named("a")}, ${named("b")}]`, ["a", "b"]],
    ["an empty list", `export default []`, []],
    ["a function", `export default () => (${TOOL})`, ["today"]],
    ["an async function", `export default async () => [${named("a")}]`, ["a"]],
    ["a function that leaves its tool out", `export default () => undefined`, []],
    [
      "a list of functions that see what is there",
      `export default [${named("a")}, ({ has, workspaceDir }) =>
        ({ ...${named("b")}, description: \`\${has("a")} \${workspaceDir}\` })]`,
      ["a", "b"],
    ],
  ])("exports %s", async (_, source, expected) => {
    const tools = await loadNativeModules(await modules(source), { workspaceDir: "/work" });
    expect(tools.map(({ name }) => name)).toEqual(expected);
  });

  it.runIf(process.platform !== "win32")(
    "is a file, and no pipe that nobody writes to",
    async () => {
      const path = join(await directory(), "tools.mjs");
      execFileSync("mkfifo", [path]);
      const given = [{ written: "./tools.mjs", path }];
      await expect(loadNativeModules(given, { workspaceDir: "/work" })).rejects.toMatchObject({
        message: expect.stringContaining("is not a file"),
      });
    },
  );

  it("is told the workspace", async () => {
    const source = `export default ({ workspaceDir }) => ({ ...${TOOL}, description: workspaceDir })`;
    const [tool] = await loadNativeModules(await modules(source), { workspaceDir: "/work" });
    expect(tool?.description).toBe("/work");
  });

  it.each<[string, string, RegExp]>([
    [
      "without a default export",
      `export const tool = ${TOOL}`,
      /has no default export; expected a/,
    ],
    [
      "with another export",
      "export default 5",
      /the default export is not a tool; expected a tool/,
    ],
    ["that throws", `throw new Error("no network")`, /cannot be loaded: no network/],
    ["with a mistake", "export default {", /cannot be loaded: /],
    [
      "whose function throws",
      `export default () => { throw "no" }`,
      /the default export failed: no/,
    ],
    [
      "whose function returns a function",
      "export default () => () => 1",
      /the default export returned a function/,
    ],
    [
      "whose tool has no description",
      `export default [${TOOL}, { name: "x" }]`,
      /the default export\[1\]\.description is missing; expected a text/,
    ],
    [
      "whose tool cannot run",
      `export default async () => ({ ...${TOOL}, execute: "x" })`,
      /what the default export returned\.execute is wrong; expected a function/,
    ],
    [
      "whose tool has a bad schema",
      `export default { ...${TOOL}, parameters: [] }`,
      /\.parameters is wrong; expected a JSON Schema object/,
    ],
    [
      "whose tool has a bad label",
      `export default { ...${TOOL}, label: 5 }`,
      /\.label is wrong; expected a text/,
    ],
    [
      "whose tool has a bad name",
      `export default { ...${TOOL}, name: "a b" }`,
      /\.name 'a b' must match/,
    ],
    ["with a tool twice", `export default [${TOOL}, ${TOOL}]`, /the tool 'today' is given twice/],
  ])("%s is refused with the file and the reason", async (_, source, reason) => {
    const loading = loadNativeModules(await modules(source), {});
    await expect(loading).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringMatching(/^tools\.native: \.\/tools0\.mjs: /),
    });
    await expect(loading).rejects.toThrow(reason);
  });

  it("that is not there is named with its path", async () => {
    const path = join(await directory(), "none.mjs");
    await expect(loadNativeModules([{ written: "none.mjs", path }], {})).rejects.toThrow(
      `tools.native: none.mjs: there is no such file: ${path}`,
    );
  });

  it("may not repeat a tool of another one", async () => {
    const both = await modules(`export default ${TOOL}`, `export default ${TOOL}`);
    await expect(loadNativeModules(both, {})).rejects.toThrow(
      /tools1\.mjs: the tool 'today' is given/,
    );
  });
});

describe("a board", () => {
  async function configured(source: string): Promise<Awaited<ReturnType<typeof loadConfig>>> {
    const [module] = await modules(source);
    const file = join(module?.path ?? "", "../plugboard.json");
    await writeFile(file, `{ agents: { defaults: { tools: { native: ["tools0.mjs"] } } } }`);
    return loadConfig(file);
  }

  it("has the tools of the configuration after yours", async () => {
    const agent = await configured(`export default ${TOOL}`);
    const mine = {
      name: "mine",
      description: "",
      parameters: {},
      execute: () => ({ content: [] }),
    };
    await using board = await openBoard(agent, { native: [mine] });
    expect(board.tools().map(({ name }) => name)).toEqual(["mine", "today"]);
    const outcome = await board.call("native/today");
    expect(outcome.content).toEqual([{ type: "text", text: "Monday" }]);
  });
});
