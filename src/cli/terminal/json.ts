// JSON as a person reads it on a terminal: indented and in colours, with every value as it was written. Parsing and
// writing it again would round large numbers.

import type { Paint } from "./terminal.ts";

/** Characters that JSON leaves unescaped, and that a terminal obeys or hides. */
const UNSEEN = /[\u007f-\u009f\u2028\u2029\p{Cf}]/gu;
const TOKENS = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;

/** `text` is valid JSON. */
export function readableJson(text: string, paint: Paint): string {
  const tokens = text.match(TOKENS) ?? [];
  let depth = 0;
  let line = "";
  tokens.forEach((token, at) => {
    const next = tokens[at + 1];
    switch (token) {
      case "{":
      case "[":
        line += token;
        if (next === "}" || next === "]") return;
        depth += 1;
        line += `\n${"  ".repeat(depth)}`;
        return;
      case "}":
      case "]": {
        const before = tokens[at - 1];
        if (before === "{" || before === "[") {
          line += token;
          return;
        }
        depth -= 1;
        line += `\n${"  ".repeat(depth)}${token}`;
        return;
      }
      case ",":
        line += `,\n${"  ".repeat(depth)}`;
        return;
      case ":":
        line += ": ";
        return;
      default:
        line += painted(visibleJson(token), next === ":", paint);
    }
  });
  return line;
}

function painted(token: string, isKey: boolean, paint: Paint): string {
  if (!token.startsWith('"')) return paint("yellow", token);
  return paint(isKey ? "cyan" : "green", token);
}

/** The same JSON, with characters written as escapes that a reader would not see. */
export function visibleJson(json: string): string {
  return json.replace(UNSEEN, (character) =>
    character
      .split("")
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
      .join(""),
  );
}
