// The forms in which a secret may appear in a log or a result: encoded for a URL, for JSON or by Python, quoted, as base64 or
// hex, in other letters of the same meaning, or with its digits in groups.

import { withoutInvisible } from "./text-reader.ts";

const SHORTEST_LINE = 16;
/** What is left of a secret that is shorter is part of too many words. */
const SHORTEST_SEEN = 8;

/** The characters that each encoder keeps: encodeURIComponent, forms, RFC 3986, Python's quote, encodeURI. */
const URL_ENCODERS: readonly (readonly string[])[] = [
  { kept: /[A-Za-z0-9\-_.!~*'()]/, space: "%20" },
  { kept: /[A-Za-z0-9\-_.*]/, space: "+" },
  { kept: /[A-Za-z0-9\-_.~]/, space: "%20" },
  { kept: /[A-Za-z0-9\-_.~/]/, space: "%20" },
  { kept: /[A-Za-z0-9\-_.!~*'();,/?:@&=+$#]/, space: "%20" },
].flatMap(({ kept, space }) => {
  const lower = (byte: number): string => byte.toString(16).padStart(2, "0");
  const encoder = (hex: (byte: number) => string): string[] =>
    Array.from({ length: 256 }, (_, byte) => {
      const character = String.fromCharCode(byte);
      if (character === " ") return space;
      return kept.test(character) ? character : `%${hex(byte)}`;
    });
  return [encoder(lower), encoder((byte) => lower(byte).toUpperCase())];
});

/** Every encoder for URLs and JSON leaves such a text as it is. */
const KEPT_BY_ALL = /^[A-Za-z0-9\-_.]*$/;

/** The secret itself comes first. Of a secret with several lines, each longer line counts as well. */
export function variantsOf(secret: string): Set<string> {
  const found = new Set<string>();
  for (const text of [secret, ...longLines(secret)].flatMap(normalForms)) {
    const bytes = Buffer.from(text, "utf8");
    found.add(text);
    if (!KEPT_BY_ALL.test(text)) {
      for (const each of jsonForms(text)) found.add(each);
      for (const each of pythonForms(text, bytes)) found.add(each);
      for (const each of quotedForms(text)) found.add(each);
      for (const encoder of URL_ENCODERS) found.add(encoded(bytes, encoder));
    }
    for (const each of base64Forms(bytes)) found.add(each);
    for (const each of hexForms(bytes)) found.add(each);
    for (const each of otherCases(text)) found.add(each);
    for (const each of groupedDigits(text)) found.add(each);
  }
  return found;
}

/** The text itself, with its accents written in the other way, and without what nobody sees, such as an emoji's variant. */
function normalForms(text: string): string[] {
  // oxlint-disable-next-line no-control-regex
  if (/^[\u0000-\u007f]*$/.test(text)) return [text];
  const forms = [text, text.normalize("NFC"), text.normalize("NFD")];
  // A reader sees no such character in a text that has something hidden or encoded, so not in the secret either.
  return [...new Set([...forms, ...forms.map(withoutInvisible)])].filter(
    ({ length }) => length >= SHORTEST_SEEN,
  );
}

/** Words, perhaps with a number at the end: in capitals they may be the name of a variable. */
const WORDS = /^[\p{L}\s._-]*\d{0,4}$/u;

/** All of it in capitals or in small letters. */
function otherCases(text: string): string[] {
  if (WORDS.test(text) || text.includes("://")) return [];
  const cases = [text.toUpperCase(), text.toLowerCase()];
  return cases.filter((each) => each !== text && each.length >= text.length);
}

/** A number in groups, as on a card: `5555 5555 5555 4444`. */
const NUMBER = /^\d(?:[ -]?\d){7,31}$/;
const FEWEST_DIGITS = 4;
/** A day, as in a header with the version of an API. Files and logs are full of them. */
const DAY = /^(?:19|20)\d\d(?:0\d|1[0-2])[0-3]\d/;

const THOUSANDS = /.(?=(?:...)+$)/g;
/** The last one is that of cards with fifteen digits. */
const GROUPS = [
  /.(?=.)/g,
  /..(?=.)/g,
  /...(?=.)/g,
  /....(?=.)/g,
  THOUSANDS,
  /^....|(?<=^.{4})......(?=.)/g,
];
const BLANKS = [" ", "-", "\u00a0", "\u2009", "\u202f"];
/** As languages write thousands. */
const SEPARATORS = [",", ".", "_", "'", "\u2019"];

function groupedDigits(text: string): string[] {
  if (!NUMBER.test(text)) return [];
  const digits = text.replaceAll(/[ -]/g, "");
  const steps = Array.from(digits.slice(1), (digit, at) => (10 + +digit - +(digits[at] ?? 0)) % 10);
  // Counting, and the same few digits again and again, are in every table.
  if (new Set(digits).size < FEWEST_DIGITS || new Set(steps).size === 1 || DAY.test(digits))
    return [];
  return [
    digits,
    ...GROUPS.flatMap((each) => BLANKS.map((gap) => digits.replaceAll(each, `$&${gap}`))),
    ...SEPARATORS.map((mark) => digits.replaceAll(THOUSANDS, `$&${mark}`)),
  ];
}

/** A secret that is longer is a key file, whose lines are found one by one. */
const LONGEST_SPACED = 4096;

/** Alone, and between colons, spaces or hyphens as programs show bytes. */
function hexForms(bytes: Buffer): string[] {
  const hex = bytes.toString("hex");
  const pairs = bytes.length > LONGEST_SPACED ? [] : (hex.match(/../g) ?? []);
  const lower = [hex, ...(pairs.length === 0 ? [] : [":", " ", "-"].map((gap) => pairs.join(gap)))];
  return lower.flatMap((each) => [each, each.toUpperCase()]);
}

/** Leaves out the lines that every PEM file has. */
function longLines(secret: string): string[] {
  if (!secret.includes("\n")) return [];
  return secret
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line.length >= SHORTEST_LINE && !/^-{5}(?:BEGIN|END) /.test(line));
}

/** Escaped once, and twice for JSON inside JSON. */
function jsonForms(text: string): string[] {
  const once = [...new Set(escapings(text))];
  return [...once, ...once.flatMap(escapings)];
}

function escapings(text: string): string[] {
  const plain = JSON.stringify(text).slice(1, -1);
  // oxlint-disable-next-line no-control-regex
  const beyondAscii = /[^\u0000-\u007f]/g;
  const inHtml = /[<>&\u2028\u2029]/g;
  return [
    plain,
    plain.replaceAll("/", "\\/"),
    ...[beyondAscii, inHtml].flatMap((characters) => {
      const lower = plain.replace(characters, escapeCharacter);
      return [
        lower,
        lower.replace(/\\u[0-9a-f]{4}/g, (each) => `\\u${each.slice(2).toUpperCase()}`),
      ];
    }),
  ];
}

function escapeCharacter(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** As `repr` and `ascii` show a text, and `repr` its bytes. A text with both quotes has its apostrophes escaped. */
function pythonForms(text: string, bytes: Buffer): string[] {
  const code = (escape: string, unit: number, width: number): string =>
    `\\${escape}${unit.toString(16).padStart(width, "0")}`;
  const escaped = (character: string): string => {
    const unit = character.codePointAt(0) ?? 0;
    if (character === "\\") return "\\\\";
    if (character === "\n") return "\\n";
    if (character === "\r") return "\\r";
    if (character === "\t") return "\\t";
    if (unit >= 0x20 && unit < 0x7f) return character;
    if (unit <= 0xff) return code("x", unit, 2);
    return unit <= 0xffff ? code("u", unit, 4) : code("U", unit, 8);
  };
  const forms = [
    Array.from(text, (each) => (each < "\u007f" ? escaped(each) : each)),
    Array.from(text, escaped),
    Array.from(bytes.toString("latin1"), escaped),
  ].map((characters) => characters.join(""));
  return text.includes("'")
    ? [...forms, ...forms.map((form) => form.replaceAll("'", "\\'"))]
    : forms;
}

/** Between quotes of YAML, SQL, CSV and a shell. */
function quotedForms(text: string): string[] {
  return [
    text.replaceAll("'", "''"),
    text.replaceAll('"', '""'),
    text.replaceAll("'", "'\\''"),
    text.replaceAll("'", `'"'"'`),
  ];
}

/** `encoder` has the text for each byte. */
function encoded(bytes: Buffer, encoder: readonly string[]): string {
  let text = "";
  for (const byte of bytes) text += encoder[byte] ?? "";
  return text;
}

/**
 * In base64 a secret looks different depending on where in a group of three bytes it begins, as in
 * `user:secret`. For each of the three positions: the characters that depend on the secret alone, and, for a
 * secret at the end of the text, also the last character and the padding.
 */
function base64Forms(bytes: Buffer): string[] {
  return [0, 1, 2].flatMap((before) => {
    const whole = Buffer.concat([Buffer.alloc(before), bytes]).toString("base64");
    const first = before === 0 ? 0 : before + 1;
    const own = Math.floor((8 * (before + bytes.length)) / 6);
    const unpadded = whole.replace(/=+$/, "");
    const forms = [whole.slice(first, own), unpadded.slice(first), whole.slice(first)];
    if (!/[+/]/.test(whole)) return forms;
    return [...forms, ...forms.map((form) => form.replaceAll("+", "-").replaceAll("/", "_"))];
  });
}
