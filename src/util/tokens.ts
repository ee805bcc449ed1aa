// Tokens of a model, estimated from characters, and written as people say them.

/** English and JSON come to about four with every common tokenizer. */
export const CHARACTERS_PER_TOKEN = 4;

/** `850`, `5.2k`, `128k` */
export function tokenCount(tokens: number): string {
  if (tokens < 1000) return String(tokens);
  const thousands = tokens / 1000;
  return `${thousands < 100 ? thousands.toFixed(1).replace(/\.0$/, "") : Math.round(thousands)}k`;
}
