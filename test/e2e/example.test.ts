// What examples/ shows works as it stands.

import { execFile } from "node:child_process";
import { readdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";

const run = promisify(execFile);
const examples = fileURLToPath(new URL("../../examples/", import.meta.url));

const files = (await readdir(examples)).filter((name) => name.endsWith(".mjs"));

it.each(files)("%s runs to its end", async (file) => {
  const { stdout, stderr } = await run(process.execPath, [`${examples}${file}`]);
  expect(stdout).toContain("Hello, world!");
  expect(stdout).toContain("09:00:00 in Europe/Berlin");
  expect(stdout).toContain("Unknown time zone");
  if (file === "clawtools.mjs") {
    expect(stdout).toMatch(
      /registered: greet, demo__current_time, .*\n.*changed.*\nregistered: greet\n/,
    );
  }
  expect(stderr).toBe("");
});
