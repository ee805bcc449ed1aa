// Every piece of TypeScript and JavaScript on a page fits the library: all of them are compiled at once, each as a
// module, with the names below for what the page leaves out.

import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, expect, it } from "vitest";
import { allPages, root } from "./pages.ts";

/** What the pages take for granted: what a reader has, or has seen further up. */
const GIVEN = `
import type * as plugboard from "plugboard";
declare global {
  const openBoard: typeof plugboard.openBoard;
  const loadConfig: typeof plugboard.loadConfig;
  const config: plugboard.BoardConfig;
  const board: plugboard.Board;
  const session: plugboard.SessionBoard;
  const signal: AbortSignal;
  function openWindow(url: string | URL): void;
  function render(value: unknown): void;
  const onAuthorization: plugboard.OnAuthorization;
  const openai: import("openai").OpenAI;
  const anthropic: import("@anthropic-ai/sdk").Anthropic;
  const model: import("ai").LanguageModel;
  const prompt: string;
  const askThisUser: plugboard.OnElicitation;
  function ask(requests: object): Promise<Record<string, unknown>>;
  function confirm(question: string): Promise<boolean>;
  function showForm(...form: unknown[]): Promise<Record<string, string> | undefined>;
  const myModel: { chat(request: object): Promise<{ model: string; text: string }> };
  const registry: { register(tool: unknown): void };
  function lookUp(path: string, key: string | undefined, signal: AbortSignal): Promise<string>;
}
`;

const ADAPTERS = ["ai-sdk", "openai", "anthropic", "pi", "langchain", "clawtools"];

// Inside the repository, so that modules find its dependencies.
const directory = mkdtempSync(join(root, "node_modules", ".docs-code-"));
afterAll(() => rmSync(directory, { recursive: true }));

it("is JavaScript in the README, so that any supported version of Node runs it", async () => {
  const blocks = allPages().flatMap(({ path, blocks: all }) =>
    path === "README.md" ? all.filter(({ language }) => language === "ts") : [],
  );
  expect(blocks).not.toEqual([]);
  for (const { line, lines } of blocks) {
    const file = join(directory, `readme-${line}.mjs`);
    writeFileSync(file, lines.join("\n"));
    await promisify(execFile)(process.execPath, ["--check", file]);
  }
});

it("compiles", async () => {
  const places = new Map<string, { path: string; line: number }>();
  for (const { path, blocks } of allPages()) {
    for (const { language, line, lines } of blocks) {
      if (language !== "ts" && language !== "js") continue;
      const name = `${path.replaceAll("/", "-")}-${line}.${language}`;
      places.set(name, { path, line });
      writeFileSync(join(directory, name), `${lines.join("\n")}\nexport {};\n`);
    }
  }
  writeFileSync(join(directory, "given.d.ts"), GIVEN);
  writeFileSync(join(directory, "package.json"), '{ "type": "module" }');
  const sources = Object.fromEntries(
    ADAPTERS.map((name) => [`plugboard/${name}`, [join(root, `src/adapters/${name}.ts`)]]),
  );
  writeFileSync(
    join(directory, "tsconfig.json"),
    JSON.stringify({
      extends: join(root, "tsconfig.json"),
      compilerOptions: {
        allowJs: true,
        checkJs: true,
        // As a reader has it, whose settings are not ours.
        noUncheckedIndexedAccess: false,
        typeRoots: [join(root, "node_modules/@types")],
        paths: {
          plugboard: [join(root, "src/index.ts")],
          "plugboard/mcp": [join(root, "src/serve/mcp.ts")],
          ...sources,
        },
      },
      // The declarations that our own sources need.
      include: ["*", join(root, "src/core/net/undici-parts.d.ts")],
    }),
  );
  const output = await compile();
  // As `docs/library.md:31: error …`: the first line of a block is the one after its fence.
  const problems = output.replace(
    /^(?:.*\/)?([\w.-]+)\((\d+),\d+\):/gm,
    (whole, name: string, at: string) => {
      const place = places.get(name);
      return place === undefined ? whole : `${place.path}:${place.line + Number(at)}:`;
    },
  );
  // Our own sources are for stricter settings than those of a reader, and are checked with them elsewhere.
  expect(problems.split("\n").filter((line) => line !== "" && !line.startsWith("src/"))).toEqual(
    [],
  );
});

function compile(): Promise<string> {
  const args = [
    join(root, "node_modules/typescript/bin/tsc"),
    "-p",
    directory,
    "--noEmit",
    // Beside other tests, several would do the same work again and take no less time.
    "--checkers",
    "1",
    "--pretty",
    "false",
  ];
  return new Promise((resolve) => {
    execFile(process.execPath, args, { cwd: root, maxBuffer: 1 << 24 }, (_, stdout, stderr) => {
      resolve(`${stdout}${stderr}`);
    });
  });
}
