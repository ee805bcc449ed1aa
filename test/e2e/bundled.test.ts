// The library in a bundle, run where nothing else of it is. Needs the build. `checks/bundlers` tries other bundlers.

import { execFile } from "node:child_process";
import { statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { rolldown } from "rolldown";
import { expect, it } from "vitest";
import { useScratch } from "../cli/harness.ts";
import { fixture } from "../support/boards.ts";

const scratch = useScratch();

async function bundle(name: string, format: "esm" | "cjs"): Promise<string> {
  const input = fileURLToPath(new URL(`../../checks/bundlers/${name}.mjs`, import.meta.url));
  const file = join(scratch.directory, `${name}.${format === "esm" ? "mjs" : "cjs"}`);
  const bundling = await rolldown({ input, platform: "node", logLevel: "silent" });
  // It may make files beside it that nothing loads.
  const { output } = await bundling.generate({ format, codeSplitting: false });
  await bundling.close();
  writeFileSync(file, output[0].code);
  return file;
}

async function run(file: string, ...words: string[]): Promise<string> {
  const options = { cwd: scratch.directory };
  return (await promisify(execFile)(process.execPath, [file, ...words], options)).stdout;
}

it.each(["esm", "cjs"] as const)("as %s, it starts a server and calls it", async (format) => {
  const { command = "", args } = fixture("echo");
  const printed = await run(await bundle("program", format), command, ...(args ?? []));
  expect(JSON.parse(printed)).toEqual({ sum: { sum: 3 }, gone: "SERVER_UNAVAILABLE" });
});

it("is small for a program that only tells errors apart", async () => {
  const file = await bundle("one-error", "esm");
  expect(await run(file)).toBe("TIMEOUT\n");
  expect(statSync(file).size).toBeLessThan(50_000);
});
