// What a session is called: the beginning of what was said in it first.

import { oneLine } from "../../../util/text.ts";

const LONGEST = 80;

/** Undefined where there are no words in it. */
export function titleOf(prompt: string): string | undefined {
  const title = oneLine(prompt, LONGEST);
  return title === "" ? undefined : title;
}
