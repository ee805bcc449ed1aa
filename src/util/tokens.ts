// Tokens of a model, estimated from characters, and written as people say them.

/**
 * Roughly how many tokens a text takes. Compared with OpenAI's o200k on the tools of 66 common servers: at most 7 % too
 * many or too few for 52 of them, and 21 % at worst.
 */
export function estimateTokens(text: string): number {
  let ascii = 0;
  let wide = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code < 0x80) ascii += 1;
    else if (code >= FIRST_WIDE) wide += 1;
  }
  const other = text.length - ascii - wide;
  return ascii / 4.35 + other * 0.45 + wide * 0.85;
}

/** From here on there are Chinese, Japanese and Korean, of which a character is nearly a token. */
const FIRST_WIDE = 0x2e80;

/** `~850`, `~5.2k`: an estimate. */
export function roughly(tokens: number): string {
  return `~${tokenCount(tokens)}`;
}

/** `850`, `5.2k`, `128k` */
export function tokenCount(tokens: number): string {
  if (tokens < 1000) return String(tokens);
  const thousands = tokens / 1000;
  return `${thousands < 100 ? thousands.toFixed(1).replace(/\.0$/, "") : Math.round(thousands)}k`;
}
