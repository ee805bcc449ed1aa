// The words behind a prompt's command as its arguments.

import { PlugboardError } from "../../../model/errors.ts";
import type { Prompt } from "../../../model/prompt.ts";

/**
 * `name=value` for an argument that the prompt has; other words fill the arguments that are left, in
 * order, and the last of them takes all that remain. Throws INVALID_ARGUMENTS where one is missing.
 */
export function promptArguments(prompt: Prompt, words: readonly string[]): Record<string, string> {
  const { arguments: wanted = [] } = prompt;
  const values: Record<string, string> = Object.create(null);
  const loose: string[] = [];
  for (const word of words) {
    const at = word.indexOf("=");
    const key = word.slice(0, Math.max(at, 0));
    if (wanted.some(({ name }) => name === key)) values[key] = word.slice(at + 1);
    else loose.push(word);
  }
  const open = wanted.filter(({ name }) => !Object.hasOwn(values, name));
  open.forEach(({ name }, index) => {
    const isLast = index === open.length - 1;
    const text = isLast ? loose.splice(0).join(" ") : loose.shift();
    if (text !== undefined && text !== "") values[name] = text;
  });
  const missing = wanted.filter(({ name, required }) => required && !Object.hasOwn(values, name));
  if (missing.length === 0) return values;
  const names = missing.map(({ name }) => name).join(", ");
  throw new PlugboardError("INVALID_ARGUMENTS", `the prompt ${prompt.name} needs: ${names}`, {
    hint: "write them as name=value",
  });
}
