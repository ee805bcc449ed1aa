// `npm run clients`: the built board in real MCP clients. Fails where a check does.

import { runChecks } from "../lib/checks.mjs";
import { CHECKS } from "./checks.mjs";
import { prepare } from "./lib/prepare.mjs";
import { versions } from "./lib/programs.mjs";
import { openRig } from "./lib/rig.mjs";

await runChecks({
  who: "clients",
  script: "clients",
  checks: CHECKS,
  prepare,
  openRig,
  versions,
});
