import assert from "node:assert/strict";
import { test } from "node:test";
import { run } from "../lib/processes.mjs";

test("what is measured runs without what someone has set for their own Node", async () => {
  const names = ["NODE_OPTIONS", "NODE_EXTRA_CA_CERTS"];
  const before = names.map((name) => process.env[name]);
  process.env.NODE_OPTIONS = "--no-warnings";
  process.env.NODE_EXTRA_CA_CERTS = "/nowhere/ca.pem";
  try {
    const code = `console.log(JSON.stringify(${JSON.stringify(names)}.map((name) => name in process.env)))`;
    const env = { OWN: "1" };
    const { stdout } = await run(process.execPath, ["-e", code], { env, timeLimit: 30 });
    assert.deepEqual(JSON.parse(stdout), [false, false]);
  } finally {
    names.forEach((name, at) => {
      if (before[at] === undefined) delete process.env[name];
      else process.env[name] = before[at];
    });
  }
});
