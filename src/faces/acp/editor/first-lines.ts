// The beginning of a text, by lines.

export function firstLines(text: string, count: number): { text: string; isCut: boolean } {
  let end = 0;
  for (let line = 0; line < count; line += 1) {
    const at = text.indexOf("\n", end);
    if (at === -1) return { text, isCut: false };
    end = at + 1;
  }
  return { text: text.slice(0, end), isCut: end < text.length };
}
