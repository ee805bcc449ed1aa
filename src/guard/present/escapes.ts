// Other ways to write a character, and writing that a reader looks through: entities, percent and
// backslash escapes; terminal sequences and inline tags. Every pattern is bounded, so that a position costs
// the same whatever follows it.

const ENTITY = /&(?:amp;|#38;|#x26;){0,4}(?:#x([0-9a-f]{1,6})|#([0-9]{1,7})|([a-z]{2,16}));?/iy;
const BACKSLASH =
  /\\{1,4}(?:x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|u\{([0-9A-Fa-f]{1,6})\}|U([0-9A-Fa-f]{8}))/y;
const OCTAL = /\\{1,4}([0-3]?[0-7]{2})/y;
const BYTE = /(?:%(?:25){0,4}|=)([0-9a-f]{2})/iy;
const PERCENT_UNIT = /%(?:25){0,4}u([0-9a-f]{4})/iy;

const NAMED: Readonly<Record<string, string>> = {
  lt: "<",
  gt: ">",
  lowbar: "_",
  underbar: "_",
  quot: '"',
  apos: "'",
  nbsp: " ",
  ensp: " ",
  emsp: " ",
  thinsp: " ",
  hyphen: "-",
  equals: "=",
  lsqb: "[",
  rsqb: "]",
  lang: "<",
  rang: ">",
  laquo: "<",
  raquo: ">",
  shy: "\u00ad",
  zwj: "\u200d",
  zwnj: "\u200c",
  lrm: "\u200e",
  rlm: "\u200f",
  zerowidthspace: "\u200b",
  nobreak: "\u2060",
};

/** What can stand second in an escape, by its sign: a cheap way to see that most signs begin none. */
const AFTER_AMPERSAND = charactersOf(/[#A-Za-z]/);
const AFTER_BACKSLASH = charactersOf(/[\\xuU0-7]/);
const AFTER_PERCENT = charactersOf(/[0-9A-Fa-fu]/);

/** Terminal sequences (their escape character may be lost), inline tags and comments. */
const SEEN_THROUGH =
  // oxlint-disable-next-line no-control-regex
  /(?:\u001b\[|\u009b)[0-?]{0,16}[ -/]{0,2}[@-~]|\[[0-9;]{1,16}m|\u001b\][^\u0007\u001b]{0,120}(?:\u0007|\u001b\\)|<!--[^<>]{0,80}-->|<\/?(?:a|b|i|s|u|br|em|big|code|font|mark|small|span|strong|sub|sup|wbr)(?:\s[^<>]{0,80})?\/?>/iy;

export interface Escape {
  codePoint: number;
  length: number;
}

/** The character that is written in another way at `at`, where a `&`, `%`, `=` or `\` stands. */
export function readEscape(text: string, at: number): Escape | undefined {
  const second = text.charCodeAt(at + 1);
  switch (text[at]) {
    case "&":
      return AFTER_AMPERSAND[second] ? readEntity(text, at) : undefined;
    case "\\":
      return AFTER_BACKSLASH[second] ? readBackslash(text, at) : undefined;
    default:
      return AFTER_PERCENT[second] ? readPercent(text, at) : undefined;
  }
}

/** How many characters at `at` a reader looks through; 0 where there is nothing of the kind. */
export function seenThrough(text: string, at: number): number {
  SEEN_THROUGH.lastIndex = at;
  return SEEN_THROUGH.test(text) ? SEEN_THROUGH.lastIndex - at : 0;
}

function charactersOf(pattern: RegExp): Uint8Array {
  return Uint8Array.from({ length: 128 }, (_, code) =>
    pattern.test(String.fromCharCode(code)) ? 1 : 0,
  );
}

function match(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

function readEntity(text: string, at: number): Escape | undefined {
  const found = match(ENTITY, text, at);
  if (found === null) return undefined;
  const [{ length }, hex, decimal, name = ""] = found;
  if (hex !== undefined) return escape(Number.parseInt(hex, 16), length);
  if (decimal !== undefined) return escape(Number.parseInt(decimal, 10), length);
  const named = Object.hasOwn(NAMED, name.toLowerCase()) ? NAMED[name.toLowerCase()] : undefined;
  return named === undefined ? undefined : escape(named.charCodeAt(0), length);
}

function readBackslash(text: string, at: number): Escape | undefined {
  const found = match(BACKSLASH, text, at);
  if (found === null) {
    const octal = match(OCTAL, text, at);
    return octal === null ? undefined : escape(Number.parseInt(octal[1] ?? "", 8), octal[0].length);
  }
  const [{ length }, ...forms] = found;
  const unit = Number.parseInt(forms.find((form) => form !== undefined) ?? "", 16);
  return pair(unit, length, text, at, BACKSLASH, 2);
}

function readPercent(text: string, at: number): Escape | undefined {
  const wide = match(PERCENT_UNIT, text, at);
  if (wide !== null) {
    return pair(Number.parseInt(wide[1] ?? "", 16), wide[0].length, text, at, PERCENT_UNIT, 1);
  }
  return readBytes(text, at);
}

/** A second half may follow in the same form. */
function pair(
  unit: number,
  length: number,
  text: string,
  at: number,
  form: RegExp,
  group: number,
): Escape | undefined {
  if (unit >= 0xd800 && unit <= 0xdbff) {
    const low = match(form, text, at + length);
    const half = Number.parseInt(low?.[group] ?? "", 16);
    if (low !== null && half >= 0xdc00 && half <= 0xdfff) {
      const codePoint = 0x10000 + ((unit - 0xd800) << 10) + (half - 0xdc00);
      return { codePoint, length: length + low[0].length };
    }
  }
  return escape(unit, length);
}

/** UTF-8, byte by byte. */
function readBytes(text: string, at: number): Escape | undefined {
  const first = match(BYTE, text, at);
  if (first === null) return undefined;
  let length = first[0].length;
  const lead = Number.parseInt(first[1] ?? "", 16);
  if (lead < 0x80) return { codePoint: lead, length };
  const bytes = [lead];
  for (let more = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : 1; more > 0; more -= 1) {
    const next = match(BYTE, text, at + length);
    if (next === null) break;
    bytes.push(Number.parseInt(next[1] ?? "", 16));
    length += next[0].length;
  }
  const codePoint = Buffer.from(bytes).toString("utf8").codePointAt(0) ?? 0;
  return { codePoint, length };
}

function escape(codePoint: number, length: number): Escape | undefined {
  return codePoint <= 0x10ffff ? { codePoint, length } : undefined;
}
