// The harness's command line.

import { parseArgs } from "node:util";

export const USAGE = `usage: npm run conformance:client -- [options]
       npm run conformance:server -- [options]

  --scenario <name>    this scenario alone
  --version <version>  this revision of the protocol alone, or "extension"
  --direct             the fixture server alone, without the gateway (server only)
  --upstream <era>     2025 or 2026: the era of the server behind the gateway, for every revision (server only)
  --no-build           test dist/ as it is
  --write              write the result to docs/evidence.md (a whole run only)
  --help`;

const ROLES = new Set(["client", "server"]);
const ERAS = new Set(["2025", "2026"]);

/** Throws an Error that says what is wrong with the arguments. */
export function parseOptions(argv) {
  const { values, positionals } = parseArgs({
    args: argv,
    allowPositionals: true,
    options: {
      scenario: { type: "string" },
      version: { type: "string" },
      direct: { type: "boolean", default: false },
      upstream: { type: "string" },
      "no-build": { type: "boolean", default: false },
      write: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  const [role, ...rest] = positionals;
  if (!values.help && (!ROLES.has(role) || rest.length > 0)) {
    throw new Error(`say what to test: "client" or "server"`);
  }
  if (values.direct && role !== "server") {
    throw new Error("--direct leaves the gateway out: it is for the server alone");
  }
  if (values.upstream !== undefined && (role !== "server" || !ERAS.has(values.upstream))) {
    throw new Error("--upstream takes 2025 or 2026, for the server alone");
  }
  if (values.upstream !== undefined && values.write) {
    throw new Error("--upstream is for a look: the page is about servers of the suite's own era");
  }
  if (values.direct && values.write) {
    throw new Error(
      "--direct tests the fixture server: there is nothing to --write about Plugboard",
    );
  }
  const partial = values.scenario !== undefined || values.version !== undefined;
  if (values.write && partial) {
    throw new Error("--write reports a whole run: leave --scenario and --version out");
  }
  return {
    role,
    isDirect: values.direct,
    upstream: values.upstream,
    scenario: values.scenario,
    version: values.version,
    build: !values["no-build"],
    write: values.write,
    help: values.help,
  };
}
