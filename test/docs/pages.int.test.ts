// Every command in README.md and docs/ does what the page says. `UPDATE_DOCS=1` writes what commands print into the pages.

import { afterAll, it } from "vitest";
import { expectNoProcesses } from "../support/processes.ts";
import { allPages } from "./pages.ts";
import { Remote } from "./remote.ts";
import { isRun, runPage } from "./run-page.ts";

const remote = await Remote.start();

afterAll(async () => {
  await remote.close();
  expectNoProcesses();
});

const pages = allPages().filter(({ blocks }) => blocks.some(isRun));
const update = process.env["UPDATE_DOCS"] === "1";

/** Many commands, one after the other, beside other pages: a slow machine is not a failure. */
const timeout = 180_000;

// The pages show what Linux prints: its paths, its keyring, its shell.
it.runIf(process.platform === "linux").concurrent.for(pages)(
  "the commands of $path",
  { timeout },
  async (page, { expect: expected }) => {
    const problems = await runPage(page, remote, update);
    expected(problems.length, `\n\n${problems.join("\n\n")}\n\n`).toBe(0);
  },
);
