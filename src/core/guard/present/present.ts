// Prepares an outcome for a model: cuts it to size, saves the rest, and puts a server's words in one frame. The
// raw outcome stays in `details`.

import { type ContentBlock, EMPTY_ERROR, EMPTY_RESULT } from "../../types/content.ts";
import { asText } from "../../../util/text.ts";
import { quoteIn } from "../../types/errors.ts";
import type { ExternalContent, ModelDetails, CallOutcome, ToolResult } from "../../types/tool.ts";
import type { Subject } from "../../types/guard.ts";
import type { FramingMode } from "../../types/guard-settings.ts";
import { fit } from "./fit.ts";
import { newFrameId, toolFrame, withoutMarkers, wrap } from "./frame.ts";
import { saveRest, type ResultFiles } from "./result-files.ts";
import { stringsOf } from "./strings.ts";
import { suspiciousPatterns } from "./suspicious.ts";

export interface PresentSettings {
  framing: FramingMode;
  /** The most bytes of text, in UTF-8. */
  maxResultBytes: number;
  /** What does not fit is saved here, or left out if there is no directory. */
  resultFiles?: Pick<ResultFiles, "write">;
  /** The name of the tool with which the model can read what was saved, if it has one. */
  readTool?: () => string | undefined;
  /** 16 hexadecimal digits that nobody can guess. */
  newFrameId?: () => string;
  /** Called with the names of what looks like an attempt to steer the model. Must not throw. */
  onSuspicious?: (patterns: string[]) => void;
}

const SHORTEST_QUOTE = 8;

export type Presented = ToolResult<ModelDetails>;

/** A promise only if something is saved. `more` is said after all else. Never throws or rejects. */
export function presentToModel(
  outcome: CallOutcome,
  subject: Pick<Subject, "canonical" | "source">,
  settings: PresentSettings,
  more?: string,
): Presented | Promise<Presented> {
  const content: ContentBlock[] = isEmpty(outcome)
    ? [{ type: "text", text: emptyText(outcome) }]
    : outcome.content;
  const fitted = fit(content, settings.maxResultBytes);
  const finish = (note: string | undefined): Presented => {
    const shown = asRead(outcome, fitted.content, subject, settings);
    const notes = [note, more].filter((each) => each !== undefined);
    return {
      content: notes.length === 0 ? shown.content : withNote(shown.content, notes.join("\n")),
      ...(outcome.isError && { isError: true }),
      details: shown.details,
    };
  };
  const { resultFiles: directory, readTool, framing } = settings;
  const { canonical, source } = subject;
  const note = saveRest(content, fitted, { canonical, source, framing }, { directory, readTool });
  return note instanceof Promise ? note.then(finish) : finish(note);
}

function asRead(
  outcome: CallOutcome,
  content: readonly ContentBlock[],
  { source }: Pick<Subject, "source">,
  settings: PresentSettings,
): Pick<Presented, "content" | "details"> {
  if (source.kind === "native") return { content: content as ContentBlock[], details: outcome };
  const suspicious = settings.onSuspicious ? suspects(content) : [];
  const about: ExternalContent = {
    untrusted: true,
    source: "mcp_server",
    server: source.server,
    tool: source.tool,
    wrapped: false,
    kinds: kindsOf(outcome.content),
  };
  const details = { ...outcome, externalContent: about };
  let shown = content as ContentBlock[];
  if (settings.framing !== "off") {
    const id = (settings.newFrameId ?? newFrameId)();
    const { own, theirs } = splitWords(outcome, content);
    const clean = withoutMarkers([...own, ...theirs], id);
    if (clean.removed > 0) suspicious.push("forged-marker");
    shown = clean.content;
    if (theirs.length > 0) {
      about.wrapped = true;
      const frame = toolFrame(settings.framing, source, id);
      shown = [...shown.slice(0, own.length), ...wrap(shown.slice(own.length), frame)];
    }
  }
  if (suspicious.length > 0) settings.onSuspicious?.(suspicious);
  return { content: shown, details };
}

function isEmpty({ content }: CallOutcome): boolean {
  return content.every((block) => block.type === "text" && block.text === "");
}

function emptyText({ structuredContent, isError }: CallOutcome): string {
  // Servers need not repeat structured content as text, but a model reads only text.
  if (structuredContent !== undefined) return asText(structuredContent);
  return isError ? EMPTY_ERROR : EMPTY_RESULT;
}

/** The host's own words in an outcome, and those of the server, which are framed. */
function splitWords(
  outcome: CallOutcome,
  content: readonly ContentBlock[],
): { own: readonly ContentBlock[]; theirs: readonly ContentBlock[] } {
  const { failure } = outcome;
  if (failure === undefined) {
    const isTheirs = !isEmpty(outcome) || outcome.structuredContent !== undefined;
    return isTheirs ? { own: [], theirs: content } : { own: content, theirs: [] };
  }
  const quote = quoteIn(failure);
  if (quote === "") return { own: content, theirs: [] };
  const [block, ...others] = content;
  // A short quote can be a part of the host's words by chance.
  const canSplit = quote !== undefined && quote.length >= SHORTEST_QUOTE;
  if (!canSplit || block?.type !== "text" || others.length > 0) return { own: [], theirs: content };
  const isOneLine = block.text.includes(quote);
  const words = isOneLine ? quote : wordsIn(block.text, failure.message, quote);
  if (words === undefined) return { own: [], theirs: content };
  const text = (isOneLine ? block.text : failure.message).split(quote).join("[see below]");
  return { own: [{ ...block, text }], theirs: [{ type: "text", text: words }] };
}

/** What stands in `text` where `message` has the quote: the same words, on several lines. */
function wordsIn(text: string, message: string, quote: string): string | undefined {
  const at = message.indexOf(quote);
  const [before, after] = [message.slice(0, at), message.slice(at + quote.length)];
  const length = text.length - before.length - after.length;
  const isSame = at >= 0 && length > 0 && text.startsWith(before) && text.endsWith(after);
  return isSame ? text.slice(before.length, before.length + length) : undefined;
}

function suspects(content: readonly ContentBlock[]): string[] {
  const strings = content.flatMap(stringsOf);
  return suspiciousPatterns(strings.length === 1 ? (strings[0] ?? "") : strings.join("\n"));
}

function kindsOf(content: readonly ContentBlock[]): ExternalContent["kinds"] {
  const kinds: ExternalContent["kinds"] = {};
  for (const { type } of content) {
    if (type !== "text") kinds[type] = (kinds[type] ?? 0) + 1;
  }
  return kinds;
}

/** The host's words come after the frame, where no server can write. */
function withNote(content: ContentBlock[], note: string): ContentBlock[] {
  const last = content.at(-1);
  if (last?.type !== "text") return [...content, { type: "text", text: note }];
  return [...content.slice(0, -1), { ...last, text: `${last.text}\n${note}` }];
}
