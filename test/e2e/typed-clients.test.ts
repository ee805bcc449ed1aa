// What is generated for a server, as it is used: declarations that a compiler checks calls with, and a command line. Needs the
// build.

import { execFile } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import fc from "fast-check";
import { expect, it } from "vitest";
import { toolDeclarations } from "../../src/cli/types/declarations.ts";
import type { JsonObject } from "../../src/core/types/json.ts";
import type { Tool } from "../../src/core/types/tool.ts";
import { wild } from "../core/tools/schema/support/arbitrary.ts";
import { useScratch } from "../cli/harness.ts";
import { npmServer } from "../support/npm-servers.ts";

const scratch = useScratch();

/** As if Plugboard were installed there. */
function install(): void {
  mkdirSync(join(scratch.directory, "node_modules"));
  symlinkSync(resolve("."), join(scratch.directory, "node_modules/plugboard"));
}

interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

function run(file: string, args: readonly string[], env: Record<string, string> = {}) {
  const { directory: cwd } = scratch;
  const surroundings = { PATH: process.env["PATH"], PLUGBOARD_HOME: join(cwd, "home"), ...env };
  return promisify(execFile)(file, args, { cwd, env: surroundings }).then(
    (ended): Ended => ({ code: 0, ...ended }),
    (ended: Ended): Ended => ended,
  );
}

function tool(server: string, name: string, schemas: { inputSchema: JsonObject }): Tool {
  return {
    name: `mcp__${server}__${name}`,
    label: name,
    description: "",
    parameters: schemas.inputSchema,
    outputSchema: schemas.inputSchema,
    source: { kind: "mcp", server, tool: name },
    execute: () => Promise.reject(new Error("nobody calls it")),
  };
}

/** The tools of published servers, and of one that nobody would publish. */
function manyTools(): Tool[] {
  const folder = resolve("test/fixtures/schemas");
  const published = readdirSync(folder)
    .filter((each) => each.endsWith(".json"))
    .flatMap((file) => {
      const tools = JSON.parse(readFileSync(join(folder, file), "utf8")) as {
        name: string;
        inputSchema: JsonObject;
      }[];
      return tools.map((each) => tool(file.replace(/\.json$/, ""), each.name, each));
    });
  const hostile = fc.sample(wild, { seed: 20, numRuns: 200 });
  return [
    ...published,
    ...hostile.map((inputSchema, at) => tool("wild", `t${at}`, { inputSchema })),
  ];
}

const PROGRAM = `
import type { Board } from "plugboard";

export async function use(board: Board, name: string): Promise<void> {
  const read = await board.call("files/read_text_file", { path: "a.txt", head: 3 });
  const text: string | undefined = read.structuredContent?.content;
  const same = await board.call("mcp__files__read_text_file", { path: text ?? "" });
  same.structuredContent?.content.trim();
  // All of its arguments have a default.
  const time = await board.call("demo/current_time");
  time.structuredContent?.zone.trim();
  await board.call("demo/current_time", {}, { signal: AbortSignal.timeout(1) });
  await board.call("memory/create_entities", {
    entities: [{ name: "a", entityType: "b", observations: ["c"] }],
  });
  const echo = await board.call("everything/echo", { message: "hi" });
  const nothing: unknown = echo.structuredContent;
  // What the declarations do not know can be called as ever.
  const other = await board.call("nobody/knows", { anything: nothing });
  const any: unknown = other.structuredContent;
  await board.call(name, { any }, { framed: true });
  await board.call(name);

  // @ts-expect-error the argument is called path
  await board.call("files/read_text_file", { pth: "a.txt" });
  // @ts-expect-error it is a text
  await board.call("files/read_text_file", { path: 3 });
  // @ts-expect-error it is required
  await board.call("files/read_text_file");
  // @ts-expect-error it is required by the other name too
  await board.call("mcp__files__read_text_file", {});
  // @ts-expect-error one of the choices
  await board.call("files/list_directory_with_sizes", { path: "a", sortBy: "age" });
  // @ts-expect-error something inside a list
  await board.call("memory/create_entities", { entities: [{ name: "a" }] });
  // @ts-expect-error the result has no such part
  read.structuredContent?.contents;
  // @ts-expect-error nobody knows what it is
  other.structuredContent.anything;
}
`;

