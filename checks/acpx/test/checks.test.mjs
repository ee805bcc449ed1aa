import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parseOptions, pickChecks, reasonOf, resultText } from "../../lib/checks.mjs";

describe("the command line", () => {
  it("builds and runs everything without a word", () => {
    const expected = { only: undefined, write: false, help: false, build: true };
    assert.deepEqual(parseOptions([]), expected);
  });

  it("takes a part, without a build", () => {
    const expected = { only: "session", write: false, help: false, build: false };
    assert.deepEqual(parseOptions(["--only", "session", "--no-build"]), expected);
  });

  it("writes whole runs alone", () => {
    assert.throws(() => parseOptions(["--write", "--only", "x"]), /leave --only out/);
  });
});

describe("the choice of checks", () => {
  const checks = [{ name: "a session ends" }, { name: "a call" }];

  it("is by words in their names", () => {
    assert.deepEqual(pickChecks(checks, "session"), [checks[0]]);
    assert.deepEqual(pickChecks(checks, undefined), checks);
  });

  it("is never empty", () => {
    assert.throws(() => pickChecks(checks, "dance"), /no check has "dance" in its name/);
  });
});

describe("the reason of a failure", () => {
  it("has lines of its own", () => {
    assert.equal(reasonOf(new Error("a\nb\n")), "    a\n    b");
    assert.equal(reasonOf("why"), "    why");
  });
});

describe("the result of a run", () => {
  const outcomes = [{ name: "one | two" }, { name: "three", reason: "    no" }];

  it("has a line for each check", () => {
    assert.equal(
      resultText(outcomes, "Last run: today."),
      [
        "Last run: today.",
        "",
        "| check      |        |",
        "| ---------- | ------ |",
        "| one \\| two | passed |",
        "| three      | failed |",
      ].join("\n"),
    );
  });

  it("ends with the notes on them", () => {
    const noted = [...outcomes, { name: "four", note: "10 processes" }];
    assert.match(resultText(noted, ""), /\| four .*\n\nFigures of that run:\n\n- 10 processes$/);
  });
});
