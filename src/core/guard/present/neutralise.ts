// Takes forged markers and copies of the frame's id out of a server's text and leaves everything else as it
// is, to the byte. The time is linear in the text.
//
// A text is searched twice, as it is written and as it is rendered: with escapes decoded, and without markup.
// Both searches run on its skeleton, a text of the same length in which every character stands as the plain
// letter that it looks like, so a place in one is a place in the other.

const REMOVED = "[[marker removed]]";

/** Stands for what nobody sees, and pads what several characters make together. */
const UNSEEN = "\0";
/** Stands for a letter that looks like none of ASCII. */
const FOREIGN = "\uffff";

/** A letter and what looks like it, apart from what Unicode itself relates to it. All in lower case. */
const LOOKALIKES: Readonly<Record<string, string>> = {
  a: "аαɑᴀꭺꓮλʌⲁⱥ",
  c: "сϲᴄꮯꓚⲥↄȼƈ",
  d: "ԁᴅꭰꓓđðɖɗꮷ",
  e: "еεєҽᴇꭼꓰɛəǝэɇⲉ℮€",
  l: "ӏіιɩıʟꮮꓡłƚɫɭǀⲓ",
  n: "пиոռηνɴꓠⲛŋɲƞ",
  o: "оοσөօᴏⲟꓳøθɵ",
  r: "гяᴦʀꭱꮢꓣʁɍɼɽⲅ",
  s: "ѕꜱꮪꓢʂտƽȿ",
  t: "тτᴛꭲꓔⲧŧƭʈҭ",
  u: "υսʋᴜꓴʊцџμ",
  x: "хχҳӽᕁᕽꓫⲭ×",
  "<": "«‹⟨⟪〈《「『【≪⋘˂❮❬❰ᐸ",
  ">": "»›⟩⟫〉》」』】≫⋙˃❯❭❱ᐳ",
};
/** Characters that Unicode takes for two letters of the name. */
const PAIRS: Readonly<Record<string, string>> = { st: "ﬅﬆ", co: "℅㏇", na: "㎁" };
/** Letters with the digits and letters of ASCII that read as them. */
const ALSO = ["a4", "e3", "l1i", "o0", "s5", "t7", "uv"];

/** Anything that is not a letter or digit may stand between the letters of the name. */
const GAP = `[^a-z0-9${Object.values(PAIRS).join("")}${FOREIGN}]*`;
const letter = (plain: string): string => `[${ALSO.find((each) => each[0] === plain) ?? plain}]`;
/** The markers' name. It reads as a marker without its first letter too. */
const NAME = new RegExp(
  `(?:[e3]${UNSEEN}*)?${"xternaluntrustedcontent"
    .match(/st|co|na|./g)
    ?.map((part) => {
      const letters = Array.from(part, letter).join(GAP);
      return part in PAIRS ? `(?:${letters}|[${PAIRS[part]}])` : letters;
    })
    .join(GAP)}`,
  "gi",
);

// Ampersands and percent signs may be encoded again, and backslashes doubled. Every repetition is bounded, so
// that a position costs the same whatever follows it.
const AND = "&(?:(?:amp|#38|#x26);){0,4}";
const SLASH = String.raw`\\{1,4}`;
const PERCENT = "(?:%(?:25){0,4}|=)";
const UNIT = String.raw`(?:\\{1,4}|%(?:25){0,4})u`;
const HEX = "[0-9a-f]";
const NEXT = `${PERCENT}[89ab]${HEX}`;
const CODED = [
  String.raw`(?:${AND}#x0{0,16}|${SLASH}u\{)(${HEX}{1,6})[;}]?`,
  `${SLASH}u00(${HEX}{6})`,
  `${UNIT}(${HEX}{4})(?:${UNIT}(d[c-f]${HEX}{2}))?`,
  `(?:${SLASH}x|${PERCENT}(?=[0-7]))(${HEX}{2})`,
  `${AND}#0{0,16}([0-9]{1,7});?`,
  `${SLASH}([0-3]?[0-7]{2})`,
  `(${PERCENT}(?:[cd]${HEX}|e${HEX}${NEXT}|f${HEX}${NEXT}${NEXT})${NEXT})`,
  `${AND}(?:([a-z])(?:acute|grave|uml|circ|tilde|cedil|ring|caron|slash|strok|opf|scr|fr);|(?:shy|nbsp|lt|gt|quot);?|(?:lowbar|underbar|hyphen|zwn?j|[lr]rm|lang|rang|[lr]sqb|e[nm]sp|thinsp|ZeroWidthSpace|NoBreak);)`,
];
/** Escaped whitespace, terminal sequences (their escape character may be lost), tags and comments. */
const MARKUP = [
  String.raw`\\[nrtbfv]`,
  String.raw`(?:\u001b\[|\u009b)[0-?]{0,16}[ -/]{0,2}[@-~]|\[[0-9;]{1,16}m`,
  String.raw`\u001b\][^\u0007\u001b]{0,120}(?:\u0007|\u001b\\)`,
  String.raw`<!--[^<>]{0,80}-->|</?[a-z]{1,6}(?:\s[^<>]{0,80})?/?>`,
];
/** Tag characters are invisible where text is rendered, yet a model may read letters that are spelled in them. */
const TAG = String.raw`\udb40[\udc21-\udc7e]`;
const SPECIAL = new RegExp(
  String.raw`(?=[&%=\\<[\u001b\u009b\udb40])(?:${[...CODED, ...MARKUP, TAG].join("|")})`,
  "gi",
);

