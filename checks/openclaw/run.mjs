// `npm run e2e:openclaw`: the built Plugboard in the real OpenClaw. Fails where a check does.

import { readFileSync, writeFileSync } from "node:fs";
import { totalmem } from "node:os";
import { runChecks } from "../lib/checks.mjs";
import { CHECKS } from "./checks.mjs";
import { versions } from "./lib/openclaw.mjs";
import { prepare } from "./lib/prepare.mjs";
import { withResults } from "./lib/report.mjs";
import { openRig } from "./lib/rig.mjs";

const PAGE = new URL("../../docs/openclaw.md", import.meta.url);
const GIB = 2 ** 30;

await runChecks({
  who: "openclaw",
  script: "e2e:openclaw",
  page: "docs/openclaw.md",
  checks: CHECKS,
  prepare,
  openRig,
  write({ outcomes, facts }) {
    const memory = Math.round(totalmem() / GIB);
    const report = { outcomes, facts: { ...facts, ...versions(), memory } };
    writeFileSync(PAGE, withResults(readFileSync(PAGE, "utf8"), report));
  },
});
