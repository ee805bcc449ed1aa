// `npm run e2e:agents`: real ACP agents behind `plugboard acp --`. Fails where a check does.

import { writeFileSync } from "node:fs";
import { runChecks } from "../lib/checks.mjs";
import { CHECKS } from "./checks.mjs";
import { versions } from "./lib/agents.mjs";
import { prepare } from "./lib/prepare.mjs";
import { page } from "./lib/report.mjs";
import { openRig } from "./lib/rig.mjs";

await runChecks({
  who: "agents",
  script: "e2e:agents",
  page: "docs/agents.md",
  checks: CHECKS,
  prepare,
  openRig,
  write({ outcomes, facts }) {
    const text = page({ outcomes, facts: { ...facts, ...versions() } });
    writeFileSync(new URL("../../docs/agents.md", import.meta.url), text);
  },
});
