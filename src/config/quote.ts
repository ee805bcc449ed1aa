// How keys and values of a configuration are shown: short, on one line, with nothing invisible in them.

import type { Path } from "./finding.ts";

const LONGEST_QUOTE = 64;

export function quote(text: string): string {
  const characters = Array.from(text);
  const shown = characters.slice(0, LONGEST_QUOTE).join("");
  const escaped = shown.replace(/[\p{C}\p{Zl}\p{Zp}"\\]/gu, escape);
  return `"${escaped}${characters.length > LONGEST_QUOTE ? "…" : ""}"`;
}

function escape(character: string): string {
  if (character === '"' || character === "\\") return `\\${character}`;
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}

/** `agents.list[0].mcp.servers["my server"].url` */
export function formatPath(path: Path): string {
  let text = "";
  for (const step of path) {
    if (typeof step === "number") text += `[${step}]`;
    else if (!/^[\w$-]{1,64}$/.test(step)) text += `[${quote(step)}]`;
    else text += text === "" ? step : `.${step}`;
  }
  return text;
}

/** `a, b or c` */
export function alternatives(words: readonly string[]): string {
  const last = words.at(-1) ?? "";
  return words.length < 2 ? last : `${words.slice(0, -1).join(", ")} or ${last}`;
}
