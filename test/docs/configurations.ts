// The configurations that pages show.

import type { Block, Page } from "./page.ts";

export interface ShownConfiguration {
  /** The line of its block. */
  line: number;
  /** The name of the file that it is in, such as `.cursor/mcp.json`. */
  file: string;
  /** The text of a whole file. */
  text: string;
}

const LANGUAGES = /^(?:jsonc?|json5|toml)$/;

/** Its blocks of JSON and TOML, and so also those that are no configuration. */
export function dataBlocks({ blocks }: Page): Block[] {
  return blocks.filter(({ language }) => LANGUAGES.test(language));
}

/** Undefined for a block that says that it is no configuration. */
export function configurationIn(block: Block): ShownConfiguration | undefined {
  const { language, line, lines, directive } = block;
  if (directive["not-config"] !== undefined) return undefined;
  const { save = "plugboard.json", file = save, in: place } = directive;
  return { line, file, text: placed(lines.join("\n"), place, language) };
}

/** A part of a file, such as `"env": { … }` in mcpServers.github, as a whole one. */
function placed(text: string, place: string | undefined, language: string): string {
  if (language === "toml") return text;
  const object = /^\s*(?:\/\/.*\n\s*)*\{/.test(text) ? text : `{\n${text}\n}`;
  const keys = place?.split(".") ?? [];
  return keys.reduceRight((inner, key) => `{ ${JSON.stringify(key)}: ${inner} }`, object);
}
