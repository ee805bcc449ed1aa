import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parseOptions } from "../lib/options.mjs";

const names = (list) => list.map(({ name }) => name);

describe("options", () => {
  it("measure everything on both Nodes unless told otherwise", () => {
    const options = parseOptions([]);
    assert.equal(options.node, "both");
    assert.equal(options.quick, false);
    assert.equal(options.pin, true);
    assert.equal(options.scenarios.length, 15);
    assert.equal(options.contenders.length, 14);
  });

  it("pick scenarios and contenders by name, in the bench's order", () => {
    const options = parseOptions(["--only", "start, big-1", "--contenders", "sdk-v1,plugboard"]);
    assert.deepEqual(names(options.scenarios), ["big-1", "start"]);
    assert.deepEqual(names(options.contenders), ["plugboard", "sdk-v1"]);
  });

  for (const { argv, message } of [
    { argv: ["--only", "nothing"], message: /--only: no "nothing"; there are sequential/ },
    { argv: ["--contenders", ""], message: /--contenders: no ""/ },
    { argv: ["--node", "newest"], message: /--node takes a major version or "both"/ },
    { argv: ["--fast"], message: /--fast/ },
  ]) {
    it(`refuse ${argv.join(" ")}`, () => assert.throws(() => parseOptions(argv), message));
  }
});
