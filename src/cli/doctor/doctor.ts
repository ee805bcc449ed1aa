// `plugboard doctor`: runs the groups of checks one after the other, makes the repairs that were asked for, and says
// how it stands.

import { cancelled, PlugboardError, toPlugboardError } from "../../core/types/errors.ts";
import { errorMessage } from "../../util/error-message.ts";
import type { CliContext } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import { applicationsGroup } from "./applications.ts";
import type { DoctorRequest } from "./command.ts";
import { configGroup } from "./config.ts";
import { type DoctorContext, withDoctorContext } from "./context.ts";
import type { CheckGroup, Finding } from "./finding.ts";
import { hostGroup } from "./host.ts";
import { modelGroup } from "./model.ts";
import { rulesGroup } from "./rules.ts";
import { secretsGroup } from "./secrets.ts";
import { serversGroup } from "./servers.ts";
import { sharedGroup } from "./shared.ts";
import { signInGroup } from "./sign-in.ts";
import { stateGroup } from "./state.ts";
import {
  type CheckedGroup,
  groupLines,
  type CheckedFinding,
  sentence,
  summaryLines,
} from "./view.ts";

/** What others build on comes first: a repair of the state directory lets the servers start. */
const GROUPS: readonly CheckGroup[] = [
  hostGroup,
  stateGroup,
  configGroup,
  sharedGroup,
  serversGroup,
  secretsGroup,
  signInGroup,
  rulesGroup,
  modelGroup,
  applicationsGroup,
];

export async function runDoctor(command: DoctorRequest, cli: CliContext): Promise<number> {
  const { screen, options } = cli;
  const { server, fix } = command;
  return withDoctorContext(cli, server, async (context) => {
    const groups = GROUPS.filter((each) => server === undefined || each.concernsServer);
    const checked: CheckedGroup[] = [];
    const told = new Set<string>();
    for (const { title, run } of groups) {
      const findings: CheckedFinding[] = [];
      const found = await findingsOf(run, context);
      // Thrown only after the check has ended, because a check stops the servers that it started.
      if (cli.signal.aborted) throw cancelled();
      for (const finding of found) {
        // A secret that is missing is why a server does not start: it is one problem.
        const words = `${finding.level} ${sentence(finding)}`;
        if (finding.level !== "ok" && told.has(words)) continue;
        told.add(words);
        findings.push(fix ? await withFix(finding) : finding);
      }
      checked.push({ title, findings });
      if (!options.json) screen.lines(groupLines({ title, findings }, cli));
    }
    const all = checked.flatMap(({ findings }) => findings);
    const isBroken = all.some(({ level }) => level === "broken");
    if (options.json) screen.json(doctorJson(checked, !isBroken));
    else screen.lines(summaryLines(all, cli, command));
    return isBroken ? EXIT.broken : EXIT.ok;
  });
}

/** A check that fails itself is a finding, and the other groups go on. */
async function findingsOf(run: CheckGroup["run"], context: DoctorContext): Promise<Finding[]> {
  const findings: Finding[] = [];
  try {
    for await (const finding of await run(context)) findings.push(finding);
  } catch (error) {
    if (context.cli.signal.aborted) throw error;
    findings.push(failedCheck(error));
  }
  return findings;
}

function failedCheck(error: unknown): Finding {
  const known = error instanceof PlugboardError ? error : undefined;
  return {
    level: "broken",
    check: "check-failed",
    message: `the rest of this group could not be checked: ${errorMessage(error)}`,
    remedy:
      known === undefined
        ? "this is a bug in Plugboard; please report it with this message"
        : (known.hint ?? `to see what to do about it: plugboard help ${known.code}`),
  };
}

/** A finding that the fix did not repair stays a finding. */
async function withFix(finding: Finding): Promise<CheckedFinding> {
  if (finding.level === "ok" || finding.fix === undefined) return finding;
  try {
    const fixed = await finding.fix.apply();
    const { check, subject, message } = finding;
    return { level: "ok", check, ...(subject !== undefined && { subject }), message, fixed };
  } catch (error) {
    const { message } = toPlugboardError(error, "SYSTEM_ERROR");
    return { ...finding, unfixed: message };
  }
}

function doctorJson(groups: readonly CheckedGroup[], ok: boolean): object {
  const findings = groups.flatMap((group) =>
    group.findings.map((finding) => {
      const { level, check, subject, message, fixed, unfixed } = finding;
      const { remedy, fix } = finding.level === "ok" ? {} : finding;
      const fixable = fix?.describe;
      return {
        group: group.title,
        level,
        check,
        subject,
        message,
        remedy,
        fix: fixable,
        fixed,
        unfixed,
      };
    }),
  );
  return { findings, ok };
}
