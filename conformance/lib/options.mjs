// The harness's command line.

import { parseArgs } from "node:util";

export const USAGE = `usage: npm run conformance:client -- [options]

  --scenario <name>    this scenario alone
  --version <version>  this revision of the protocol alone, or "extension"
  --no-build           test dist/ as it is
  --write              write the result to docs/conformance.md (a whole run only)
  --help`;

/** Throws an Error that says what is wrong with the arguments. */
export function parseOptions(argv) {
  const { values, positionals } = parseArgs({
    args: argv,
    allowPositionals: true,
    options: {
      scenario: { type: "string" },
      version: { type: "string" },
      "no-build": { type: "boolean", default: false },
      write: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  if (!values.help && (positionals.length !== 1 || positionals[0] !== "client")) {
    throw new Error(`say what to test: "client"`);
  }
  const partial = values.scenario !== undefined || values.version !== undefined;
  if (values.write && partial) {
    throw new Error("--write reports a whole run: leave --scenario and --version out");
  }
  return {
    scenario: values.scenario,
    version: values.version,
    build: !values["no-build"],
    write: values.write,
    help: values.help,
  };
}
