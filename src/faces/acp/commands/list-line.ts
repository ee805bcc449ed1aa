// One item of a list in a message.

import { oneLine } from "../../../util/text.ts";

const LONGEST = 160;

export function listLine(name: string, about: string): string {
  return `- ${oneLine(name, LONGEST)}: ${oneLine(about, LONGEST)}`;
}
