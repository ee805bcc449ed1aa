// The findings of `plugboard doctor` for people: a line per group, and beneath it what is to be done.

import { oneLine, plainText, plural } from "../../util/text.ts";
import { type CliContext, isVerbose } from "../context.ts";
import { commandsApart, offeredCommand } from "../offered-command.ts";
import type { Tone } from "../terminal/terminal.ts";
import { cut, wrapLine } from "../terminal/width.ts";
import type { DoctorRequest } from "./command.ts";
import type { Finding, FindingLevel } from "./finding.ts";

/** A finding, and what came of its repair. */
export type CheckedFinding = Finding & {
  /** What the fix did, in a sentence. */
  fixed?: string;
  /** Why it could not be repaired. */
  unfixed?: string;
};

export interface CheckedGroup {
  title: string;
  findings: readonly CheckedFinding[];
}

type View = Pick<CliContext, "screen" | "options">;

interface Mark {
  sign: string;
  /** For terminals that have only ASCII. */
  plainSign: string;
  tone: Tone;
}

const MARKS: Readonly<Record<FindingLevel, Mark>> = {
  ok: { sign: "✓", plainSign: "+", tone: "green" },
  note: { sign: "·", plainSign: "-", tone: "cyan" },
  warning: { sign: "!", plainSign: "!", tone: "yellow" },
  broken: { sign: "✗", plainSign: "x", tone: "red" },
};

const ORDER: readonly FindingLevel[] = ["ok", "note", "warning", "broken"];

/** How many things that are all right are named on the line of their group. */
const MOST_NAMED = 4;
const LONGEST_MESSAGE = 2000;

/** Empty for a group that has found nothing. */
export function groupLines({ title, findings }: CheckedGroup, view: View): string[] {
  if (findings.length === 0) return [];
  const { screen, options } = view;
  const { out } = screen.terminal;
  const isFolded = (each: CheckedFinding): boolean =>
    each.level === "ok" && each.fixed === undefined && !isVerbose(options);
  const worst = ORDER.findLast((level) => findings.some((each) => each.level === level)) ?? "ok";
  const heading = `${mark(worst, view)} ${out.paint("bold", title)}`;
  const folded = foldedText(findings.filter(isFolded));
  const room = out.width === undefined ? Infinity : out.width - title.length - 4;
  // On a narrow terminal a few letters of it would be of no use.
  const summary = folded === "" || room < 12 ? "" : `  ${out.paint("dim", cut(folded, room))}`;
  return [
    `${heading}${summary}`,
    ...findings.filter((each) => !isFolded(each)).flatMap((each) => findingLines(each, view)),
  ];
}

function foldedText(findings: readonly CheckedFinding[]): string {
  const named = findings.slice(0, MOST_NAMED).map((each) => oneLine(sentence(each), 120));
  const more = findings.length - named.length;
  return [...named, ...(more > 0 ? [`and ${more} more`] : [])].join("; ");
}

function findingLines(finding: CheckedFinding, view: View): string[] {
  const { out } = view.screen.terminal;
  const { fixed } = finding;
  const told = fixed === undefined ? sentence(finding) : `fixed, it was: ${sentence(finding)}`;
  const lines = plainText(told).slice(0, LONGEST_MESSAGE).split("\n");
  const [first = "", ...rest] = lines.flatMap((line) => wrapped(line, 4, out.width));
  return [
    `  ${mark(finding.level, view)} ${first.trimStart()}`,
    ...rest,
    ...adviceLines(finding, view),
  ];
}

/** The advice stands behind an arrow, so that it is seen apart from the finding. */
function adviceLines(finding: CheckedFinding, view: View): string[] {
  const { out, unicode } = view.screen.terminal;
  const lines = adviceOf(finding, view).flatMap((line) => wrapped(line, 6, out.width));
  const arrow = unicode ? "→" : ">";
  return lines.map((line, at) => (at === 0 ? `    ${arrow}${line.slice(5)}` : line));
}

function adviceOf(finding: CheckedFinding, { options }: View): string[] {
  const { fixed, unfixed } = finding;
  if (fixed !== undefined) return commandsApart(plainText(fixed), options);
  if (finding.level === "ok") return [];
  return [
    ...commandsApart(plainText(finding.remedy), options),
    ...(unfixed === undefined ? [] : [`could not be fixed: ${plainText(unfixed)}`]),
  ];
}

/** Names the subject of the finding, unless the message does. */
export function sentence({ subject, message }: Finding): string {
  return subject === undefined || hasWord(message, subject) ? message : `${subject}: ${message}`;
}

/** Not as a part of a word: `var` is not named by "the variable". */
function hasWord(text: string, word: string): boolean {
  const isPart = (character = " "): boolean => /[\w-]/.test(character);
  for (let at = text.indexOf(word); at !== -1; at = text.indexOf(word, at + 1)) {
    if (!isPart(text[at - 1]) && !isPart(text[at + word.length])) return true;
  }
  return false;
}

/** A line that is indented already is a command, which must stay whole. */
function wrapped(line: string, indent: number, width: number | undefined): string[] {
  const room = width === undefined ? undefined : Math.max(20, width - indent);
  return wrapLine(line, room).map((each) => `${" ".repeat(indent)}${each}`);
}

function mark(level: FindingLevel, { screen }: View): string {
  const { sign, plainSign, tone } = MARKS[level];
  const { unicode, out } = screen.terminal;
  return out.paint(tone, unicode ? sign : plainSign);
}

/** How it stands, and what to run next. */
export function summaryLines(
  findings: readonly CheckedFinding[],
  view: View,
  { server, fix }: DoctorRequest,
): string[] {
  const { options, screen } = view;
  const { paint, width } = screen.terminal.out;
  const count = (level: FindingLevel): number =>
    findings.filter((each) => each.level === level).length;
  const [broken, warnings, notes] = [count("broken"), count("warning"), count("note")];
  const counts = [
    ...(broken > 0 ? [`${broken} broken`] : []),
    ...(warnings > 0 ? [plural(warnings, "warning")] : []),
    ...(notes > 0 ? [plural(notes, "note")] : []),
  ].join(", ");
  const fixable = findings.filter((each) => each.level !== "ok" && each.fix !== undefined).length;
  const again = `doctor${server === undefined ? "" : ` ${server}`}`;
  const verdict =
    broken > 0
      ? paint("red", counts)
      : paint(
          "green",
          counts === "" ? "Everything is all right." : `Nothing is broken: ${counts}.`,
        );
  return [
    "",
    verdict,
    ...(fixable > 0 && !fix
      ? [
          ...wrapLine(
            `To make ${plural(fixable, "repair")} that ${fixable === 1 ? "is" : "are"} safe:`,
            width,
          ),
          `  ${offeredCommand(`${again} --fix`, options)}`,
        ]
      : broken > 0
        ? [
            `When you have fixed ${broken === 1 ? "it" : "them"}, check again:`,
            `  ${offeredCommand(again, options)}`,
          ]
        : []),
  ];
}
