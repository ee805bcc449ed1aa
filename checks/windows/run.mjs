// `npm run e2e:windows`: the project as a user of Windows has it, with Windows' Node under Wine. Without a Wine that can run it,
// every check is skipped.

import { runChecks } from "../lib/checks.mjs";
import { CHECKS } from "./checks.mjs";
import { openRig, prepare, versions, whyNoWine } from "./rig.mjs";

const reason = whyNoWine();
if (reason === undefined) {
  await runChecks({
    who: "windows",
    script: "e2e:windows",
    checks: CHECKS,
    prepare,
    openRig,
    versions,
  });
} else {
  for (const { name } of CHECKS) process.stdout.write(`${name}: skipped (${reason})\n`);
}
