// The skeleton of a text: what a reader sees in it, as plain letters. Every unit stands where it stands in the
// text, so a place in one is a place in the other. A unit is
// - an ASCII character as it is, or the letter or bracket that the text's character looks like;
// - such a letter plus SOFT, where it may as well be decoration;
// - PADDING behind the letter that several units stand for, UNSEEN, or FOREIGN (a letter like none of ASCII);
// - above 0xff, a ligature, whose letters are in `ligatures`.

export const PADDING = 0x7f;
export const UNSEEN = 0x80;
export const SOFT = 0x80;
const FOREIGN = 0xff;
const ORNAMENT = 0x2d;
const BRACKETS = new Set(Array.from("<>[]{}", (bracket) => bracket.charCodeAt(0)));

/** A letter, what looks like it everywhere, and what some readers take for it and others for decoration. */
const LOOKALIKES = `
a аαɑᴀᎪꭺꓮ𐊠ΛɅ∀⍺ⲀⲁᗅȺ𖽀
c сϲᴄᏟꮯꓚ𐊢𐌂𐐕𐐽ⲥↄȼƈᑕ匚 ©¢⊂
d ԁᴅᎠꭰꓓđðɖɗᏧꓒᗞᗪ
e еεєҽᴇᎬꭼꓰ⋿ɛ℮∃ǝəɘэ𐊆ɇꬲⴹꞓ乇ⲉ €Σ∑
l ӏіιɩıʟᏞꮮꓡ𐐛𐑃łƚɫɭǀǃ∣⏐ןוߊⵏاⲓ𐌉𐊊ㄥᒪ £¦│┃
n пиոռηΝɴꓠⲛ𐔓ŋɲƞח几ᑎ
o оοσөօסᴏⲟꓳ𐊒𐐄𐐬øθჿဝ๐໐०০੦૦୦௦౦೦൦٥۰٠ɵⵔᎾ口ㄖ𐓂𐓪 ○◯◎⊙☉⚪⭕🅾°●
r гяᴦʀꭇꭈᎡꮁᏒꓣ𖼵ʁɍɼɽɾⲅ𐒴尺ᖇ ®
s ѕꜱᏚꮪꓢʂƽՏ𐊖𐐠𐑈ȿ丂ᔕ §∫
t тτᴛᎢꭲꓔⲧ𐊗𐊱𐌕⊤⟙ŧƭʈƫҭ丅ㄒ〒 †‡
u υսՍʋᴜꭎꭒꞟ𐓶цџሀ𖽂ꓴʊμⵡㄩᑌ凵 ∪⋃
x хχҳӽӿᕁᕽꓫⲭꭓꭔꭕ𐊐𐊴𐌗𐌢ⵝᚷ乂 ×╳⤫⤬⨯✕✖✗✘❌❎
< «»‹›⟨⟩⟪⟫〈〉〈〉《》「」『』【】〔〕≪≫⋘⋙⪻⪼˂˃❮❯❬❭❰❱❲❳❴❵⧼⧽⦑⦒ᐸᐳ⟦⟧⦃⦄≺≻⊰⊱⋖⋗ᗕᗒ◁▷◀▶◂▸⯇⯈`;

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

// Ampersands and percent signs may be coded again, and backslashes doubled. Everything is bounded, so that a
// position costs the same whatever follows it.
const AND = "&(?:(?:amp|AMP|#38|#[Xx]26);){0,4}";
const SLASH = String.raw`\\{1,4}`;
const BYTE = "(?:%(?:25){0,4}|=)";
const UNIT = String.raw`(?:\\{1,4}|%(?:25){0,4})u`;
const HEX = "[0-9A-Fa-f]";
const NEXT = `${BYTE}[89ABab]${HEX}`;
const CODED = [
  `(${UNIT}[Dd][89ABab]${HEX}{2}${UNIT}[Dd][C-Fc-f]${HEX}{2}|${UNIT}${HEX}{4})`,
  String.raw`(?:${AND}#[Xx]0{0,16}|${SLASH}u\{(?=${HEX}{1,6}\})|${SLASH}U00(?=${HEX}{6}))(${HEX}{1,6})[;}]?`,
  `(?:${SLASH}x|${BYTE}(?=[0-7]))(${HEX}{2})`,
  `${AND}#0{0,16}([0-9]{1,7});?`,
  `${SLASH}([0-3]?[0-7]{2})`,
  `(${BYTE}(?:[CDcd]${HEX}|[Ee]${HEX}${NEXT}|[Ff]${HEX}${NEXT}${NEXT})${NEXT})`,
  `${AND}(${[...NAMED.keys()].join("|")});?`,
];
/** Broken escapes, terminal sequences (their escape character may be lost), tags and comments. */
const MARKUP = [
  String.raw`\\[A-Za-z0-9\x80-\uffff]|[%=]${HEX}{2}`,
  String.raw`(?:\u001b\[|\u009b)[0-?]{0,16}[ -/]{0,2}[@-~]|\[[0-9;]{1,16}[Mm]`,
  String.raw`\u001b\][^\u0007\u001b]{0,120}(?:\u0007|\u001b\\)`,
  String.raw`<!--[^<>]{0,80}-->|</?[A-Za-z]{1,6}(?:\s[^<>]{0,80})?/?>`,
];
const SPECIAL = new RegExp(
  String.raw`(?=[&%=\\<[\u001b\u009b])(?:${[...CODED, ...MARKUP].join("|")})`,
  "g",
);

