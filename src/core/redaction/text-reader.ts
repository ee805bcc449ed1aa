// Reads a text as a person or a program would see it: without escapes and invisible characters, with encoded
// characters decoded, and over the ends of lines. Every character is read once.

const TAB = 0x09;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const ESCAPE = 0x1b;
const SPACE = 0x20;
const QUOTE = 0x22;
const HASH = 0x23;
const PERCENT = 0x25;
const AMPERSAND = 0x26;
const APOSTROPHE = 0x27;
const SLASH = 0x2f;
const SEMICOLON = 0x3b;
const BACKSLASH = 0x5c;
const SMALL_N = 0x6e;
const SMALL_R = 0x72;
const SMALL_U = 0x75;
const SMALL_X = 0x78;
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;
const CSI_CHARACTER = 0x9b;

/** Stands for a character that was not encoded well. */
const REPLACEMENT = 0xfffd;

/** What `next` returns at the end of the text. */
export const END = -1;

const INVISIBLE =
  // oxlint-disable-next-line no-control-regex
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\p{Cf}\p{Variation_Selector}\p{Default_Ignorable_Code_Point}\u2028\u2029]/u;

/** The text as a reader sees it, if it has no codes. */
export function withoutInvisible(text: string): string {
  return text.replace(new RegExp(INVISIBLE, "gu"), (each) => (each === "\r" ? each : ""));
}

/** What follows ESC: a CSI sequence, a string such as a title, or one more character. */
const SEQUENCE =
  // oxlint-disable-next-line no-control-regex
  /\[[0-?]*[ -/]*[@-~]?|[\]PX^_][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[ -/]*[0-~]?/y;
/** What follows the character that stands for `ESC [`. */
const CSI = /[0-?]*[ -/]*[@-~]?/y;

/** The names of characters that a secret may have, and of some that nobody sees. Their units, or 0 for the latter. */
const ENTITIES: ReadonlyMap<string, number> = new Map([
  ...Object.entries({
    amp: "&",
    lt: "<",
    gt: ">",
    quot: '"',
    apos: "'",
    lowbar: "_",
    UnderBar: "_",
    sol: "/",
    bsol: "\\",
    plus: "+",
    equals: "=",
    period: ".",
    comma: ",",
    colon: ":",
    semi: ";",
    excl: "!",
    quest: "?",
    num: "#",
    dollar: "$",
    percnt: "%",
    commat: "@",
    ast: "*",
    midast: "*",
    lpar: "(",
    rpar: ")",
    lsqb: "[",
    lbrack: "[",
    rsqb: "]",
    rbrack: "]",
    lcub: "{",
    lbrace: "{",
    rcub: "}",
    rbrace: "}",
    verbar: "|",
    vert: "|",
    VerticalLine: "|",
    Hat: "^",
    grave: "`",
    DiacriticalGrave: "`",
  }).map(([name, character]) => [name, character.charCodeAt(0)] as const),
  ...["shy", "zwj", "zwnj", "lrm", "rlm", "ZeroWidthSpace", "NoBreak", "NewLine"].map(
    (name) => [name, 0] as const,
  ),
]);
const LONGEST_ENTITY = 16;

/** The name of the character whose code begins with `&` before `from`; "" if there is none. */
function entityAt(text: string, from: number): string {
  for (let at = from; at <= from + LONGEST_ENTITY; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit === SEMICOLON) {
      const name = text.slice(from, at);
      return ENTITIES.has(name) ? name : "";
    }
    const letter = unit | 0x20;
    if (!(letter >= 0x61 && letter <= 0x7a)) return "";
  }
  return "";
}

