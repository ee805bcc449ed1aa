import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

/** Generous, since a slow machine is no failure; tests that start child processes wait for them. */
const QUICK_MS = 20_000;
const SLOW_MS = 60_000;

const cores = availableParallelism();

export default defineConfig({
  test: {
    allowOnly: false,
    projects: [
      {
        test: {
          name: "unit",
          include: ["test/**/*.test.ts"],
          exclude: ["test/**/*.int.test.ts", "test/e2e/**"],
          // Nothing is read at import or kept in modules, so that files can share a process: a third less work.
          isolate: false,
          maxWorkers: cores,
          testTimeout: QUICK_MS,
        },
      },
      {
        test: {
          name: "integration",
          include: ["test/**/*.int.test.ts"],
          isolate: false,
          // They wait more than they work.
          maxWorkers: 2 * cores,
          sequence: { groupOrder: 1 },
          testTimeout: SLOW_MS,
          hookTimeout: SLOW_MS,
        },
      },
      {
        test: {
          name: "e2e",
          include: ["test/e2e/**/*.test.ts"],
          // Alone and one after the other: every `plugboard` that starts reaps what killed ones left.
          sequence: { groupOrder: 2 },
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