export function skeletonOf(text: string): Uint16Array {
  const skeleton = new Uint16Array(text.length);
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if ((unit >= 0x20 && unit < PADDING) || (unit >= 0x09 && unit <= 0x0d)) {
      skeleton[at] = unit;
      continue;
    }
    const codePoint = text.codePointAt(at) ?? 0;
    skeleton[at] = look(codePoint);
    if (codePoint > 0xffff) skeleton[(at += 1)] = PADDING;
  }
  SPECIAL.lastIndex = 0;
  for (let found = SPECIAL.exec(text); found !== null; found = SPECIAL.exec(text)) {
    const { index } = found;
    const end = SPECIAL.lastIndex;
    const codePoint = decode(found);
    if (codePoint !== undefined) {
      skeleton[index] = soft(look(codePoint));
      skeleton.fill(PADDING, index + 1, end);
      continue;
    }
    for (let at = index; at < end; at += 1) {
      const unit = skeleton[at] ?? 0;
      skeleton[at] = BRACKETS.has(unit) ? ORNAMENT : soft(unit);
    }
    // Inside, characters may be coded.
    SPECIAL.lastIndex = index + 1;
  }
  return skeleton;
}

/** A letter or digit that is nothing else. */
export function isHard(unit: number): boolean {
  if (unit < 0x61) return (unit >= 0x30 && unit <= 0x39) || (unit >= 0x41 && unit <= 0x5a);
  return unit <= 0x7a || unit === FOREIGN;
}

function soft(unit: number): number {
  if (unit === FOREIGN) return ORNAMENT;
  return isHard(unit) ? unit | SOFT : unit;
}

function decode(found: RegExpExecArray): number | undefined {
  const [, units, long, short, decimal, octal, bytes, name] = found;
  if (name !== undefined) return NAMED.get(name)?.codePointAt(0);
  if (bytes !== undefined) {
    const digits = bytes.replaceAll(/%(?:25)*|=/g, "");
    return Buffer.from(digits, "hex").toString().codePointAt(0);
  }
  if (units !== undefined) {
    const [, ...codes] = units.split("u").map((digits) => Number.parseInt(digits, 16));
    return String.fromCharCode(...codes).codePointAt(0);
  }
  const hex = long ?? short;
  const base = hex !== undefined ? 16 : decimal !== undefined ? 10 : 8;
  const codePoint = Number.parseInt(hex ?? decimal ?? octal ?? "", base);
  return codePoint <= 0x10ffff ? codePoint : undefined;
}

/** Units that were looked up. Forgotten when a text has shown too many characters. */
const known = new Map<number, number>();
export const ligatures = new Map<number, readonly number[]>();
let shapes: Map<string, number> | undefined;

function look(codePoint: number): number {
  let unit = known.get(codePoint);
  if (unit === undefined) {
    if (known.size >= 20_000) known.clear();
    known.set(codePoint, (unit = unitOf(codePoint)));
  }
  return unit;
}

function unitOf(codePoint: number): number {
  // A tag character is invisible, yet a model may read letters that are spelled in tags.
  const tag = codePoint - 0xe0000;
  if (tag >= 0x20 && tag < PADDING) {
    return /[A-Za-z0-9<>[\]{}(@|!$+]/.test(String.fromCharCode(tag)) ? soft(tag) : UNSEEN;
  }
  const letters = lettersOf(codePoint);
  if (letters.length < 2) return letters[0] ?? UNSEEN;
  if (codePoint < FOREIGN || codePoint > 0xffff) return FOREIGN;
  ligatures.set(codePoint, letters);
  return codePoint;
}

/** NFKD relates fullwidth, mathematical, circled and accented letters to plain ones, and takes ligatures apart. */
function lettersOf(codePoint: number): number[] {
  const char = String.fromCodePoint(codePoint);
  const whole = classOf(char);
  if (whole !== FOREIGN && whole !== ORNAMENT) return [whole];
  const parts = Array.from(char.normalize("NFKD"), classOf).filter((part) => part !== UNSEEN);
  if (parts.length < 2) return parts;
  const letters = parts.filter(isHard);
  return letters.length === 0 || letters.includes(FOREIGN) ? [whole] : letters;
}

function classOf(char: string): number {
  shapes ??= new Map(
    LOOKALIKES.split("\n").flatMap((line) => {
      const [letter = "", hard = "", loose = ""] = line.split(" ");
      const unit = letter.charCodeAt(0);
      return [
        ...Array.from(hard, (shape) => [shape, unit] as const),
        ...Array.from(loose, (shape) => [shape, soft(unit)] as const),
      ];
    }),
  );
  const shape = shapes.get(char);
  if (shape !== undefined) return shape;
  const codePoint = char.codePointAt(0) ?? 0;
  if (/[\t-\r -~]/.test(char)) return codePoint;
  // Alphabets that NFKD leaves alone: white letters on black discs and squares, and flags.
  const alphabet = [0x1f150, 0x1f170, 0x1f1e6].find((a) => codePoint >= a && codePoint < a + 26);
  if (alphabet !== undefined) return 0x61 + codePoint - alphabet;
  if (/[\u0085\u2028\u2029]/.test(char)) return 0x0a;
  if (/[\p{C}\p{M}\p{Default_Ignorable_Code_Point}\u2800]/u.test(char)) return UNSEEN;
  if (!/[\p{L}\p{N}]/u.test(char)) return ORNAMENT;
  return shapes.get(char.toLowerCase()) ?? FOREIGN;
}
