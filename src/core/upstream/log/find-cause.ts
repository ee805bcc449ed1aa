// Finds the line that says why a server failed in what it wrote, and what to do about it. Reads a bounded number of
// bounded lines, and every pattern is linear in its line: a server may write anything.

import { type ErrorCode, type ErrorDetails, PlugboardError } from "../../types/errors.ts";
import { isJsonObject, type JsonObject, tryParseJson } from "../../types/json.ts";
import { oneLine } from "../../../util/text.ts";
import {
  CAUSES,
  type CauseName,
  INSTALL_QUESTION,
  setVariables,
  variablesNamed,
  WRONG_ARGS,
} from "./known-causes.ts";

/** Lines as plain text and without secrets. */
export interface ServerOutput {
  /** With the errors that it logged in messages. */
  stderr: readonly string[];
  /** What it wrote to stdout that is not a message. */
  stdout: readonly string[];
}

export interface FailureCause {
  /** One short line. */
  line: string;
  from: "stderr" | "stdout";
  /** Whether the line says why. If not, it is the last one. */
  isReason: boolean;
  /** Only for a cause that we know. */
  name?: CauseName;
  /** What to do about it, for the causes that we know. */
  remedy?: string;
  /** The remedy repeats a part of what the server wrote. */
  isRemedyQuoted?: boolean;
  /** The variables that the server says it lacks. */
  lacks?: readonly string[];
  /** It is from a line of JSON that a logger wrote. */
  isLogged?: boolean;
  /** What is wrong with a line that was meant as a message; follows "a line that". */
  fault?: string;
}

const MAX_LINES = 200;
const MAX_LINE = 1000;
const MAX_QUOTE = 300;

/** Undefined if the server wrote nothing. */
export function findCause({ stderr, stdout }: ServerOutput): FailureCause | undefined {
  const outputs = [
    { from: "stderr" as const, lines: tellingLines(stderr) },
    { from: "stdout" as const, lines: tellingLines(stdout) },
  ];
  for (const { from, lines } of outputs) {
    const reason = reasonIn(lines);
    if (reason === undefined) continue;
    const isLogged = { stderr, stdout }[from].some((line) => loggedError(line) !== undefined);
    return { ...reason, from, isReason: true, ...(isLogged && { isLogged }) };
  }
  // Weaker than any error, since a server on stdio may offer a page for people too.
  for (const { from, lines } of outputs) {
    const listens = lines.find(({ text }) => LISTENS.test(text));
    if (listens !== undefined)
      return { line: quote(listens.text), from, isReason: false, remedy: SPEAKS_HTTP };
  }
  for (const { from, lines } of outputs) {
    const last = lines.at(-1);
    if (last !== undefined) return { line: quote(last.text), from, isReason: false };
  }
  return undefined;
}

/** An error with the server's own words about its cause, and the remedy as its hint. */
export function withCause(
  code: ErrorCode,
  happened: string,
  cause: FailureCause | undefined,
  details: ErrorDetails,
): PlugboardError {
  if (cause === undefined) return new PlugboardError(code, happened, details);
  const { line, from, isReason, remedy, isRemedyQuoted, lacks, fault } = cause;
  const what = fault === undefined ? "text that is not MCP" : `a line that ${fault}`;
  const where = from === "stdout" ? `; on stdout it wrote ${what}: ` : "; it last wrote: ";
  const message = `${happened}${isReason && from === "stderr" ? ": " : where}${line}`;
  // Where the reason is known, a guess would only mislead.
  const hint = remedy ?? (isReason ? undefined : details.hint);
  const isSplit = details.quote !== undefined;
  return new PlugboardError(code, message, {
    ...details,
    hint,
    ...(isRemedyQuoted && { isHintQuoted: true }),
    ...(lacks && { lacks }),
    ...(isSplit && { quote: line }),
  });
}

/**
 * Recognises a line that asks for an answer. Nobody can give one, because stdin carries the protocol. `isOpen` says
 * that the line has not ended, so the server may be waiting for the answer.
 */
export function findQuestion(line: string, isOpen: boolean): { remedy: string } | undefined {
  const text = line.slice(-MAX_LINE).trimEnd();
  if (/[([](?:y|y\/n|yes|yes\/no|no\/yes|n\/y)[)\]][?:]?$/i.test(text)) {
    return { remedy: /\bok to proceed\b/i.test(text) ? INSTALL_QUESTION : ANSWER_BEFORE };
  }
  const isPrompt =
    /\b(?:password|passphrase|username|user name|login|token|api key|code|pin)\b[^:?]{0,100}[:?]$/i;
  const isPause = /\bpress (?:any key|enter|return)\b/i;
  const asks = isOpen && (isPrompt.test(text) || isPause.test(text));
  return asks ? { remedy: ANSWER_BEFORE } : undefined;
}