/** Somebody writes about external, untrusted content, or names something after it in code. */
const PROSE = /^[Ee]xternal[ ,\n-]{0,2}[Uu]ntrusted[ ,\n-]{0,2}[Cc]ontent$/;
/** What belongs to a marker around its name: brackets and the word END, attributes and brackets. */
const OPENING = /(?:[<[{][ \t\0/]*)*(?:(?<![a-z0-9])[e3]\0*n\0*d[\s\0_.-]*)?$/i;
const CLOSING = /^(?:[ \t\0]+\w[^<>[\]{}\n=]{0,40}=[^<>[\]{}\n]{0,240})?(?:[ \t\0]*[>\]}])+/;
/** Around prose, these make a marker of it: rules, pointed and double brackets. */
const RULE_BEFORE = /(?:<|\[\[|\{\{|[-=_~]{3})[ /]{0,4}(?:end )?$/i;
const RULE_BEHIND = /^ {0,4}(?:>|\]\]|\}\}|[-=_~]{3})/;

interface Span {
  start: number;
  end: number;
}

/**
 * Reads the pieces as one text, so that it finds a marker whose halves stand in two of them. A note replaces
 * what is taken out, in the piece where that begins; `removed` counts markers and ids.
 */
export function neutralise(
  pieces: readonly string[],
  id?: string,
): { pieces: string[]; removed: number } {
  const text = pieces.length === 1 ? (pieces[0] ?? "") : pieces.join("\n");
  const spans = findForged(text, id);
  if (spans.length === 0) return { pieces: [...pieces], removed: 0 };
  let from = 0;
  let next = 0;
  const cleaned = pieces.map((piece) => {
    const to = from + piece.length;
    const kept: string[] = [];
    let at = from;
    for (let span = spans[next]; span !== undefined && span.start < to; span = spans[next]) {
      if (span.start >= from) kept.push(text.slice(at, span.start), REMOVED);
      at = Math.max(at, Math.min(span.end, to));
      if (span.end > to) break;
      next += 1;
    }
    kept.push(text.slice(at, to));
    from = to + 1;
    return kept.join("");
  });
  return { pieces: cleaned, removed: spans.length };
}

/** Where forged markers and copies of the id stand, in order and apart from each other. */
export function findForged(text: string, id?: string): Span[] {
  const copy = id === undefined ? undefined : new RegExp(Array.from(id).join(`${UNSEEN}*`), "gi");
  const spans = skeletonsOf(text).flatMap((skeleton) => [
    ...Array.from(skeleton.matchAll(NAME), (name) => markerAround(text, skeleton, name)).flat(),
    ...(copy === undefined ? [] : Array.from(skeleton.matchAll(copy), spanOf)),
  ]);
  const apart: Span[] = [];
  for (const span of spans.sort((a, b) => a.start - b.start)) {
    const last = apart.at(-1);
    if (last !== undefined && span.start < last.end) last.end = Math.max(last.end, span.end);
    else apart.push(span);
  }
  return apart;
}

