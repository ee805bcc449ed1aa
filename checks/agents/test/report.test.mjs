import assert from "node:assert/strict";
import { test } from "node:test";
import { page } from "../lib/report.mjs";

test("the page has the versions and each outcome", () => {
  const text = page({
    outcomes: [
      { name: "one", reason: undefined },
      { name: "two", reason: "why" },
    ],
    facts: {
      date: "2026-01-02",
      plugboard: "0.1.0",
      node: "20.1.0",
      cores: 2,
      agents: ["Codex 2.6.0", "OpenCode 1.2.3"],
      agentNode: "24.1.0",
      tsagent: "1.3.6",
    },
  });
  assert.match(
    text,
    /2026-01-02, Codex 2\.6\.0, OpenCode 1\.2\.3 on Node 24\.1\.0, tsagent 1\.3\.6/,
  );
  assert.match(text, /\| one +\| passed +\|\n\| two +\| failed +\|/);
});