const LISTENS =
  /\b(?:listening|running|started|serving|available|ready)\b.{0,80}\bhttps?:\/\/|\blistening (?:on|at) (?:port )?(?:[\w.]{0,60}:)?\d{2,5}\b/i;
const SPEAKS_HTTP =
  'it speaks HTTP, not stdio: give its address as "url" instead of "command", or add its option for stdio to "args"';

const ANSWER_BEFORE =
  'a server on stdio cannot ask: give it the answer as an argument or in its "env", or run its command once by hand';

interface Line {
  text: string;
  /** Part of what a program prints when an exception ends it. */
  isFatal: boolean;
}

type Reason = Pick<FailureCause, "line" | "name" | "remedy" | "isRemedyQuoted" | "lacks">;

/** An exception that ended the program says more than what was logged before it. */
function reasonIn(lines: readonly Line[]): Reason | undefined {
  const fatal = lines.filter(({ isFatal }) => isFatal);
  const isWarning = ({ text }: Line): boolean => WARNING.test(text);
  for (const some of [fatal, lines.filter((line) => !isWarning(line)), lines]) {
    const texts = some.map(({ text }) => text);
    const found = knownIn(texts) ?? unknownIn(texts);
    if (found !== undefined) return found;
  }
  return undefined;
}

function knownIn(lines: readonly string[]): Reason | undefined {
  for (const { pattern, name, remedy, isFixed, lacks } of CAUSES) {
    for (const [at, text] of lines.entries()) {
      const found = pattern.exec(text);
      if (found === null) continue;
      const advice = remedy(found, lines.slice(at, at + 3));
      if (advice === undefined) continue;
      return {
        line: quote(text),
        ...(name && { name }),
        remedy: advice,
        ...(!isFixed && { isRemedyQuoted: true }),
        ...(lacks && { lacks: lacks(text) }),
      };
    }
  }
  return undefined;
}

const USAGE = /^\s*(?:\[\w+\] )?usage:/i;

/** Lines that say why in the words of the server, from the clearest sign to the weakest. */
const SIGNS: readonly RegExp[] = [
  /^\s*\[cause\]: /,
  // A server may be Plugboard itself: a recording, or the board of another configuration.
  /^plugboard: \S.*[^:]$/,
  /^\s*(?:\[\w+\] )?(?:\w+[.:])*\w*(?:Error|Exception|Panic)\b(?: \[\w+\])?: \S|^thread '.{0,100}' panicked|^panic: /,
  /\b(?:fatal|error|exception|panic)\b.{0,80}?: ?\S/i,
  /\b(?:missing|required|not set|unset|unauthori[sz]ed|forbidden|denied|cannot find|could not find|not found|no such)\b/i,
  /\b(?:fatal|error|exception|failed|failure|cannot|can't|could not|couldn't|unable to|invalid|unknown|unsupported|please (?:run|set|provide|pass))\b/i,
  USAGE,
  /^(?!npm warn).{0,200}\b(?:is|are|been|now) (?:deprecated|discontinued|no longer supported)\b/i,
];

const WARNING = /^\W{0,4}(?:warn(?:ing)?|info|debug|notice)\b|^npm (?:warn|notice)\b|\bWarning: /i;

function unknownIn(lines: readonly string[]): Reason | undefined {
  for (const sign of SIGNS) {
    const at = lines.findIndex((text) => sign.test(text));
    const text = lines[at];
    if (text === undefined) continue;
    // A variable may be named in the lines after the error itself.
    const isAboutAccess = /token|key|credential|secret|password|api|auth/i.test(text);
    const near = isAboutAccess ? lines.slice(at, at + 3).join(" ") : "";
    const names = setVariables(near);
    if (sign === USAGE) return { line: quote(text), remedy: WRONG_ARGS };
    const remedy =
      names === undefined
        ? {}
        : { remedy: names, isRemedyQuoted: true, lacks: variablesNamed(near) };
    return { line: quote(text), ...remedy };
  }
  return undefined;
}

