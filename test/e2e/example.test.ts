// What examples/ and the screencast in the README show works as it stands.

import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { delimiter } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { bundleNpmServers } from "../support/npm-servers.ts";
import { expectNoProcesses } from "../support/processes.ts";

const run = promisify(execFile);
const root = fileURLToPath(new URL("../../", import.meta.url));

/** Before what an example prints. */
const BEGINS = "--- example ";

const SAME_CALLS = [/Hello, world!/, /09:00:00 in Europe\/Berlin/, /Unknown time zone/];

/** What each prints, among other things. */
const EXAMPLES: Record<string, RegExp[]> = {
  "ai-sdk.mjs": SAME_CALLS,
  "anthropic.mjs": SAME_CALLS,
  "board.mjs": SAME_CALLS,
  "clawtools.mjs": [
    ...SAME_CALLS,
    /registered: greet, demo__current_time, .*\n.*changed.*\nregistered: greet\n/,
  ],
  "langchain.mjs": SAME_CALLS,
  "openai.mjs": SAME_CALLS,
  "pi.mjs": SAME_CALLS,
  "acp-session.mjs": [
    /^- everything\/get-sum/m,
    /^\[question\] Allow once/m,
    /sum of 2 and 40 is 42/,
  ],
  "gateway.mjs": [/^one server with \d\d tools, for anna 1$/m, /^anna reads: has a gateway$/m],
  "policy.mjs": [
    /^the agent sees: read_file, .*, write_file$/m,
    /^may files\/write_file write notes.txt\? once\nfiles\/write_file: Successfully/m,
    /^may files\/write_file write other.txt\? refuse\nfiles\/write_file: NOT_APPROVED/m,
    /^files\/move_file: REFUSED_BY_POLICY/m,
  ],
  "search.mjs": [
    /^step 1: the prompt has 2 tools$/m,
    /calls mcp__everything__get-sum/,
    /^It is 42\.$/m,
  ],
  "secrets.mjs": [/^\[REDACTED\]\nEcho: \[REDACTED\]\nbroken: .*there is no file/],
};

it("every example is tested, and every one is listed in its README", async () => {
  const files = (await readdir(`${root}examples`)).filter((name) => name.endsWith(".mjs"));
  expect(files.toSorted()).toEqual(Object.keys(EXAMPLES).toSorted());
  const page = await readFile(`${root}examples/README.md`, "utf8");
  expect(files.filter((name) => !page.includes(`(${name})`))).toEqual([]);
});

/** One after the other in one process, since each takes longer to load what they share than to run. Ends when none holds it. */
const RUN_ALL = `
for (const file of process.argv.slice(1)) {
  console.log("${BEGINS}" + file);
  await import("./examples/" + file);
}`;

it("every example runs to its end", async () => {
  await bundleNpmServers();
  const PATH = `${root}test/support/bin${delimiter}${process.env["PATH"] ?? ""}`;
  const words = ["--input-type=module", "--eval", RUN_ALL, ...Object.keys(EXAMPLES)];
  const { stdout, stderr } = await run(process.execPath, words, {
    cwd: root,
    env: { ...process.env, PATH },
  });
  const [before, ...said] = stdout.split(BEGINS);
  expect(before).toBe("");
  for (const [index, [file, shows]] of Object.entries(EXAMPLES).entries()) {
    expect(said[index]).toMatch(new RegExp(`^${file}\n`));
    const text = said[index]?.slice(file.length + 1);
    for (const pattern of shows) expect(text, file).toMatch(pattern);
  }
  // What a server writes there is in the log of an agent that is not on a terminal.
  expect(stderr.replace("everything | Starting default (STDIO) server...\n", "")).toBe("");
  expectNoProcesses();
});

it("the recording in the README shows what its commands print (npm run docs:screencast makes it anew)", async () => {
  const { stdout } = await run(process.execPath, ["scripts/screencast.mjs", "--check"], {
    cwd: root,
  });
  expect(stdout).toBe("docs/screencast.svg is up to date.\n");
  expectNoProcesses();
});
