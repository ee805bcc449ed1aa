// The applications of this machine in the page: which are here, and the change that puts the board into the file of one, or
// takes it out again, byte for byte.

import { z } from "zod";
import { applicationOf, CONNECTED } from "../../install/applications/applications.ts";
import { findApplication, type FoundApplication } from "../../install/applications/found.ts";
import type { ChangeKinds, PlannedChange } from "../../serve/gateway/page/changes.ts";
import type { ApplicationFacts, DiffLine } from "../../serve/gateway/page/wire.ts";
import { oneLine } from "../../util/text.ts";
import { visible } from "../../util/visible.ts";
import { PlugboardError } from "../../core/types/errors.ts";
import {
  type Change as FileChange,
  isChanged,
  linesOfChange,
  linkNotes,
  writeChange,
} from "../connect/change.ts";
import { planConnection } from "../connect/connect.ts";
import { planDisconnection } from "../connect/disconnect.ts";
import type { CliContext } from "../context.ts";

const NAME = z.string().min(1).max(100);

export async function pageApplications({ io }: CliContext): Promise<ApplicationFacts[]> {
  const all = await Promise.all(CONNECTED.map((application) => findApplication(application, io)));
  return all
    .filter(({ isInstalled, state }) => isInstalled || state.kind === "connected")
    .map(({ application: { id, name }, path, state }) => ({
      id,
      name,
      file: path,
      ...stateFacts(state),
    }));
}

function stateFacts(state: FoundApplication["state"]): Pick<ApplicationFacts, "state" | "problem"> {
  switch (state.kind) {
    case "absent":
      return { state: "absent" };
    case "unknown":
      return { state: "unreadable", problem: oneLine(state.problem, 300) };
    case "connected":
      return state.missing === undefined
        ? { state: "connected" }
        : { state: "broken", problem: `${visible(state.missing)} is gone` };
  }
}

export function connectChange(context: CliContext): NonNullable<ChangeKinds["connect"]> {
  // Nobody at the gateway's terminal is asked for what somebody does in the page.
  const own = { ...context, options: { ...context.options, json: true } };
  return {
    takes: z.strictObject({
      kind: z.literal("connect"),
      application: NAME,
      undo: z.boolean(),
    }),
    plan: async ({ application: id, undo }) => {
      const application = applicationOf(id);
      if (undo) {
        const { change, isExact } = await planDisconnection({ yes: false }, application, own);
        const kept = isExact
          ? "the file becomes what it was before"
          : "the file has changed since, so only the board's own entry goes";
        return planned(`take the board out of ${application.name}`, change, [kept], undefined);
      }
      const connection = await planConnection({ yes: false }, application, own);
      const { change, entries, notes } = connection;
      if (!isChanged(change)) {
        const message = `${application.name} is connected already`;
        throw new PlugboardError("INVALID_ARGUMENTS", message);
      }
      const plan = planned(
        `put the board into ${application.name}`,
        change,
        notes,
        application.next,
      );
      const starts = entries.map(({ as, value }) => ({
        name: `${application.name} would start this as ${as === "agent" ? "an agent" : "a server"}`,
        lines: [visible(JSON.stringify(value))],
      }));
      return { ...plan, shown: { ...plan.shown, starts } };
    },
  };
}

function planned(
  summary: string,
  change: FileChange,
  warnings: readonly string[],
  next: string | undefined,
): PlannedChange {
  const { file, outcome } = change;
  const isRemoved = outcome.kind === "removal";
  return {
    shown: {
      summary,
      about: { file: file.file },
      starts: [],
      diff: linesOfChange(change).map(toDiffLine),
      warnings: [
        ...(isRemoved ? [`${visible(file.file)} was made for this, and would be removed`] : []),
        ...linkNotes(change),
        ...warnings,
      ],
    },
    basis: [file.text ?? null, outcome.kind === "text" ? outcome.text : outcome.kind],
    apply: async () => {
      await writeChange(change);
      return next;
    },
  };
}

function toDiffLine(line: string): DiffLine {
  const kind = line.startsWith("+") ? "added" : line.startsWith("-") ? "removed" : "same";
  return { kind, text: line.slice(2) };
}
