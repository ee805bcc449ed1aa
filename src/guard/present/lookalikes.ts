// What a reader sees in one character: the plain letter or digit that it looks like, or a class of characters.

/** Read as this letter wherever they stand. NFKD relates fullwidth, mathematical, circled and accented letters, so they are not listed. */
const LETTERS: Readonly<Record<string, string>> = {
  a: "аαɑᴀᎪꭺꓮ𐊠ΛɅ∀⍺ⲀⲁᗅȺ𖽀",
  c: "сϲᴄᏟꮯꓚ𐊢𐌂𐐕𐐽ⲥↄȼƈᑕ匚",
  d: "ԁᴅᎠꭰꓓđðɖɗᏧꓒᗞᗪ",
  e: "еεєҽᴇᎬꭼꓰ⋿ɛ℮∃ǝəɘэ𐊆ɇꬲⴹꞓ乇ⲉ",
  l: "ӏіιɩıʟᏞꮮꓡ𐐛𐑃łƚɫɭǀǃ∣⏐ןוߊⵏاⲓ𐌉𐊊ㄥᒪ",
  n: "пиոռηΝɴꓠⲛ𐔓ŋɲƞח几ᑎ",
  o: "оοσөօסᴏⲟꓳ𐊒𐐄𐐬øθჿဝ๐໐०০੦૦୦௦౦೦൦٥۰٠ɵⵔᎾ口ㄖ𐓂𐓪",
  r: "гяᴦʀꭇꭈᎡꮁᏒꓣ𖼵ʁɍɼɽɾⲅ𐒴尺ᖇ",
  s: "ѕꜱᏚꮪꓢʂƽՏ𐊖𐐠𐑈ȿ丂ᔕ",
  t: "тτᴛᎢꭲꓔⲧ𐊗𐊱𐌕⊤⟙ŧƭʈƫҭ丅ㄒ〒",
  u: "υսՍʋᴜꭎꭒꞟ𐓶цџሀ𖽂ꓴʊμⵡㄩᑌ凵",
  x: "хχҳӽӿᕁᕽꓫⲭꭓꭔꭕ𐊐𐊴𐌗𐌢ⵝᚷ乂",
};

/** Some readers take these for a letter, others for decoration between letters: both are tried. */
const SIGNS: Readonly<Record<string, string>> = {
  a: "@",
  c: "(©¢⊂",
  e: "€Σ∑",
  l: "|!£¦│┃",
  o: "○◯◎⊙☉⚪⭕🅾°●",
  r: "®",
  s: "$§∫",
  t: "+†‡",
  u: "∪⋃",
  x: "×╳⤫⤬⨯✕✖✗✘❌❎",
};

/** Opening and closing ones alike, because a forger may swap them. */
const BRACKETS =
  "<>[]{}«»‹›⟨⟩⟪⟫〈〉〈〉《》「」『』【】〔〕≪≫⋘⋙⪻⪼˂˃❮❯❬❭❰❱❲❳❴❵⧼⧽⦑⦒ᐸᐳ⟦⟧⦃⦄≺≻⊰⊱⋖⋗ᗕᗒ◁▷◀▶◂▸⯇⯈";

// A reading is a string of these classes, hard letters and digits (`a`, `7`), and letters in upper case for
// what may be a letter or decoration. A ligature has several.
export const ORNAMENT = "-";
export const INVISIBLE = ".";
export const BRACKET = "<";
const LINE_BREAK = "\n";
const QUOTE = '"';
/** A letter or digit that looks like none of ASCII. */
export const FOREIGN = "~";

/** Readings that were looked up, in pages of 256 so that memory follows the scripts in use. */
const pages: (string | undefined)[][] = [];
let lookalikes: Map<string, string> | undefined;

export function readingOf(codePoint: number): string {
  const page = (pages[codePoint >> 8] ??= []);
  return (page[codePoint & 0xff] ??= classify(String.fromCodePoint(codePoint)));
}

function classify(char: string): string {
  const whole = classOf(char);
  if (whole !== FOREIGN && whole !== ORNAMENT) return whole;
  const parts = Array.from(char.normalize("NFKD"), classOf).filter((part) => part !== INVISIBLE);
  if (parts.length < 2) return parts[0] ?? INVISIBLE;
  const letters = parts.filter((part) => /[a-z0-9]/.test(part));
  return letters.length === 0 || parts.includes(FOREIGN) ? whole : letters.join("");
}

function classOf(char: string): string {
  lookalikes ??= new Map([
    ...Array.from(BRACKETS, (shape): [string, string] => [shape, BRACKET]),
    ...entriesOf(SIGNS).map(([shape, letter]): [string, string] => [shape, letter.toUpperCase()]),
    ...entriesOf(LETTERS),
  ]);
  const known = lookalikes.get(char);
  if (known !== undefined) return known;
  if (/[A-Za-z0-9]/.test(char)) return char.toLowerCase();
  // Alphabets that NFKD leaves alone: white letters on black discs and squares, and flags.
  const codePoint = char.codePointAt(0) ?? 0;
  const alphabet = [0x1f150, 0x1f170, 0x1f1e6].find((a) => codePoint >= a && codePoint < a + 26);
  if (alphabet !== undefined) return String.fromCharCode(0x61 + codePoint - alphabet);
  if (/[\n\v\f\r\u0085\u2028\u2029]/.test(char)) return LINE_BREAK;
  if (/["'`]/.test(char)) return QUOTE;
  if (char === "\t") return ORNAMENT;
  if (/[\p{C}\p{M}\p{Default_Ignorable_Code_Point}\u2800]/u.test(char)) return INVISIBLE;
  if (!/[\p{L}\p{N}]/u.test(char)) return ORNAMENT;
  return lookalikes.get(char.toLowerCase()) ?? FOREIGN;
}

function entriesOf(table: Readonly<Record<string, string>>): [shape: string, letter: string][] {
  return Object.entries(table).flatMap(([letter, shapes]) =>
    Array.from(shapes, (shape): [string, string] => [shape, letter]),
  );
}
