// A test is found beside the source it tests, under the same name. CONTRIBUTING.md has the rule.

import { existsSync, readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));

/** Suites about several folders at once, or about the repository itself. Keep this list short. */
const ACROSS_FOLDERS = [
  "faults.int.test.ts",
  "mirror.test.ts",
  "real-servers.int.test.ts",
  "remote.int.test.ts",
  "session.int.test.ts",
];

/** Named after a topic. To be renamed after the file or folder they test; nothing is added here. */
const NOT_YET_RENAMED = new Set([
  "agent/retry.int.test.ts",
  "auth/needs-auth.int.test.ts",
  "auth/processes.int.test.ts",
  "auth/refresh.int.test.ts",
  "auth/step-up.int.test.ts",
  "board/content-real.int.test.ts",
  "board/program-path.int.test.ts",
  "board/resource-rules.int.test.ts",
  "board/session/guard.int.test.ts",
  "board/session/lender.int.test.ts",
  "board/session/offers.int.test.ts",
  "bridge/schema/hostile.test.ts",
  "bridge/schema/properties.test.ts",
  "bridge/schema/real-servers.test.ts",
  "bridge/schema/rules/check.test.ts",
  "call-id.int.test.ts",
  "config/docs.test.ts",
  "config/file-messages.test.ts",
  "config/models.test.ts",
  "config/resources.test.ts",
  "config/server-messages.test.ts",
  "faces/acp/editor/answers.int.test.ts",
  "faces/acp/editor/turn.int.test.ts",
  "faces/acp/editor/with-model.int.test.ts",
  "faces/acp/hostile.int.test.ts",
  "faces/acp/model.int.test.ts",
  "faces/acp/prompt.int.test.ts",
  "faces/acp/servers/bad-servers.int.test.ts",
  "faces/acp/servers/servers.int.test.ts",
  "faces/acp/servers/sign-in.int.test.ts",
  "faces/acp/session/lives.int.test.ts",
  "faces/acp/session/mode.int.test.ts",
  "faces/acp/session/models.int.test.ts",
  "faces/adapters/exports.test.ts",
  "faces/cli/call/guard.int.test.ts",
  "faces/cli/content/content.int.test.ts",
  "faces/cli/guard-commands.test.ts",
  "faces/cli/guard.int.test.ts",
  "faces/cli/offers.int.test.ts",
  "guard/limits.board.int.test.ts",
  "guard/redaction.board.int.test.ts",
  "guard/results.board.int.test.ts",
  "net/limits.test.ts",
  "net/tls.int.test.ts",
  "server/hostile-words.int.test.ts",
  "server/process/tables.int.test.ts",
  "server/remote-everything.int.test.ts",
  "server/requests/everything.int.test.ts",
  "server/requests/http.test.ts",
]);

/** Tests that mirror nothing: of the built command, and of the tests' own tools. */
const ELSEWHERE = /^(?:e2e|fixtures|support)\//;

const tests = readdirSync(join(root, "test"), { recursive: true, encoding: "utf8" })
  .map((path) => path.replaceAll("\\", "/"))
  .filter((path) => path.endsWith(".test.ts") && !ELSEWHERE.test(path))
  .toSorted();

/**
 * `a/b.test.ts`, `a/b-part.test.ts` and `a/b.part.int.test.ts` are about `src/a/b.ts`, or about the folder
 * `src/a/b/`.
 */
function hasSource(path: string): boolean {
  const words = basename(path, ".test.ts").split(/(?=[.-])/);
  return words.some((_, index) => {
    const source = join(root, "src", dirname(path), words.slice(0, index + 1).join(""));
    return existsSync(`${source}.ts`) || existsSync(source);
  });
}

it("every test is named after a file or a folder of src/, or is listed as a suite across folders", () => {
  const strays = tests
    .filter((path) => !ACROSS_FOLDERS.includes(path) && !NOT_YET_RENAMED.has(path))
    .filter((path) => !hasSource(path))
    .map((path) => `test/${path}`);
  expect(
    strays,
    "These are named after nothing in src/. A test of src/a/x.ts, or of the folder src/a/x/, is " +
      "test/a/x.test.ts, x.int.test.ts if it starts processes, and x-part.test.ts for a part of x. A suite " +
      "across folders is test/<area>.int.test.ts, and is listed in test/mirror.test.ts.",
  ).toEqual([]);
});

it("no suite is listed as one across folders that is gone, or is named after its source", () => {
  const needless = ACROSS_FOLDERS.filter((path) => !tests.includes(path) || hasSource(path));
  expect(needless, "take these off the list in test/mirror.test.ts").toEqual([]);
});
