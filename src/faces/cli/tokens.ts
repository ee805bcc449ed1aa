// What a list of tools costs a model before it has done anything, roughly.

import { isShownToModels } from "../../model/include.ts";
import type { Tool } from "../../model/tool.ts";

/** English and JSON come to about four characters a token with every tokenizer in use. */
const CHARACTERS_PER_TOKEN = 4;

export function promptTokens(tools: readonly Tool[]): number {
  const characters = tools
    .filter(isShownToModels)
    .reduce(
      (sum, tool) =>
        sum + tool.name.length + tool.description.length + JSON.stringify(tool.parameters).length,
      0,
    );
  return Math.round(characters / CHARACTERS_PER_TOKEN);
}

/** `~850`, `~5.2k` */
export function formatTokens(tokens: number): string {
  if (tokens < 1000) return `~${tokens}`;
  const thousands = tokens / 1000;
  return `~${thousands < 100 ? thousands.toFixed(1).replace(/\.0$/, "") : Math.round(thousands)}k`;
}
