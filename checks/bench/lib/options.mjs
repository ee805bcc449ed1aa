// The bench's command line.

import { parseArgs } from "node:util";
import { contenders } from "../contenders.mjs";
import { scenarios } from "../scenarios.mjs";

export const USAGE = `usage: npm run bench -- [options]

  --quick                 fewer and shorter rounds: for a look, not for a claim
  --node <major|both>     the Node to measure on: the one running this, 24 (from npm), or both (default)
  --only <scenarios>      ${scenarios.map(({ name }) => name).join(", ")}
  --contenders <names>    ${contenders.map(({ name }) => name).join(", ")}
  --no-pin                leave the sequential calls to the scheduler instead of tying them to one CPU
  --json <file>           write every sample and verdict there too
  --help`;

/** Throws an Error that says what is wrong with the arguments. */
export function parseOptions(argv) {
  const { values } = parseArgs({
    args: argv,
    options: {
      quick: { type: "boolean", default: false },
      node: { type: "string", default: "both" },
      only: { type: "string" },
      contenders: { type: "string" },
      "no-pin": { type: "boolean", default: false },
      json: { type: "string" },
      help: { type: "boolean", default: false },
    },
  });
  if (!/^(both|\d+)$/.test(values.node)) {
    throw new Error(`--node takes a major version or "both", not "${values.node}"`);
  }
  return {
    quick: values.quick,
    node: values.node,
    scenarios: pick(scenarios, values.only, "--only"),
    contenders: pick(contenders, values.contenders, "--contenders"),
    pin: !values["no-pin"],
    json: values.json,
    help: values.help,
  };
}

function pick(all, names, option) {
  if (names === undefined) return all;
  const wanted = names.split(",").map((name) => name.trim());
  for (const name of wanted) {
    if (all.some((one) => one.name === name)) continue;
    throw new Error(`${option}: no "${name}"; there are ${all.map((one) => one.name).join(", ")}`);
  }
  return all.filter(({ name }) => wanted.includes(name));
}
