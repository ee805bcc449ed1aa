// The forms in which a secret may appear in a log or a result: encoded for a URL, for JSON, as base64 or hex.

const SHORTEST_LINE = 16;

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
  for (const text of [secret, ...longLines(secret)]) {
    const bytes = Buffer.from(text, "utf8");
    found.add(text);
    if (!KEPT_BY_ALL.test(text)) {
      for (const each of jsonForms(text)) found.add(each);
      for (const encoder of URL_ENCODERS) found.add(encoded(bytes, encoder));
    }
    for (const each of base64Forms(bytes)) found.add(each);
    const hex = bytes.toString("hex");
    found.add(hex).add(hex.toUpperCase());
  }
  return found;
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
