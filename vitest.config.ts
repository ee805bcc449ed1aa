import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { SecondTries } from "./test/support/second-tries.ts";

/** Generous, since a slow machine is not a failure; tests that start child processes wait for them. */
const QUICK_MS = 20_000;
const SLOW_MS = 60_000;

const cores = availableParallelism();
const isCi = process.env["CI"] === "true";
/** What Vitest takes by itself, as long as nothing is named. */
const REPORTERS =
  process.env["GITHUB_ACTIONS"] === "true" ? ["default", "github-actions"] : ["default"];

/**
 * These kill a `plugboard`. Any other one that starts meanwhile would end what it left behind and say so on its stderr, which
 * disturbs tests that look at that. These do not, so they run at the end, beside each other.
 */
const KILLS = [
  "test/e2e/attached-killed.test.ts",
  "test/e2e/acp-killed.test.ts",
  "test/e2e/acp-openclaw.test.ts",
  "test/e2e/audit-killed.test.ts",
  "test/e2e/page-killed.test.ts",
];

/** This one looks at what is left behind until the next `plugboard` starts: nothing else may run meanwhile. */
const ALONE = ["test/e2e/killed-host.test.ts"];

/** They need a Chromium: one for all of them. */
const PAGE = ["test/page*.int.test.ts", "test/e2e/page*.test.ts"];
const CHROMIUM = "test/support/chromium.ts";

/** They take longer than their size says, so they begin before the others of their project: nobody waits for them at the end. */
const LONG = [
  "test/docs/pages.int.test.ts",
  "test/docs/examples.int.test.ts",
  "test/page.int.test.ts",
  "test/core/upstream/connect-remote.int.test.ts",
  "test/core/auth/authorizer-processes.int.test.ts",
  "test/core/process/containers.int.test.ts",
  "test/cli/call/running-board.int.test.ts",
  "test/serve/endpoint/http/entry-load.int.test.ts",
  "test/e2e/terminal.test.ts",
  "test/e2e/acp-slow-servers.test.ts",
];

class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const projects = [...new Set(sorted.map(({ project }) => project))];
    const isLong = ({ moduleId }: TestSpecification) =>
      LONG.some((path) => moduleId.endsWith(path));
    return projects.flatMap((project) => {
      const own = sorted.filter((each) => each.project === project);
      return [...own.filter(isLong), ...own.filter((each) => !isLong(each))];
    });
  }
}

/** Suites that start processes wait more than they work, so there are more of them at a time than cores. */
const startsProcesses = {
  maxWorkers: Math.ceil(2.5 * cores),
  testTimeout: SLOW_MS,
  hookTimeout: SLOW_MS,
};

export default defineConfig({
  test: {
    allowOnly: false,
    // A test that reaches no assertion cannot fail.
    // What a poll waits for has as long as anything else in a test: a slow machine is not a failure.
    expect: { requireAssertions: true, poll: { timeout: QUICK_MS - 5000, interval: 25 } },
    // The clouds' SDKs find no credentials of this machine, and ask no metadata server.
    env: {
      // A bundle of certificates costs every Node that a test starts some 40 ms.
      NODE_EXTRA_CA_CERTS: "",
      METADATA_SERVER_DETECTION: "none",
      GCE_METADATA_HOST: "127.0.0.1:9",
      GOOGLE_APPLICATION_CREDENTIALS: "",
      CLOUDSDK_CONFIG: "/nonexistent",
      AWS_EC2_METADATA_DISABLED: "true",
      AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: "true",
      AWS_SHARED_CREDENTIALS_FILE: "/nonexistent",
      AWS_CONFIG_FILE: "/nonexistent",
    },
    // The projects share what has been transformed, and so do runs: each source is transformed once, not once per project.
    experimental: { fsModuleCache: true },
    // A machine that is slow for a moment is not a failure. For CI alone: a race can hide behind it, so the report ends with
    // the names of those that needed it.
    ...(isCi && { retry: 1, reporters: [...REPORTERS, new SecondTries()] }),
    sequence: { sequencer: LongFirst },
    // Nothing is read at import or kept in modules, so files can share a process: a third less work.
    isolate: false,
    projects: [
      {
        extends: true,
        test: {
          name: "unit",
          include: ["test/**/*.test.ts"],
          exclude: ["test/**/*.int.test.ts", "test/e2e/**"],
          maxWorkers: cores,
          testTimeout: QUICK_MS,
        },
      },
      {
        extends: true,
        test: {
          ...startsProcesses,
          name: "integration",
          include: ["test/**/*.int.test.ts"],
          exclude: PAGE,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          ...startsProcesses,
          name: "e2e",
          include: ["test/e2e/**/*.test.ts"],
          exclude: [...PAGE, ...KILLS, ...ALONE],
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          ...startsProcesses,
          name: "page",
          include: PAGE,
          exclude: KILLS,
          globalSetup: CHROMIUM,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          ...startsProcesses,
          name: "e2e-kills",
          include: KILLS,
          globalSetup: CHROMIUM,
          sequence: { groupOrder: 2 },
        },
      },
      {
        extends: true,
        test: {
          ...startsProcesses,
          name: "e2e-alone",
          include: ALONE,
          sequence: { groupOrder: 3 },
        },
      },
    ],
    coverage: {
      provider: "v8",
      include: ["src/**/*.ts"],
      reporter: ["text-summary"],
      thresholds: { lines: 90, branches: 85 },
    },
  },
});
