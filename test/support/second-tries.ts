// Names every test that failed and passed when it was run once more. Vitest counts such a test among those that pass.

import type { Reporter, TestModule } from "vitest/node";

export class SecondTries implements Reporter {
  readonly #write: (text: string) => void;

  constructor(write: (text: string) => void = (text) => void process.stdout.write(text)) {
    this.#write = write;
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    const names = modules.flatMap((module) =>
      [...module.children.allTests()]
        .filter((test) => test.diagnostic()?.flaky === true)
        .map((test) => `${module.relativeModuleId} > ${test.fullName}`),
    );
    if (names.length === 0) return;
    const count = names.length === 1 ? "1 test" : `${names.length} tests`;
    const lines = names.toSorted().map((name) => `  ${name}\n`);
    this.#write(`\n${count} passed only at the second try:\n${lines.join("")}\n`);
  }
}
