// `npm run e2e:agents`: real ACP agents behind `plugboard acp --`. Fails where a check does.

import { runChecks } from "../lib/checks.mjs";
import { CHECKS } from "./checks.mjs";
import { versions } from "./lib/agents.mjs";
import { newerReleases } from "./lib/newer.mjs";
import { prepare } from "./lib/prepare.mjs";
import { openRig } from "./lib/rig.mjs";

await runChecks({
  who: "agents",
  script: "e2e:agents",
  checks: CHECKS,
  prepare(options) {
    prepare(options);
    for (const line of newerReleases()) process.stdout.write(`${line}\n`);
  },
  openRig,
  versions,
});
