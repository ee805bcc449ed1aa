import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

/** Generous, since a slow machine is not a failure; tests that start child processes wait for them. */
const QUICK_MS = 20_000;
const SLOW_MS = 60_000;

const cores = availableParallelism();

/**
 * These kill a `plugboard`. Any other one that starts meanwhile would end what it left behind and say so on
 * its stderr, which disturbs both tests. So they run at the end, one after the other.
 */
const ALONE = [
  "test/e2e/killed-host.test.ts",
  "test/e2e/acp-killed.test.ts",
  "test/e2e/acp-openclaw.test.ts",
  "test/e2e/attached.test.ts",
];

/** Suites that start processes wait more than they work, so there are more of them at a time than cores. */
const startsProcesses = {
  maxWorkers: 2 * cores,
  testTimeout: SLOW_MS,
  hookTimeout: SLOW_MS,
};

export default defineConfig({
  test: {
    allowOnly: false,
    // A test that reaches no assertion cannot fail.
    // What a poll waits for has as long as anything else in a test: a slow machine is not a failure.
    expect: { requireAssertions: true, poll: { timeout: QUICK_MS - 5000, interval: 10 } },
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
    // A machine that is slow for a moment is not a failure. For CI alone, since the report does not say which tests passed
    // the second time: a race can hide behind it, and shows only where you run the tests yourself.
    retry: process.env["CI"] === "true" ? 1 : 0,
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
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          ...startsProcesses,
          name: "e2e",
          include: ["test/e2e/**/*.test.ts"],
          exclude: ALONE,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          ...startsProcesses,
          name: "e2e-alone",
          include: ALONE,
          fileParallelism: false,
          sequence: { groupOrder: 2 },
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
