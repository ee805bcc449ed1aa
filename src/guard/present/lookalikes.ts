// Characters that a reader takes for a letter of the markers although no normalisation says so. What
// Unicode itself relates (fullwidth, mathematical, circled, accented) is not repeated here.

/** Nothing but the letter, whatever stands around it. Upper case stands beside its lower case only where the two differ in looks. */
export const LETTERS: Readonly<Record<string, string>> = {
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

/** A letter to one reader and an ornament between letters to another: both readings are tried. */
export const SIGNS: Readonly<Record<string, string>> = {
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

/** Opening and closing alike: a forger may turn them round. `<` and `>` of every shape, square and curly ones. */
export const BRACKETS =
  "<>[]{}«»‹›⟨⟩⟪⟫〈〉〈〉《》「」『』【】〔〕≪≫⋘⋙⪻⪼˂˃❮❯❬❭❰❱❲❳❴❵⧼⧽⦑⦒ᐸᐳ⟦⟧⦃⦄≺≻⊰⊱⋖⋗ᗕᗒ◁▷◀▶◂▸⯇⯈";
