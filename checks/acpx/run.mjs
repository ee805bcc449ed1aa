// `npm run e2e:acpx`: the built agent driven by the real acpx. Fails where a check does.

import { runChecks } from "../lib/checks.mjs";
import { CHECKS } from "./checks.mjs";
import { versions } from "./lib/acpx.mjs";
import { prepare } from "./lib/prepare.mjs";
import { openRig } from "./lib/rig.mjs";

await runChecks({
  who: "acpx",
  script: "e2e:acpx",
  checks: CHECKS,
  prepare,
  openRig,
  versions,
});
