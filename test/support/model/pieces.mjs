// Cuts what is streamed where it hurts: text inside a JSON escape, bytes inside a character.

/** Characters of a piece, while the text is short. */
const SIZE = 4;

/** A longer text gets longer pieces instead of more. */
const MOST = 256;

const BACKSLASH = 0x5c;

/**
 * Text in pieces, each of whole characters. A short text is also cut after every backslash, so that a
 * JSON escape comes in two halves.
 * @param {string} text
 * @returns {string[]}
 */
export function pieces(text) {
  const characters = Array.from(text);
  const size = Math.max(SIZE, Math.ceil(characters.length / MOST));
  const inEscapes = size === SIZE;
  /** @type {string[]} */
  const cut = [];
  let piece = "";
  let length = 0;
  for (const character of characters) {
    piece += character;
    length += 1;
    if (length < size && !(inEscapes && character === "\\")) continue;
    cut.push(piece);
    piece = "";
    length = 0;
  }
  if (piece !== "") cut.push(piece);
  return cut;
}

/**
 * One chunk's bytes in up to three writes: cut inside its first multi-byte character and inside its
 * first escape.
 * @param {Buffer} bytes
 * @returns {Buffer[]}
 */
export function writes(bytes) {
  const inCharacter = bytes.findIndex((byte) => (byte & 0xc0) === 0x80);
  const inEscape = bytes.indexOf(BACKSLASH) + 1;
  const cuts = [inCharacter, inEscape].filter((at) => at > 0).sort((a, b) => a - b);
  return [0, ...cuts].map((at, index) => bytes.subarray(at, cuts[index]));
}
