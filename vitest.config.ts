import { defineConfig } from "vitest/config";

/** Tests that start child processes wait for them: generous, since a slow machine is no failure. */
const SLOW_MS = 60_000;

export default defineConfig({
  test: {
    allowOnly: false,
    projects: [
      {
        test: {
          name: "unit",
          include: ["test/**/*.test.ts"],
          exclude: ["test/**/*.int.test.ts", "test/e2e/**"],
        },
      },
      {
        test: {
          name: "integration",
          include: ["test/**/*.int.test.ts"],
          testTimeout: SLOW_MS,
          hookTimeout: SLOW_MS,
        },
      },
      {
        test: {
          name: "e2e",
          include: ["test/e2e/**/*.test.ts"],
          // Alone and one after the other: every `plugboard` that starts reaps what killed ones left.
          sequence: { groupOrder: 1 },
          fileParallelism: false,
          testTimeout: SLOW_MS,
          hookTimeout: SLOW_MS,
        },
      },
    ],
    coverage: {
      provider: "v8",
      include: ["src/**/*.ts"],
      reporter: ["text-summary", "html"],
      thresholds: { lines: 90, branches: 85 },
    },
  },
});
