import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { minimise } from "../lib/minimise.mjs";
import { mutate, wordsIn } from "../lib/mutate.mjs";
import { Random } from "../lib/random.mjs";

const RUN = fileURLToPath(new URL("../run.mjs", import.meta.url));
const TARGETS = new URL("planted.ts", import.meta.url).href;
const cases = mkdtempSync(join(tmpdir(), "plugboard-fuzz-test-"));
after(() => rmSync(cases, { recursive: true, force: true }));

/** Resolves to the exit code and the output. */
function fuzz(...args) {
  return new Promise((resolve) => {
    const all = [RUN, ...args, "--targets", TARGETS, "--cases", cases, "--seed", "1"];
    execFile(process.execPath, all, (error, stdout) => resolve({ code: error?.code ?? 0, stdout }));
  });
}

describe("a run", () => {
  for (const name of ["throws", "dies", "strays"]) {
    it(`finds a fault behind three letters, and makes it small: ${name}`, async () => {
      const { code, stdout } = await fuzz(name, "--executions", "60000");
      assert.equal(code, 1, stdout);
      const [file] = readdirSync(join(cases, name));
      const input = readFileSync(join(cases, name, file));
      assert.ok(input.toString() === "fuz", input.toString());
    });
  }

  it("passes where nothing is wrong, and is the same again with the same seed", async () => {
    const [first, second] = [
      await fuzz("sound", "--executions", "500"),
      await fuzz("sound", "--executions", "500"),
    ];
    assert.equal(first.code, 0, first.stdout);
    assert.equal(existsSync(join(cases, "sound")), false);
    const digest = /digest (\w+)/;
    assert.equal(digest.exec(first.stdout)[1], digest.exec(second.stdout)[1]);
  });

  it("says how much of each file ran, if it is asked", async () => {
    const { stdout } = await fuzz("sound", "--executions", "50", "--files");
    assert.match(stdout, /^ +[1-9]\d? % {2}src\/util\/text\.ts$/m);
  });

  it("says which targets there are, where one is not", async () => {
    const { code } = await fuzz("nothing");
    assert.equal(code, 2);
  });
});

describe("an input that goes wrong", () => {
  it("loses what it does not need", async () => {
    const input = Buffer.from(`${"x".repeat(500)}bad${"y".repeat(500)}`);
    const smallest = await minimise(input, async (each) => each.includes("bad"));
    assert.equal(smallest.toString(), "bad");
  });

  it("stays as it is where every part is needed", async () => {
    const input = Buffer.from("a00");
    assert.deepEqual(await minimise(input, async (each) => each.equals(input)), input);
  });
});

describe("a new input", () => {
  it("is the same for the same seed, and no longer than it may be", () => {
    const corpus = [Buffer.from('{"a": 12}'), Buffer.from("other")];
    const make = () => {
      const random = new Random(7);
      const around = { corpus, words: wordsIn(corpus), longest: 40 };
      return Array.from({ length: 500 }, () => mutate(random, around).toString("latin1"));
    };
    const [first, second] = [make(), make()];
    assert.deepEqual(first, second);
    assert.ok(new Set(first).size > 400);
    assert.ok(first.every((text) => text.length <= 40));
  });
});
