// Text for people: makes foreign text safe to show on a terminal or in a log, and writes numbers as people say them.

/** CSI, OSC/DCS/PM/APC/SOS strings and two-character escapes. Every alternative runs in linear time. */
const ESCAPES =
  // oxlint-disable-next-line no-control-regex
  /\u001b(?:\[[0-?]*[ -/]*[@-~]?|[\]PX^_][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[ -/]*[0-~]?)|\u009b[0-?]*[ -/]*[@-~]?/g;

/** C0 except tab and newline, DEL, C1, format characters (bidi, zero-width, tags), variation selectors. */
const invisible = (): RegExp =>
  // oxlint-disable-next-line no-control-regex
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\p{Cf}\p{Variation_Selector}\u2028\u2029]/gu;

/** Removes terminal escapes, control and invisible characters; keeps tabs and newlines. */
export function plainText(text: string): string {
  // Most texts are: what Unicode says about characters takes a millisecond to look up first.
  if (/^[\t\n -~]*$/.test(text)) return text;
  return text.replace(ESCAPES, "").replace(invisible(), "");
}

/**
 * An emoji of several characters: U+FE0F gives it its colours, a modifier the colour of its skin, and U+200D joins it with
 * the next.
 */
const EMOJI =
  /\p{Extended_Pictographic}[\ufe0f\p{Emoji_Modifier}]?(?:\u200d\p{Extended_Pictographic}[\ufe0f\p{Emoji_Modifier}]?){0,8}|[0-9#*]\ufe0f\u20e3/gu;
/** No text has these characters: Unicode keeps them for the inside of programs. */
const [COLOURED, JOINED] = ["\ufdd0", "\ufdd1"];

/** `plainText`, but an emoji stays as it is. Elsewhere its invisible characters could hide a message. */
export function plainWithEmoji(text: string): string {
  const marked = text
    .replace(/\r\n?/g, "\n")
    .replace(/[\ufdd0\ufdd1]/g, "")
    .replace(EMOJI, (each) => each.replaceAll("\ufe0f", COLOURED).replaceAll("\u200d", JOINED));
  return plainText(marked).replaceAll(COLOURED, "\ufe0f").replaceAll(JOINED, "\u200d");
}

/** Any value as text. Never throws: a value may be nested deeper than the stack. */
export function asText(value: unknown): string {
  if (typeof value === "string") return value;
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return "(nested too deep to show)";
  }
}

/** `plainText` on one line, cut to `max` characters with an ellipsis. */
export function oneLine(text: string, max = Infinity): string {
  // Cutting first bounds the work on a hostile megabyte. The margin makes up for what plainText removes.
  const bounded = text.length > max * 4 + 1024 ? text.slice(0, max * 4 + 1024) : text;
  return truncate(plainText(bounded).replace(/\s+/g, " ").trim(), max);
}

const EXCERPT = 200;
/** An excerpt is made from this many times its length, because some characters are removed. */
const READ_FOR_EXCERPT = 5;

/**
 * The beginning of any value, on one line, to be quoted in a message. `redact` runs before the text is cut and its
 * lines are joined, and learns in `isCut` that the text it gets goes on.
 */
export function excerpt(
  value: unknown,
  redact: (text: string, isCut: boolean) => string,
  max = EXCERPT,
): string {
  const text = asText(value);
  const most = max * READ_FOR_EXCERPT;
  return oneLine(redact(plainText(text.slice(0, most)), text.length > most), max);
}

/** Cuts at a character boundary and adds an ellipsis. */
export function truncate(text: string, max: number): string {
  if (text.length <= max) return text;
  let end = Math.max(0, max - 1);
  // A high surrogate without its pair would be half a character.
  const last = text.charCodeAt(end - 1);
  if (last >= 0xd800 && last <= 0xdbff) end -= 1;
  return `${text.slice(0, end)}…`;
}

/** Whether a name cannot be a sentence, so that a message which a model reads may repeat it. */
export function isPlainName(name: string): boolean {
  return /^[A-Za-z0-9_.-]{1,64}$/.test(name);
}

/**
 * Names a tool, resource or prompt in a message that a model may read. Leaves out a name that could be a sentence,
 * because a model would take it for the host's.
 */
export function sayTool(canonical: string): string {
  const slash = canonical.indexOf("/");
  const server = oneLine(canonical.slice(0, Math.max(0, slash)), 100);
  const own = canonical.slice(slash + 1);
  const [, kind = "tool", name = ""] = /^(resource|prompt):(.*)$/s.exec(own) ?? [];
  const isPlain = isPlainName(own) || (kind === "prompt" && isPlainName(name));
  return isPlain ? oneLine(canonical) : `a ${kind} of '${server}'`;
}

/** Begins with a capital letter. */
export function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Removes the name of a server from the front, for a sentence that has named the server already. */
export function withoutName(text: string, name: string): string {
  const prefix = [`${name}: `, `'${name}': `, `server '${name}': `].find((each) =>
    text.startsWith(each),
  );
  return text.slice(prefix?.length ?? 0);
}

export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** `a, b and c` */
export function inWords(words: readonly string[], between: "and" | "or" = "and"): string {
  const last = words.at(-1) ?? "";
  return words.length < 2 ? last : `${words.slice(0, -1).join(", ")} ${between} ${last}`;
}

/** A duration for people: `4 s`, `350 ms`, `2 min`. */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 120_000) return `${trimZero((ms / 1000).toFixed(ms < 10_000 ? 1 : 0))} s`;
  if (ms < 7_200_000) return `${Math.round(ms / 60_000)} min`;
  return `${Math.round(ms / 3_600_000)} h`;
}

/** A size for people: `512 B`, `24 KiB`, `64 MiB`. */
export function byteSize(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  if (bytes < 1024 ** 2) return `${trimZero((bytes / 1024).toFixed(1))} KiB`;
  if (bytes < 1024 ** 3) return `${trimZero((bytes / 1024 ** 2).toFixed(1))} MiB`;
  return `${trimZero((bytes / 1024 ** 3).toFixed(1))} GiB`;
}

function trimZero(number: string): string {
  return number.replace(/\.0$/, "");
}

/** A name as part of a command that a person pastes into a shell. A tool's name is its server's choice. */
export function shellWord(name: string): string {
  const line = oneLine(name);
  return /^[\w@./-]+$/.test(line) ? line : `'${line.replaceAll("'", "'\\''")}'`;
}

/** A word exactly as it is, for a command that a person pastes into a shell: `key='a value'`. */
export function shellQuoted(word: string): string {
  if (/^[\p{L}\p{N}_@%+=:,./°-]+$/u.test(word)) return word;
  const [, key = "", rest = word] = /^([\p{L}\p{N}_.-]+:?=)([^]+)$/u.exec(word) ?? [];
  return `${key}'${rest.replaceAll("'", "'\\''")}'`;
}

/** The text itself if it cannot be decoded. */
export function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The first sentence of the first line. */
export function firstSentence(text: string): string {
  const [line = ""] = text.trim().split("\n");
  return /^.*?[.!?](?=\s+\p{Lu})/u.exec(line)?.[0] ?? line;
}
