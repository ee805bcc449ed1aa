// What a check found in a configuration, and how it is reported. An issue knows the keys that lead to it; as a
// problem it also has a file and a line, and all problems together become one error.

import { type ConfigProblem, PlugboardError } from "../types/errors.ts";

/** Steps from the root of a configuration. */
export type KeyPath = readonly (string | number)[];

/** As an editor counts, from 1. */
export interface Position {
  line: number;
  column: number;
}

export interface Issue {
  path: KeyPath;
  /** Whether the reader should look at the key or at its value. */
  at: "key" | "value";
  message: string;
  /** The nearest valid word, for a typo. */
  suggestion?: string;
  /** What to do about it, where the message does not say so. */
  remedy?: string;
  /** A credential is written out there. */
  isCredential?: true;
  /** It may be a block of our own file, in one that is read as another application's. */
  isMisspelledBlock?: true;
  /** Only where the path is not enough to find it: a key that is there twice. */
  position?: Position;
}

/** Where a configuration came from; one written in code has neither file nor lines. */
export interface IssueSource {
  file?: string;
  locate?: (issue: Issue) => Position;
}

const LONGEST_QUOTE = 64;

/** Past this many the message says how many more there are; `problems` always has all. */
const MOST_LISTED = 50;

export function atKey(path: KeyPath, message: string, suggestion?: string): Issue {
  return { path, at: "key", message, suggestion };
}

export function atValue(path: KeyPath, message: string, suggestion?: string): Issue {
  return { path, at: "value", message, suggestion };
}

/** Throws CONFIG_INVALID with all of them. */
export function throwIfAny(issues: readonly Issue[], source: IssueSource): void {
  if (issues.length > 0) throw configInvalid(toProblems(issues, source));
}

/** In the order of the file. */
export function toProblems(issues: readonly Issue[], source: IssueSource): ConfigProblem[] {
  const problems = issues.map((issue): ConfigProblem => ({
    file: source.file,
    ...source.locate?.(issue),
    path: formatPath(issue.path),
    message: issue.message,
    suggestion: issue.suggestion,
    remedy: issue.remedy,
    ...(issue.isCredential && { isCredential: true }),
    ...(issue.isMisspelledBlock && { isMisspelledBlock: true }),
  }));
  return problems.toSorted(
    (a, b) => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0),
  );
}

export function configInvalid(problems: readonly ConfigProblem[], cause?: unknown): PlugboardError {
  const count = problems.length === 1 ? "1 problem" : `${problems.length} problems`;
  const lines = problems.slice(0, MOST_LISTED).map((problem) => `  ${formatProblem(problem)}`);
  if (problems.length > MOST_LISTED) lines.push(`  … and ${problems.length - MOST_LISTED} more`);
  const message = `the configuration has ${count}:\n${lines.join("\n")}`;
  return new PlugboardError("CONFIG_INVALID", message, { problems, permanent: true, cause });
}

/** `file:line:column  path  what is wrong; what was expected` */
export function formatProblem(problem: ConfigProblem): string {
  const place = [problem.file, problem.line, problem.column].filter((part) => part !== undefined);
  return [place.join(":"), problem.path, problemMessage(problem)]
    .filter((part) => part !== "")
    .join("  ");
}

export function problemMessage({ message, suggestion }: ConfigProblem): string {
  return suggestion === undefined ? message : `${message}; did you mean ${quote(suggestion)}?`;
}

/** `agents.list[0].mcp.servers["my server"].url` */
export function formatPath(path: KeyPath): string {
  let text = "";
  for (const step of path) {
    if (typeof step === "number") text += `[${step}]`;
    else if (!/^[\w$-]{1,64}$/.test(step)) text += `[${quote(step)}]`;
    else text += text === "" ? step : `.${step}`;
  }
  return text;
}

/** A key or value for a message: short, on one line, with nothing invisible in it. */
export function quote(text: string): string {
  const characters = Array.from(text);
  const shown = characters.slice(0, LONGEST_QUOTE).join("");
  const escaped = shown.replace(/[\p{C}\p{Zl}\p{Zp}"\\]/gu, escape);
  return `"${escaped}${characters.length > LONGEST_QUOTE ? "…" : ""}"`;
}

function escape(character: string): string {
  if (character === '"' || character === "\\") return `\\${character}`;
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}
