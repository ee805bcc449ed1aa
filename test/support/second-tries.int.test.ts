// What CI prints of tests that fail and then pass: Vitest itself runs here, with the configuration of these tests.

import { execFile } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { temporaryDirectory } from "./directory.ts";

const run = promisify(execFile);
const config = fileURLToPath(new URL("../../vitest.config.ts", import.meta.url));
const vitest = join(
  dirname(createRequire(import.meta.url).resolve("vitest/package.json")),
  "vitest.mjs",
);

/** What Vitest prints about these files, by name, and its exit code. */
async function report(files: Record<string, string>): Promise<{ code: number; text: string }> {
  const root = temporaryDirectory();
  mkdirSync(join(root, "test"));
  for (const [name, content] of Object.entries(files)) {
    writeFileSync(join(root, "test", name), content);
  }
  const env = { ...process.env, CI: "true", GITHUB_ACTIONS: "", NO_COLOR: "1" };
  const args = [vitest, "run", "--root", root, "--config", config, "--globals", "--project=unit"];
  return run(process.execPath, args, { env, cwd: root }).then(
    ({ stdout }) => ({ code: 0, text: stdout }),
    (error: { code: number; stdout: string }) => ({ code: error.code, text: error.stdout }),
  );
}

it("names each test that passed only at the second try, with its file, and no other", async () => {
  const second = `let tries = 0;
    describe("a door", () => {
      it("opens", () => expect((tries += 1)).toBe(2));
      it("closes", () => expect(1).toBe(1));
    });`;
  const { code, text } = await report({
    "b.test.ts": second,
    "a.test.ts": second.replace('"opens"', '"opens again"'),
    "never.test.ts": 'it("never opens", () => expect(1).toBe(2));',
  });
  expect(text).toContain(
    "\n2 tests passed only at the second try:\n" +
      "  test/a.test.ts > a door > opens again\n" +
      "  test/b.test.ts > a door > opens\n\n",
  );
  expect(code).toBe(1);
});

it("says nothing where every test passed at once", async () => {
  const { code, text } = await report({ "a.test.ts": 'it("opens", () => expect(1).toBe(1));' });
  expect(text).toContain("1 passed");
  expect(text).not.toContain("second try");
  expect(code).toBe(0);
});
