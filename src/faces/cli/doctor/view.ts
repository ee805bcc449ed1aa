// The findings of `plugboard doctor` for people.

import { plural } from "../../../util/text.ts";
import type { CliContext } from "../context.ts";
import type { DoctorCommand } from "./command.ts";
import type { Finding } from "./finding.ts";

/** A finding, and what came of its repair. */
export type Mended = Finding & {
  /** What was done about it. */
  fixed?: string;
  /** Why it could not be repaired. */
  unfixed?: string;
};

export interface CheckedGroup {
  title: string;
  findings: readonly Mended[];
}

export function groupLines({ title, findings }: CheckedGroup, _context: CliContext): string[] {
  if (findings.length === 0) return [];
  return [title, ...findings.map(({ message }) => `  ${message}`)];
}

export function summaryLines(
  findings: readonly Mended[],
  _context: CliContext,
  _command: DoctorCommand,
): string[] {
  return [plural(findings.length, "finding")];
}