/** A code, or a character of several codes or units, that has begun at the end of a text. */
const UNFINISHED =
  // oxlint-disable-next-line no-control-regex
  /(?:%(?:25)*(?:[cd][0-9a-f]|e[0-9a-f](?:%(?:25)*[89ab][0-9a-f])?|f[0-4](?:%(?:25)*[89ab][0-9a-f]){0,2})(?:%(?:25)*[0-9a-f]?)?|%(?:25)*[0-9a-f]?|\\+(?:u\{?[0-9a-f]{0,5}|x[0-9a-f]?)?|&(?:amp;)*#?[0-9a-z]{0,16}|\u001b\[?[0-?]*|[\ud800-\udbff])$/i;
const LONGEST_UNFINISHED = 32;

/** A long text is first searched for the few characters without which it cannot have a code. */
const LONG = 4096;
const BEGINNINGS = ["%", "&", "\\u", "\\x", "\\/", "\\'"];
const CONTROLS = Array.from({ length: 0x20 }, (_, code) => String.fromCharCode(code))
  .filter((each) => !"\t\n\r".includes(each))
  .concat("\u007f");

const UNKNOWN = 0;
const ORDINARY = 1;
const UNSEEN = 2;
/** May begin a code, or a character of two units that is invisible. */
const PERHAPS = 3;
/** The kinds of the units that have been asked for. */
const kinds = new Uint8Array(0x10000);

function kindOf(unit: number): number {
  const isStart = unit === PERCENT || unit === AMPERSAND || unit === BACKSLASH;
  if (isStart || unit === CARRIAGE_RETURN || (unit >= 0xd800 && unit <= 0xdbff)) {
    return PERHAPS;
  }
  return INVISIBLE.test(String.fromCharCode(unit)) ? UNSEEN : ORDINARY;
}

/** Whatever is not plain ASCII, or may begin a code. */
const SUSPECT = /[^\t\n\x20-\x24\x27-\x5b\x5d-\x7e]/;

/** The first place from `from` on where what is seen differs from what is written, except at the ends of lines. */
export function codeAfter(text: string, from: number): number {
  // Most texts are short and ordinary to their end, and a regular expression passes over that faster.
  const first = from === 0 ? text.search(SUSPECT) : from;
  if (first === -1) return text.length;
  for (let at = first; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    let kind = kinds[unit] ?? 0;
    if (kind === ORDINARY) continue;
    if (kind === UNKNOWN) kinds[unit] = kind = kindOf(unit);
    if (kind === UNSEEN || (kind === PERHAPS && isCode(text, at, unit))) return at;
  }
  return text.length;
}

function isCode(text: string, at: number, unit: number): boolean {
  const next = text.charCodeAt(at + 1);
  switch (unit) {
    case PERCENT:
      return hexDigit(next) >= 0 && hexDigit(text.charCodeAt(at + 2)) >= 0;
    case BACKSLASH:
      return next === SMALL_U || next === SMALL_X || next === SLASH || next === APOSTROPHE;
    case AMPERSAND:
      return next === HASH || entityAt(text, at + 1) !== "";
    case CARRIAGE_RETURN:
      return next !== LINE_FEED;
    default:
      return isInvisiblePair(text, at);
  }
}

/** Whether the text certainly has nothing that `codeAfter` would find. Faster than searching for it. */
export function isPlain(text: string): boolean {
  // Text with characters beyond ASCII has more bytes than units.
  if (text.length < LONG || Buffer.byteLength(text) !== text.length) return false;
  if (BEGINNINGS.some((each) => text.includes(each))) return false;
  return !CONTROLS.some((each) => text.includes(each)) && !text.includes("\r");
}

/** Whether the character is certainly seen as it is written. */
export function isPlainUnit(unit: number): boolean {
  if (!(unit >= SPACE && unit < 0x7f)) return false;
  return unit !== PERCENT && unit !== BACKSLASH && unit !== AMPERSAND;
}

/** Whether the text is certainly seen as it is written, at the ends of lines too. */
export function isAsWritten(text: string): boolean {
  return isPlain(text) && !text.includes("\n") && !text.includes("\\n");
}

export function hasEscapes(text: string): boolean {
  return text.includes("\u001b") || text.includes("\u009b");
}

/** The start of a code that the end of the text cuts off; the text's length without one. */
export function unfinishedCode(text: string): number {
  const from = Math.max(0, text.length - LONGEST_UNFINISHED);
  const at = text.slice(from).search(UNFINISHED);
  return at === -1 ? text.length : from + at;
}

/** Reads a text character by character, as UTF-16 units. */
export interface UnitReader {
  /** Where the character that was read last stands in the text. */
  readonly start: number;
  readonly end: number;
  /** Goes on from this place. */
  moveTo(at: number): void;
  /** The next character, or END. */
  next(): number;
  /** This many characters from this place on, or fewer at the end. */
  read(from: number, count: number): string;
}

/** Reads what is written. */
export class WrittenReader implements UnitReader {
  start = 0;
  end = 0;
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  moveTo(at: number): void {
    this.end = at;
  }

  next(): number {
    if (this.end >= this.#text.length) return END;
    this.start = this.end;
    this.end += 1;
    return this.#text.charCodeAt(this.start);
  }

  read(from: number, count: number): string {
    return this.#text.slice(from, from + count);
  }
}

/** Reads what is seen. */
export class TextReader implements UnitReader {
  start = 0;
  end = 0;
  readonly #text: string;
  readonly #isLiteral: boolean;
  /** The second half of a character that was decoded. */
  #low = 0;

  /**
   * A screen hides a whole escape sequence, a model sees all of it but the character ESC. `isLiteral` reads like
   * the model.
   */
  constructor(text: string, isLiteral = false) {
    this.#text = text;
    this.#isLiteral = isLiteral;
  }

  moveTo(at: number): void {
    this.end = at;
    this.#low = 0;
  }

  read(from: number, count: number): string {
    this.moveTo(from);
    const units: number[] = [];
    for (let unit = 0; units.length < count; units.push(unit)) {
      unit = this.next();
      if (unit === END) break;
    }
    return String.fromCharCode(...units);
  }

  next(): number {
    if (this.#low !== 0) {
      const low = this.#low;
      this.#low = 0;
      return low;
    }
    const text = this.#text;
    while (this.end < text.length) {
      const unit = text.charCodeAt(this.end);
      this.start = this.end;
      this.end += 1;
      if (isPlainUnit(unit)) return unit;
      if (unit < 0x7f && unit >= SPACE) {
        const seen = this.#decode(unit);
        if (seen !== 0) return seen;
        continue;
      }
      if (unit === LINE_FEED || unit === CARRIAGE_RETURN) {
        this.#skipBlanks();
        continue;
      }
      let kind = kinds[unit] ?? 0;
      if (kind === UNKNOWN) kinds[unit] = kind = kindOf(unit);
      if (kind === ORDINARY) return unit;
      if (kind === PERHAPS) {
        if (!isInvisiblePair(text, this.start)) return unit;
        this.end += 1;
      } else if (unit === ESCAPE || unit === CSI_CHARACTER) this.#skipSequence(unit);
    }
    return END;
  }

  #skipBlanks(): void {
    for (;;) {
      const unit = this.#text.charCodeAt(this.end);
      if (unit !== SPACE && unit !== TAB) return;
      this.end += 1;
    }
  }

  #skipSequence(unit: number): void {
    if (this.#isLiteral) return;
    const pattern = unit === ESCAPE ? SEQUENCE : CSI;
    pattern.lastIndex = this.end;
    pattern.test(this.#text);
    this.end = pattern.lastIndex;
  }

  /** The character that a code stands for; the unit itself where there is no code; 0 for nothing that is seen. */
  #decode(unit: number): number {
    switch (unit) {
      case PERCENT:
        return this.#percent();
      case AMPERSAND:
        return this.#entity();
      default:
        return this.#backslash();
    }
  }

  #percent(): number {
    const lead = this.#byte();
    if (lead === -1) return PERCENT;
    if (lead < 0xc2) return this.#character(lead);
    const length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    let code = lead & (0x7f >> length);
    for (let read = 1; read < length; read += 1) {
      if (this.#text.charCodeAt(this.end) !== PERCENT) return REPLACEMENT;
      const before = this.end;
      this.end += 1;
      const byte = this.#byte();
      if (byte < 0x80 || byte > 0xbf) {
        this.end = before;
        return REPLACEMENT;
      }
      code = (code << 6) | (byte & 0x3f);
    }
    return this.#character(code);
  }

  /** The byte after a percent sign, which may be encoded itself; -1 if there is none. */
  #byte(): number {
    const text = this.#text;
    const byte = (at: number): number => {
      const high = hexDigit(text.charCodeAt(at));
      const low = hexDigit(text.charCodeAt(at + 1));
      return high < 0 || low < 0 ? -1 : high * 16 + low;
    };
    let found = byte(this.end);
    if (found === -1) return -1;
    this.end += 2;
    for (let next = byte(this.end); found === PERCENT && next !== -1; next = byte(this.end)) {
      found = next;
      this.end += 2;
    }
    return found;
  }

  #entity(): number {
    const text = this.#text;
    // Encoded again and again: `&amp;amp;lt;`.
    while (text.startsWith("amp;", this.end)) this.end += 4;
    if (text.charCodeAt(this.end) !== HASH) {
      const name = entityAt(text, this.end);
      if (name === "") return AMPERSAND;
      this.end += name.length + 1;
      return ENTITIES.get(name) ?? AMPERSAND;
    }
    const isHex = (text.charCodeAt(this.end + 1) | 0x20) === SMALL_X;
    const first = this.end + (isHex ? 2 : 1);
    let at = first;
    let code = 0;
    for (; ; at += 1) {
      const digit = hexDigit(text.charCodeAt(at));
      if (digit < 0 || (!isHex && digit > 9)) break;
      code = Math.min(code * (isHex ? 16 : 10) + digit, 0x110000);
    }
    if (at === first) return AMPERSAND;
    this.end = text.charCodeAt(at) === SEMICOLON ? at + 1 : at;
    return this.#character(code);
  }

  #backslash(): number {
    const text = this.#text;
    while (text.charCodeAt(this.end) === BACKSLASH) this.end += 1;
    const unit = text.charCodeAt(this.end);
    switch (unit) {
      case SMALL_N:
      case SMALL_R:
        this.end += 1;
        this.#skipBlanks();
        return 0;
      case QUOTE:
      case APOSTROPHE:
      case SLASH:
        this.end += 1;
        return unit;
      case SMALL_U:
      case SMALL_X:
        return this.#hex(unit === SMALL_X ? 2 : 4);
      default:
        return BACKSLASH;
    }
  }

  /** `x61`, `u0061` and `u{61}`. */
  #hex(length: number): number {
    const text = this.#text;
    const isBraced = text.charCodeAt(this.end + 1) === OPENING_BRACE;
    const first = this.end + (isBraced ? 2 : 1);
    let at = first;
    let code = 0;
    for (; at < first + (isBraced ? 6 : length); at += 1) {
      const digit = hexDigit(text.charCodeAt(at));
      if (digit < 0) break;
      code = code * 16 + digit;
    }
    const isWhole = isBraced
      ? at > first && text.charCodeAt(at) === CLOSING_BRACE
      : at === first + length;
    if (!isWhole) return BACKSLASH;
    this.end = isBraced ? at + 1 : at;
    return this.#character(code);
  }

  /** A decoded character may be invisible as well, and may begin a sequence. */
  #character(code: number): number {
    if (code > 0x10ffff) return REPLACEMENT;
    if (code >= SPACE && code < 0x7f) return code;
    if (code === LINE_FEED || code === CARRIAGE_RETURN) return 0;
    if (code === ESCAPE || code === CSI_CHARACTER) this.#skipSequence(code);
    if (code <= 0xffff) {
      const kind = kinds[code] || (kinds[code] = kindOf(code));
      return kind === UNSEEN ? 0 : code;
    }
    const text = String.fromCodePoint(code);
    if (INVISIBLE.test(text)) return 0;
    this.#low = text.charCodeAt(1);
    return text.charCodeAt(0);
  }
}

/** Only a few characters of two units are invisible. All of them have one of these first halves. */
const INVISIBLE_HALVES = new Set([0xd804, 0xd80d, 0xd82f, 0xd834, 0xdb40, 0xdb41, 0xdb42, 0xdb43]);

function isInvisiblePair(text: string, at: number): boolean {
  if (!INVISIBLE_HALVES.has(text.charCodeAt(at))) return false;
  return INVISIBLE.test(String.fromCodePoint(text.codePointAt(at) ?? 0));
}

/** The value of a hexadecimal digit; -1 for any other unit. */
function hexDigit(unit: number): number {
  if (unit >= 0x30 && unit <= 0x39) return unit - 0x30;
  const letter = unit | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}