/** The marker around its name in a skeleton; nothing where the name is prose. */
function markerAround(text: string, skeleton: string, name: RegExpExecArray): Span[] {
  const { start, end } = spanOf(name);
  const before = skeleton.slice(Math.max(0, start - 160), start);
  const behind = skeleton.slice(end, end + 320);
  const isProse =
    PROSE.test(text.slice(start, end)) && !RULE_BEFORE.test(before) && !RULE_BEHIND.test(behind);
  if (isProse) return [];
  const opening = OPENING.exec(before)?.[0] ?? "";
  const closing = CLOSING.exec(behind)?.[0] ?? "";
  return [{ start: start - opening.length, end: end + closing.length }];
}

function spanOf({ index, 0: found, input }: RegExpExecArray): Span {
  let end = index + found.length;
  while (input[end] === UNSEEN) end += 1;
  return { start: index, end };
}

/** The text as it is written, and as it is rendered where that is something else. */
function skeletonsOf(text: string): string[] {
  const isCoded = text.search(SPECIAL) >= 0;
  if (!isCoded && !/[^\0-\x7f]/.test(text)) return [text];
  const units = new Uint16Array(text.length);
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit < 0x80) {
      units[at] = unit;
      continue;
    }
    const codePoint = text.codePointAt(at) ?? 0;
    units[at] = look(codePoint);
    if (codePoint > 0xffff) at += 1;
  }
  const written = Buffer.from(units.buffer).toString("utf16le");
  if (!isCoded) return [written];
  for (const found of text.matchAll(SPECIAL)) {
    units.fill(0, found.index, found.index + found[0].length);
    const codePoint = decode(found);
    units[found.index] = codePoint < 0x80 ? codePoint : look(codePoint);
  }
  return [written, Buffer.from(units.buffer).toString("utf16le")];
}

/** The character that an escape stands for; 0 for markup. */
function decode(found: RegExpExecArray): number {
  const [, braced, long, unit, low, byte, decimal, octal, utf8, entity = "\0"] = found;
  const hex = braced ?? long ?? unit ?? byte;
  if (low !== undefined) {
    return String.fromCharCode(parseInt(unit ?? "", 16), parseInt(low, 16)).codePointAt(0) ?? 0;
  }
  if (utf8 !== undefined) {
    return (
      Buffer.from(utf8.replace(/%(?:25)*|=/g, ""), "hex")
        .toString()
        .codePointAt(0) ?? 0
    );
  }
  if (hex !== undefined) return parseInt(hex, 16);
  if (decimal !== undefined) return parseInt(decimal, 10);
  return octal !== undefined ? parseInt(octal, 8) : entity.charCodeAt(0);
}

/** Shapes that were looked up. Forgotten when a text has shown too many characters. */
const known = new Map<number, number>();
let shapes: Map<string, string> | undefined;

function look(codePoint: number): number {
  let shape = known.get(codePoint);
  if (shape === undefined) {
    if (known.size >= 20_000) known.clear();
    shape = codePoint > 0x10ffff ? 0 : shapeOf(String.fromCodePoint(codePoint)).charCodeAt(0);
    known.set(codePoint, shape);
  }
  return shape;
}

function shapeOf(char: string): string {
  const tag = (char.codePointAt(0) ?? 0) - 0xe0000;
  if (tag > 0x20 && tag < 0x7f) return String.fromCharCode(tag);
  shapes ??= new Map(
    [...Object.entries(LOOKALIKES), ...Object.entries(PAIRS)].flatMap(([plain, alike]) =>
      Array.from(alike, (each) => [each, plain.length === 1 ? plain : each] as const),
    ),
  );
  const lower = shapes.get(char.toLowerCase());
  if (lower !== undefined) return lower;
  // NFKD relates fullwidth, mathematical, circled and accented letters to plain ones.
  const visible = char
    .normalize("NFKD")
    .replace(/[\p{C}\p{M}\p{Default_Ignorable_Code_Point}\u2800]/gu, "")
    .toLowerCase();
  if (visible === "") return UNSEEN;
  const letters = visible.replace(/[^\p{L}\p{N}<>[\]{}]/gu, "");
  if (letters === "") return "-";
  return shapes.get(letters) ?? (/^[a-z0-9<>[\]{}]$/.test(letters) ? letters : FOREIGN);
}
