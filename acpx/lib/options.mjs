// The harness's command line.

import { parseArgs } from "node:util";

export const USAGE = `usage: npm run e2e:acpx -- [options]

  --only <words>   the checks alone whose names have these words in them
  --no-build       test dist/ as it is
  --write          write the result to docs/acpx.md (a whole run only)
  --help`;

/** Throws an Error that says what is wrong with the arguments. */
export function parseOptions(argv) {
  const { values } = parseArgs({
    args: argv,
    options: {
      only: { type: "string" },
      "no-build": { type: "boolean", default: false },
      write: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  const { only, write, help } = values;
  if (write && only !== undefined) {
    throw new Error("--write reports a whole run: leave --only out");
  }
  return { only, write, help, build: !values["no-build"] };
}

/** Throws where nothing is left: words that match nothing are a mistake. */
export function pickChecks(checks, only = "") {
  const picked = checks.filter(({ name }) => name.includes(only));
  if (picked.length > 0) return picked;
  throw new Error(`no check has "${only}" in its name`);
}
