// Text measured in terminal cells: East Asian wide characters and emoji take two, combining marks none.

const ASCII = /^[\x20-\x7e]*$/;
const NO_CELL = /^[\p{Mn}\p{Me}\p{Cf}]$/u;
const TWO_CELLS =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}\p{Emoji_Presentation}]$/u;

export function displayWidth(text: string): number {
  if (ASCII.test(text)) return text.length;
  let width = 0;
  for (const character of text) width += cellsOf(character);
  return width;
}

/** Cut to `width` cells, with an ellipsis where something is missing. */
export function cut(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  const [start] = split(text, Math.max(0, width - 1));
  return `${start.trimEnd()}…`;
}

/** Broken between words into lines of at most `wanted` cells; a longer word is broken inside. */
export function wrap(text: string, wanted = Infinity): string[] {
  // Room for one wide character, or it would never end.
  const width = Math.max(2, wanted);
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    const joined = line === "" ? word : `${line} ${word}`;
    if (displayWidth(joined) <= width) {
      line = joined;
      continue;
    }
    if (line !== "") lines.push(line);
    let rest = word;
    while (displayWidth(rest) > width) {
      const [start, end] = split(rest, width);
      lines.push(start);
      rest = end;
    }
    line = rest;
  }
  return [...lines, line];
}

function split(text: string, width: number): [start: string, end: string] {
  let used = 0;
  let at = 0;
  for (const character of text) {
    used += cellsOf(character);
    if (used > width) break;
    at += character.length;
  }
  return [text.slice(0, at), text.slice(at)];
}

function cellsOf(character: string): number {
  if (NO_CELL.test(character)) return 0;
  return TWO_CELLS.test(character) ? 2 : 1;
}
