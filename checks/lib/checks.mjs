// For rigs that are a list of checks (acpx, agents, clients, fleet, openclaw, windows): their command line, one check after the other in one rig,
// and the outcome in words.

import { parseArgs } from "node:util";
import { EVIDENCE, gatherFacts, lastRun, table, writeEvidence } from "./evidence.mjs";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"];

/**
 * Runs the whole command and sets the exit code: 0 if all checks pass, 1 if one does not, 2 if nothing could be
 * tested. `who` begins every message and names the part of docs/evidence.md, `script` is the npm script, `versions()` returns
 * the programs that Plugboard is tried with and their versions, in words. A check is `{ name, run(rig) }`, and what `run`
 * resolves to is a note on its outcome; `openRig()` resolves to a rig with `close()`; `textOf` makes the text for docs/evidence.md, and `keepsOthers`
 * says that it keeps what earlier runs have written of other checks.
 */
export async function runChecks({
  who,
  script,
  checks,
  prepare,
  openRig,
  versions,
  textOf = resultText,
  keepsOthers = false,
}) {
  const usage = usageOf(script, keepsOthers);
  try {
    const options = parseOptions(process.argv.slice(2), { keepsOthers });
    if (options.help) {
      process.stdout.write(`${usage}\n`);
      return;
    }
    const picked = pickChecks(checks, options.only);
    prepare(options);
    const outcomes = await runAll(picked, openRig);
    const failed = outcomes.filter(({ reason }) => reason !== undefined);
    process.stdout.write(`${outcomes.length - failed.length} of ${outcomes.length} passed\n`);
    if (options.write) writeEvidence(who, textOf(outcomes, lastRun(versions(), gatherFacts())));
    process.exitCode = failed.length === 0 ? 0 : 1;
  } catch (error) {
    const help = error.isUsage ? `\n${usage}` : "";
    process.stderr.write(`${who}: ${error.message}${help}\n`);
    process.exitCode = 2;
  }
}

/** Throws an Error that says what is wrong with the arguments. */
export function parseOptions(argv, { keepsOthers = false } = {}) {
  const { values } = asUsage(() =>
    parseArgs({
      args: argv,
      options: {
        only: { type: "string" },
        "no-build": { type: "boolean", default: false },
        write: { type: "boolean", default: false },
        help: { type: "boolean", default: false },
      },
    }),
  );
  const { only, write, help } = values;
  if (write && only !== undefined && !keepsOthers) {
    throw usageError("--write reports a whole run: leave --only out");
  }
  return { only, write, help, build: !values["no-build"] };
}

/** Throws where nothing is left: words that match nothing are a mistake. */
export function pickChecks(checks, only = "") {
  const picked = checks.filter(({ name }) => name.includes(only));
  if (picked.length > 0) return picked;
  throw usageError(`no check has "${only}" in its name`);
}

/** Why a check failed, in lines. */
export function reasonOf(error) {
  const text = error instanceof Error ? error.message : String(error);
  return text
    .trim()
    .split("\n")
    .map((line) => `    ${line}`)
    .join("\n");
}

/** What a run writes into docs/evidence.md: `head`, a line for each check, and the notes on them. */
export function resultText(outcomes, head) {
  const rows = outcomes.map(({ name, reason }) => [
    name,
    reason === undefined ? "passed" : "failed",
  ]);
  const notes = outcomes.filter(({ note }) => note !== undefined).map(({ note }) => `- ${note}`);
  const figures = notes.length > 0 ? ["Figures of that run:", notes.join("\n")] : [];
  return [head, table(["check", ""], rows), ...figures].join("\n\n");
}

/** One after the other: what is left running is looked for by what they have in common. */
async function runAll(checks, openRig) {
  const rig = await openRig();
  const onSignal = (signal) => {
    void Promise.resolve(rig.close()).finally(() => {
      for (const one of SIGNALS) process.removeListener(one, onSignal);
      process.kill(process.pid, signal);
    });
  };
  for (const one of SIGNALS) process.once(one, onSignal);
  const outcomes = [];
  try {
    for (const { name, run } of checks) {
      const outcome = await run(rig).then(
        (note) => ({ name, note }),
        (error) => ({ name, reason: reasonOf(error) }),
      );
      outcomes.push(outcome);
      const note = outcome.note === undefined ? "" : ` (${outcome.note})`;
      const verdict = outcome.reason === undefined ? `passed${note}` : `FAILED\n${outcome.reason}`;
      process.stdout.write(`${name}: ${verdict}\n`);
    }
  } finally {
    for (const one of SIGNALS) process.removeListener(one, onSignal);
    await rig.close();
  }
  return outcomes;
}

function usageOf(script, keepsOthers) {
  return `usage: npm run ${script} -- [options]

  --only <words>   the checks alone whose names have these words in them
  --no-build       test dist/ as it is
  --write          write the result to ${EVIDENCE}${keepsOthers ? "" : " (a whole run only)"}
  --help`;
}

function asUsage(parse) {
  try {
    return parse();
  } catch (error) {
    throw usageError(error.message);
  }
}

function usageError(message) {
  return Object.assign(new Error(message), { isUsage: true });
}
