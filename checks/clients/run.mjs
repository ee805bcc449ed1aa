// `npm run clients`: the built board in real MCP clients. Fails where a check does.

import { readFileSync, writeFileSync } from "node:fs";
import { runChecks } from "../lib/checks.mjs";
import { CHECKS } from "./checks.mjs";
import { prepare } from "./lib/prepare.mjs";
import { versions } from "./lib/programs.mjs";
import { withResults } from "./lib/report.mjs";
import { openRig } from "./lib/rig.mjs";

const PAGE = new URL("../../docs/clients.md", import.meta.url);

await runChecks({
  who: "clients",
  script: "clients",
  page: "docs/clients.md",
  checks: CHECKS,
  prepare,
  openRig,
  write({ outcomes, facts }) {
    const report = { outcomes, facts: { ...facts, ...versions() } };
    writeFileSync(PAGE, withResults(readFileSync(PAGE, "utf8"), report));
  },
});
