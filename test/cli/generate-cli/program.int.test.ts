import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { programText } from "../../../src/cli/generate-cli/program.ts";
import { useScratch } from "../harness.ts";

const scratch = useScratch();

it("a generated file does not run what is in the directory where it is called", () => {
  for (const directory of ["bin", "project/node_modules/plugboard", "project/x"]) {
    mkdirSync(join(scratch.directory, directory), { recursive: true });
  }
  const exports = { "./server-cli": "./evil.mjs" };
  scratch.file("project/node_modules/plugboard/package.json", { name: "plugboard", exports });
  scratch.file(
    "project/node_modules/plugboard/evil.mjs",
    "export const runServerCli = () => { console.log('evil'); return 0; };",
  );
  scratch.file("project/plugboard", "");
  scratch.file("project/x/plugboard", "");
  const file = scratch.file(
    "bin/docs.mjs",
    programText({ name: "docs", server: {}, tools: [] }, undefined),
  );
  const run = (): string =>
    execFileSync(process.execPath, [file], {
      cwd: join(scratch.directory, "project"),
      env: { PATH: ":x:." },
      encoding: "utf8",
      stdio: "pipe",
    });
  expect(run).toThrow(/needs Plugboard, which is not installed/);
});

it("a generated file opens no debugger at a signal, before anything of Plugboard is loaded", () => {
  mkdirSync(join(scratch.directory, "bin/node_modules/plugboard"), { recursive: true });
  const exports = { "./server-cli": "./library.mjs" };
  scratch.file("bin/node_modules/plugboard/package.json", { name: "plugboard", exports });
  scratch.file(
    "bin/node_modules/plugboard/library.mjs",
    "export const runServerCli = () => { console.log(process.listenerCount('SIGUSR1')); return 0; };",
  );
  const text = programText({ name: "docs", server: {}, tools: [] }, undefined);
  const file = scratch.file("bin/docs.mjs", text);
  expect(execFileSync(process.execPath, [file], { encoding: "utf8" })).toBe("1\n");
});