/** Without stack frames and echoed source, whose words say nothing about this failure. */
function tellingLines(all: readonly string[]): Line[] {
  const kept = all.slice(-MAX_LINES).map((line) => loggedError(line) ?? line.slice(0, MAX_LINE));
  const lines = withIssues(kept);
  const found: Line[] = [];
  let isFatal = false;
  let inTraceback = false;
  let place = "";
  for (const [at, line] of lines.entries()) {
    // Groups of exceptions in Python have a margin.
    const text = line.replace(/^[ +]{0,40}\| /, "");
    const isTraceback = /^\s*(?:\+ )?(?:Exception Group )?Traceback \(most recent call last\)/.test(
      text,
    );
    if (isTraceback || isCaret(text)) isFatal = true;
    inTraceback = isTraceback || (inTraceback && /^\s/.test(text));
    // A program that ends with an exception shows the place, the line of source, and a caret below.
    const isEcho = [0, 1, 2].some((below) => isCaret(lines[at + below] ?? ""));
    if (isCaret(text)) place = lines[at - 2]?.trim() ?? "";
    if (inTraceback || isEcho || NOISE.test(text)) continue;
    const isSyntax = place !== "" && /^(?:Syntax|Indentation|Tab)Error\b/.test(text);
    found.push({ text: isSyntax ? `${text} (${place})` : text, isFatal });
  }
  return found;
}

/** The error in a line of JSON, as loggers write them. Undefined for every other line. */
function loggedError(line: string): string | undefined {
  const logged = line.startsWith("{") ? tryParseJson(line) : undefined;
  return isJsonObject(logged) ? errorInEntry(logged) : undefined;
}

/** The error in an entry of a log, as one line: of a logger, or of MCP, which has it in `data`. */
export function errorInEntry(entry: JsonObject): string | undefined {
  const { level, severity = level, message, msg = message, error, err = error, data } = entry;
  const [inner, detail] = [err, data].map((each) => (isJsonObject(each) ? each.message : each));
  const said = [msg, inner, detail].find((each) => typeof each === "string" && each !== "");
  // 50 and more are errors in the numbers of pino and bunyan.
  const isError =
    typeof severity === "number"
      ? severity >= 50
      : /^(?:error|fatal|critical|alert|emerg)/i.test(String(severity));
  if (typeof said !== "string" || (!isError && typeof inner !== "string")) return undefined;
  return oneLine(/error/i.test(said) ? said : `Error: ${said}`, MAX_LINE);
}

function isCaret(line: string): boolean {
  return /^[ \t]*\^+[ \t]*$/.test(line);
}

const NOISE =
  /^\W*$|^(?:npm error)?\s+at |^Node\.js v\d|^npm error A complete log|^npm (?:error|notice)(?: 404)?\s*$|^\s+(?:errno|code|syscall|address|port|hostname|requireStack|path|type|issues|received|expected|message): |^\s+File "|^\(Use `/;

/** How many lists of problems are put into one line, and how many lines each may have. */
const MAX_LISTS = 5;
const MAX_LIST_LINES = 80;

/** `ZodError: [` and the list of problems below as one line: `ZodError: API_KEY: Required`. */
function withIssues(lines: readonly string[]): string[] {
  const result: string[] = [];
  let lists = 0;
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? "";
    const isHead = line.endsWith(": [") && lists < MAX_LISTS;
    const size = isHead ? lines.slice(at, at + MAX_LIST_LINES).indexOf("]") : -1;
    const issues = size < 0 ? undefined : issuesIn(lines.slice(at + 1, at + size));
    if (isHead) lists += 1;
    result.push(issues === undefined ? line : `${line.slice(0, -1)}${issues}`.slice(0, MAX_LINE));
    if (issues !== undefined) at += size;
  }
  return result;
}

function issuesIn(lines: readonly string[]): string | undefined {
  const parsed = tryParseJson(`[${lines.join("\n")}]`);
  if (!Array.isArray(parsed) || parsed.length === 0) return undefined;
  const issues = parsed.map((issue) => {
    if (!isJsonObject(issue) || typeof issue.message !== "string") return undefined;
    const path = Array.isArray(issue.path) ? issue.path.map(String).join(".") : "";
    return path === "" ? issue.message : `${path}: ${issue.message}`;
  });
  return issues.includes(undefined) ? undefined : issues.join("; ");
}

/** Drops the full stop, because the quote goes into a sentence of ours. */
function quote(line: string): string {
  return oneLine(line.replace(/^\s*\[cause\]: /, ""), MAX_QUOTE).replace(/[.;:]$/, "");
}
