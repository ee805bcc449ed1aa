// Text as a reader takes it in, one character after the other: coded characters (entities, percent and
// backslash escapes) are read as what they stand for, and markup between letters may be looked past. Every
// pattern is bounded, so a position costs the same whatever follows it.

import { BRACKET, FOREIGN, INVISIBLE, ORNAMENT, readingOf } from "./lookalikes.ts";

/** Entities with the character that each stands for, in looks. */
const NAMED = new Map(
  Array.from(
    (
      "lt=<gt=>LT=<GT=>lang=<rang=>laquo=<raquo=>lsqb=[rsqb=]lowbar=_underbar=_hyphen=-equals==" +
      'quot="QUOT="apos=\'nbsp= ensp= emsp= thinsp= shy=\u00adZeroWidthSpace=\u200b' +
      "zwj=\u200dzwnj=\u200clrm=\u200erlm=\u200fNoBreak=\u2060"
    ).matchAll(/([A-Za-z]+)=(.)/g),
    ([, name = "", character = ""]) => [name, character] as const,
  ),
);

/** Fragments of the patterns below. Ampersands and percent signs may be coded again, and backslashes doubled. */
const AMPERSAND = "&(?:(?:amp|AMP|#38|#[Xx]26);){0,4}";
const UNIT = String.raw`(?:\\{1,4}|%(?:25){0,4})u`;
const BYTE = "(?:%(?:25){0,4}|=)";
const HEX = "[0-9A-Fa-f]";
const NEXT_BYTE = `${BYTE}[89ABab]${HEX}`;

/** The forms that a coded character can have, and how to decode what each holds in parentheses. */
const FORMS: readonly [form: string, decode: (coded: string) => string][] = [
  [`${AMPERSAND}#[Xx]0{0,16}(${HEX}{1,6});?`, fromNumber(16)],
  [`${AMPERSAND}#0{0,16}([0-9]{1,7});?`, fromNumber(10)],
  [`${AMPERSAND}(${[...NAMED.keys()].join("|")});?`, (name) => NAMED.get(name) ?? ""],
  [`(${UNIT}[Dd][89ABab]${HEX}{2}${UNIT}[Dd][C-Fc-f]${HEX}{2})`, fromSurrogates],
  [`${UNIT}(${HEX}{4})`, fromNumber(16)],
  [String.raw`\\{1,4}x(${HEX}{2})`, fromNumber(16)],
  [String.raw`\\{1,4}u\{(${HEX}{1,6})\}`, fromNumber(16)],
  [String.raw`\\{1,4}U(${HEX}{8})`, fromNumber(16)],
  [String.raw`\\{1,4}([0-3]?[0-7]{2})`, fromNumber(8)],
  [`${BYTE}([0-7]${HEX})`, fromNumber(16)],
  [`(${BYTE}[CDcd]${HEX}${NEXT_BYTE})`, fromUtf8],
  [`(${BYTE}[Ee]${HEX}(?:${NEXT_BYTE}){2})`, fromUtf8],
  [`(${BYTE}[Ff]${HEX}(?:${NEXT_BYTE}){3})`, fromUtf8],
];
const CODED = new RegExp(FORMS.map(([form]) => form).join("|"), "y");

/** Terminal sequences (their escape character may be lost), inline tags and comments. */
const MARKUP =
  // oxlint-disable-next-line no-control-regex
  /(?:\u001b\[|\u009b)[0-?]{0,16}[ -/]{0,2}[@-~]|\[[0-9;]{1,16}m|\u001b\][^\u0007\u001b]{0,120}(?:\u0007|\u001b\\)|<!--[^<>]{0,80}-->|<\/?(?:a|b|i|s|u|br|em|big|code|font|mark|small|span|strong|sub|sup|wbr)(?:\s[^<>]{0,80})?\/?>/iy;

export class TextReader {
  readonly #text: string;
  /** Where the last character stands in the text. */
  start = 0;
  end: number;
  reading = "";
  /** It may be mere decoration, whatever it reads as. */
  isSoft = false;
  /** Up to here, characters are soft. */
  #softUntil = 0;

  constructor(text: string, from = 0) {
    this.#text = text;
    this.end = from;
  }

  seek(at: number): void {
    this.end = at;
    this.#softUntil = 0;
  }

  /** Reads one character; false at the end of the text. */
  next(): boolean {
    const text = this.#text;
    const at = this.end;
    if (at >= text.length) return false;
    const sign = text.charAt(at);
    const isSign = "&%=\\<[\u001b\u009b".includes(sign);
    const coded = isSign ? decode(text, at) : undefined;
    if (isSign && coded === undefined) {
      this.#softUntil = Math.max(this.#softUntil, softEnd(text, at, sign));
    }
    const isMarkup = coded === undefined && at < this.#softUntil;
    const codePoint = coded?.codePoint ?? text.codePointAt(at) ?? 0;
    // A tag character is invisible, yet a model may read letters that are spelled in tags.
    const isTag = codePoint >= 0xe0020 && codePoint <= 0xe007e;
    const reading = readingOf(isTag ? codePoint - 0xe0000 : codePoint);
    this.start = at;
    this.end = at + (coded?.length ?? (codePoint > 0xffff ? 2 : 1));
    this.isSoft = isMarkup || isTag || coded !== undefined;
    if (isMarkup && (reading === FOREIGN || reading === BRACKET)) this.reading = ORNAMENT;
    else this.reading = isTag && reading === ORNAMENT ? INVISIBLE : reading;
    return true;
  }
}

interface CodedCharacter {
  codePoint: number;
  length: number;
}

/** Where the markup or the broken escape that begins at `at` ends: `\n` before `AL` may be a letter, as may `%ED`. */
function softEnd(text: string, at: number, sign: string): number {
  if (sign === "\\") return at + 2;
  MARKUP.lastIndex = at;
  if (MARKUP.test(text)) return MARKUP.lastIndex;
  return /^[%=][0-9A-Fa-f]{2}/.test(text.slice(at, at + 3)) ? at + 3 : 0;
}

function decode(text: string, at: number): CodedCharacter | undefined {
  CODED.lastIndex = at;
  const [whole = "", ...held] = CODED.exec(text) ?? [];
  const form = held.findIndex((each) => each !== undefined);
  const codePoint = FORMS[form]?.[1](held[form] ?? "").codePointAt(0);
  return codePoint === undefined ? undefined : { codePoint, length: whole.length };
}

function fromNumber(base: number): (digits: string) => string {
  return (digits) => {
    const codePoint = Number.parseInt(digits, base);
    return codePoint <= 0x10ffff ? String.fromCodePoint(codePoint) : "";
  };
}

function fromSurrogates(coded: string): string {
  const units = Array.from(coded.matchAll(/u(.{4})/g), ([, hex = ""]) => Number.parseInt(hex, 16));
  return String.fromCharCode(...units);
}

function fromUtf8(coded: string): string {
  return Buffer.from(coded.replaceAll(/%(?:25)*|=/g, ""), "hex").toString("utf8");
}
