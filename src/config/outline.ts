// A first look at a JSON5 text, tolerant of anything: which string and which bracket are left open. The
// parser takes a line break inside quotes for content, so a forgotten quote would be blamed on some later
// line.

export interface Outline {
  /** Offset of the first string that does not end on its line. */
  openString?: number;
  /** Offset of the innermost bracket that nothing closes. */
  openBracket?: number;
  /** Offset of a block comment that nothing closes. */
  openComment?: number;
}

export function outline(text: string): Outline {
  const brackets: number[] = [];
  let position = 0;
  while (position < text.length) {
    const character = text[position];
    if (character === '"' || character === "'") {
      const end = endOfString(text, position);
      if (end === undefined) return { openString: position, ...innermost(brackets) };
      position = end;
    } else if (text.startsWith("//", position)) {
      position = endOfLine(text, position);
    } else if (text.startsWith("/*", position)) {
      const end = text.indexOf("*/", position + 2);
      if (end === -1) return { openComment: position, ...innermost(brackets) };
      position = end + 2;
    } else {
      if (character === "{" || character === "[") brackets.push(position);
      else if (character === "}" || character === "]") brackets.pop();
      position++;
    }
  }
  return innermost(brackets);
}

function innermost(brackets: number[]): Outline {
  const openBracket = brackets.at(-1);
  return openBracket === undefined ? {} : { openBracket };
}

function endOfLine(text: string, start: number): number {
  const lineEnd = /[\n\r\u2028\u2029]/g;
  lineEnd.lastIndex = start;
  return lineEnd.exec(text)?.index ?? text.length;
}

/** The offset behind the closing quote. A backslash carries a string over the end of its line. */
function endOfString(text: string, start: number): number | undefined {
  const quote = text[start];
  for (let position = start + 1; position < text.length; position++) {
    const character = text[position];
    if (character === quote) return position + 1;
    if (character === "\n" || character === "\r") return undefined;
    if (character === "\\") position += text.startsWith("\r\n", position + 1) ? 2 : 1;
  }
  return undefined;
}
