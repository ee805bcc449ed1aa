// `npm run e2e:openclaw`: the built Plugboard in the real OpenClaw. Fails where a check does.

import { runChecks } from "../lib/checks.mjs";
import { CHECKS } from "./checks.mjs";
import { versions } from "./lib/openclaw.mjs";
import { prepare } from "./lib/prepare.mjs";
import { openRig } from "./lib/rig.mjs";

await runChecks({
  who: "openclaw",
  script: "e2e:openclaw",
  checks: CHECKS,
  prepare,
  openRig,
  versions,
});
