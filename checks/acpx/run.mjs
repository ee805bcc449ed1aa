// `npm run e2e:acpx`: the built agent driven by the real acpx. Fails where a check does.

import { writeFileSync } from "node:fs";
import { runChecks } from "../lib/checks.mjs";
import { CHECKS } from "./checks.mjs";
import { versions } from "./lib/acpx.mjs";
import { prepare } from "./lib/prepare.mjs";
import { page } from "./lib/report.mjs";
import { openRig } from "./lib/rig.mjs";

await runChecks({
  who: "acpx",
  script: "e2e:acpx",
  page: "docs/acpx.md",
  checks: CHECKS,
  prepare,
  openRig,
  write({ outcomes, facts }) {
    const text = page({ outcomes, facts: { ...facts, ...versions() } });
    writeFileSync(new URL("../../docs/acpx.md", import.meta.url), text);
  },
});
