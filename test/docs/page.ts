// Reads a page of Markdown as the docs tests need it: its fenced blocks with what their directives say, its headings and
// its links.

/** What `<!-- test: key=value, key -->` before a block says about it. */
export type Directive = Readonly<Record<string, string>>;

export interface Block {
  language: string;
  /** Of the opening fence; the first line is 1. */
  line: number;
  lines: readonly string[];
  directive: Directive;
}

interface Link {
  line: number;
  /** As it is written: `search.md#who-finds-what`, `#words`, `https://…`. */
  target: string;
}

export interface Page {
  /** Relative to the repository, such as `docs/search.md`. */
  path: string;
  text: string;
  blocks: readonly Block[];
  links: readonly Link[];
  /** What a link can name after `#`. */
  anchors: ReadonlySet<string>;
}

const FENCE = /^(\s*)(`{3,})(\S*)\s*$/;
const DIRECTIVE = /^\s*<!--\s*test:(.*)-->\s*$/;
const HEADING = /^#{1,6}\s+(.*?)\s*#*$/;
const LINK = /\]\(([^()\s]+(?:\([^()\s]*\)[^()\s]*)*)(?:\s+"[^"]*")?\)/g;
const HTML_TARGET = /\b(?:href|src|srcset)="([^"]+)"/g;
const CODE = /(`+)(?!`).*?\1/g;

export function readPage(path: string, text: string): Page {
  const blocks: Block[] = [];
  const links: Link[] = [];
  const anchors = new Set<string>();
  const lines = text.split("\n");
  let directive: Directive = {};
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? "";
    const [, indent = "", fence, language = ""] = FENCE.exec(line) ?? [];
    if (fence !== undefined) {
      const end = lines.findIndex((each, index) => index > at && each.trim() === fence);
      if (end === -1) throw new Error(`${path}:${at + 1}: this block is never closed`);
      const content = lines.slice(at + 1, end).map((each) => each.slice(indent.length));
      blocks.push({ language, line: at + 1, lines: content, directive });
      directive = {};
      at = end;
      continue;
    }
    const [, said] = DIRECTIVE.exec(line) ?? [];
    if (said !== undefined) directive = readDirective(said, `${path}:${at + 1}`);
    else if (line.trim() !== "" && Object.keys(directive).length > 0) {
      throw new Error(`${path}:${at}: this directive is not followed by a block`);
    }
    const [, heading] = HEADING.exec(line) ?? [];
    if (heading !== undefined) anchors.add(anchorOf(heading, anchors));
    for (const [, id = ""] of line.matchAll(/\b(?:id|name)="([^"]+)"/g)) anchors.add(id);
    const prose = line.replace(CODE, (code) => " ".repeat(code.length));
    for (const pattern of [LINK, HTML_TARGET]) {
      for (const [, target = ""] of prose.matchAll(pattern)) links.push({ line: at + 1, target });
    }
  }
  return { path, text, blocks, links, anchors };
}

const KEYS = [
  "home", // a directory in homes/: a new sandbox with a copy of it, from this block on
  "before", // a command to run first, which the reader does not see
  "stdin", // what is piped in
  "type", // what is typed at the questions, separated by commas; "" for nothing
  "exit", // the exit code of the last command, by default 0
  "columns", // the width of the terminal
  "background", // runs until the page ends
  "not-run", // why it cannot be run
  "file", // a configuration: the name of the file that it is in, such as .cursor/mcp.json
  "save", // a configuration: where the reader puts it, such as .plugboard/plugboard.json, for the commands after it
  "in", // a part of a configuration: the path of its place, such as mcpServers.docs
  "not-config", // JSON that is no configuration: why not
];

/** `home=secrets, exit=3, not-run="it needs an account"` */
function readDirective(said: string, place: string): Directive {
  const pairs = [...said.matchAll(/([a-z-]+)(?:=("[^"]*"|[^\s,]+))?\s*(?:,|$)/g)].map(
    ([, key = "", value = ""]) => [key, value.replace(/^"|"$/g, "")] as const,
  );
  const unknown = pairs.find(([key]) => !KEYS.includes(key));
  if (unknown !== undefined || pairs.length === 0) {
    const what = unknown === undefined ? "nothing that can be read" : `"${unknown[0]}"`;
    throw new Error(`${place}: the directive has ${what}; it may have ${KEYS.join(", ")}`);
  }
  return Object.fromEntries(pairs);
}

/** As GitHub makes it. */
function anchorOf(heading: string, taken: ReadonlySet<string>): string {
  const plain = heading
    .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .trim()
    .replace(/\s/g, "-");
  let anchor = plain;
  for (let count = 1; taken.has(anchor); count += 1) anchor = `${plain}-${count}`;
  return anchor;
}
