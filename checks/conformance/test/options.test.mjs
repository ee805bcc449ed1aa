import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parseOptions } from "../lib/options.mjs";

describe("options", () => {
  it("test everything, freshly built, and write nothing unless told otherwise", () => {
    assert.deepEqual(parseOptions(["client"]), {
      role: "client",
      isDirect: false,
      upstream: undefined,
      scenario: undefined,
      version: undefined,
      build: true,
      write: false,
      help: false,
    });
  });

  it("narrow a run", () => {
    const argv = ["client", "--scenario", "initialize", "--version", "2025-11-25", "--no-build"];
    const { scenario, version, build } = parseOptions(argv);
    assert.deepEqual(
      { scenario, version, build },
      {
        scenario: "initialize",
        version: "2025-11-25",
        build: false,
      },
    );
  });

  for (const { argv, message } of [
    { argv: [], message: /say what to test/ },
    { argv: ["proxy"], message: /say what to test/ },
    { argv: ["client", "server"], message: /say what to test/ },
    { argv: ["client", "--upstream", "2025"], message: /for the server alone/ },
    { argv: ["server", "--upstream", "2027"], message: /2025 or 2026/ },
    { argv: ["server", "--upstream", "2026", "--write"], message: /for a look/ },
    { argv: ["client", "--direct"], message: /for the server alone/ },
    { argv: ["server", "--direct", "--write"], message: /nothing to --write/ },
    { argv: ["client", "--fast"], message: /--fast/ },
    { argv: ["client", "--write", "--version", "2026-07-28"], message: /a whole run/ },
  ]) {
    it(`refuse "${argv.join(" ")}"`, () => assert.throws(() => parseOptions(argv), message));
  }
});