it("declarations of real servers check calls, and those of any server compile", async () => {
  install();
  scratch.servers({
    demo: { command: process.execPath, args: [resolve("dist/cli/demo/server/server.js")] },
    everything: { command: process.execPath, args: [await npmServer("server-everything")] },
    files: {
      command: process.execPath,
      args: [await npmServer("server-filesystem"), scratch.directory],
    },
    memory: { command: process.execPath, args: [await npmServer("server-memory")] },
  });
  const written = await scratch.run(["types", "--output", "tools.d.ts"]);
  expect(written).toMatchObject({
    code: 0,
    stdout: "",
    stderr: expect.stringContaining("tools in tools.d.ts"),
  });
  writeFileSync(join(scratch.directory, "program.ts"), PROGRAM);
  // Not as .d.ts: in such a file the compiler overlooks mistakes.
  const many = toolDeclarations(manyTools());
  writeFileSync(join(scratch.directory, "many.ts"), many);
  writeFileSync(
    join(scratch.directory, "checked.ts"),
    scratch.read("tools.d.ts").replaceAll('"plugboard"', '"./elsewhere.ts"'),
  );
  writeFileSync(join(scratch.directory, "elsewhere.ts"), "export interface ToolTypes {}\n");
  const compilerOptions = {
    strict: true,
    noEmit: true,
    module: "nodenext",
    target: "es2023",
    lib: ["es2023", "esnext.disposable"],
    allowImportingTsExtensions: true,
    typeRoots: [resolve("node_modules/@types")],
    types: ["node"],
    skipLibCheck: true,
  };
  const files = ["program.ts", "tools.d.ts", "many.ts", "checked.ts"];
  scratch.file("tsconfig.json", { compilerOptions, files });
  scratch.file("package.json", { type: "module" });
  const compiled = await run(process.execPath, [
    resolve("node_modules/typescript/bin/tsc"),
    "-p",
    ".",
  ]);
  expect(compiled).toEqual({ code: 0, stdout: "", stderr: "" });
});

it("a generated command line calls the tools of its server, wherever it is run", async () => {
  install();
  scratch.file("notes.txt", "one\ntwo\nthree\n");
  scratch.servers({
    demo: { command: process.execPath, args: [resolve("dist/cli/demo/server/server.js")] },
    files: {
      command: process.execPath,
      args: [await npmServer("server-filesystem"), scratch.directory],
    },
  });
  const generated = await Promise.all([
    scratch.run(["generate-cli", "files"]),
    scratch.run(["generate-cli", "demo", "--output", "bin/demo.mjs"]),
  ]);
  expect(generated.map(({ code, stdout }) => [code, stdout])).toEqual([
    [0, ""],
    [0, ""],
  ]);
  const files = join(scratch.directory, "files.mjs");
  const notes = join(scratch.directory, "notes.txt");
  const edit = { oldText: "two", newText: "2" };
  const [read, missing, edited, demo] = await Promise.all([
    run(process.execPath, [files, "read-text-file", "--path", notes, "--head", "2"]),
    run(files, ["read_text_file", "path=nothing.txt"]),
    run(files, ["edit-file", "--dry-run", "--edits", JSON.stringify(edit), `--path=${notes}`]),
    run("bin/demo.mjs", [
      "convert-time",
      "--json",
      "--time",
      "14:30",
      "--from",
      "Berlin",
      "--to",
      "Tokyo",
    ]),
  ]);
  expect(read).toEqual({ code: 0, stdout: "one\ntwo\n", stderr: "" });
  expect(missing).toMatchObject({
    code: 1,
    stdout: "",
    stderr: expect.stringContaining("read_text_file reported an error"),
  });
  expect(edited).toMatchObject({ code: 0, stdout: expect.stringContaining("-two\n+2\n") });
  expect(JSON.parse(demo.stdout)).toMatchObject({
    structuredContent: { from: { zone: "Europe/Berlin" } },
  });
  expect(scratch.read("notes.txt")).toBe("one\ntwo\nthree\n");

  // Without Plugboard there, or anywhere else.
  rmSync(join(scratch.directory, "node_modules"), { recursive: true });
  expect(await run(process.execPath, [files, "--help"], { PATH: "" })).toMatchObject({
    code: 3,
    stderr: expect.stringContaining("npm install -g plugboard"),
  });
});
