// The part of a pattern that names resources or prompts: `resource:file:///docs/*`, `prompt:review_*`. A URI can be
// written in many ways that mean the same. A pattern that restricts matches if one of them matches. A pattern that
// permits must match the URI as it is written and as a server is likely to read it.

import { compileGlob } from "../util/glob.ts";

/** What a server offers beside its tools. */
export type ContentKind = "resource" | "prompt";

/** A resource or prompt as patterns see it. */
export interface ContentName {
  kind: ContentKind;
  /** The URI of a resource, or the server's own name of a prompt. */
  name: string;
  /** The name is a URI template, of which a pattern can match some URIs and not others. */
  isTemplate?: true | undefined;
}

export interface ContentPattern {
  kind: ContentKind;
  /** The pattern for the name. */
  glob: string;
}

/** Undefined if the text names no resources or prompts. */
export function contentPattern(text: string): ContentPattern | undefined {
  if (text.startsWith("resource:")) return { kind: "resource", glob: text.slice(9) };
  return text.startsWith("prompt:") ? { kind: "prompt", glob: text.slice(7) } : undefined;
}

/** `resource:file:///notes.txt` */
export function contentText({ kind, name }: ContentName): string {
  return `${kind}:${name}`;
}

export function restrictsContent({ kind, glob }: ContentPattern): (of: ContentName) => boolean {
  const isWritten = compileGlob(glob);
  if (kind === "prompt") {
    const isFolded = compileGlob(foldedName(glob));
    return (of) => of.kind === kind && (isWritten(of.name) || isFolded(foldedName(of.name)));
  }
  const isMeant = compileGlob(plainUri(glob, false).toLowerCase());
  return (of) => {
    if (of.kind !== kind) return false;
    const { name } = of;
    if (isWritten(name)) return true;
    // A server may read the path alone.
    const [path = ""] = name.split(/[?#]/, 1);
    return [plainUri(name, false), plainUri(name, true), plainUri(path, true)].some((meant) =>
      isMeant(meant.toLowerCase()),
    );
  };
}

/** Permits a URI template if the pattern matches some URI that the template can give. */
export function permitsContent({ kind, glob }: ContentPattern): (of: ContentName) => boolean {
  const isWritten = compileGlob(glob);
  if (kind === "prompt") return (of) => of.kind === kind && isWritten(of.name);
  const isMeant = compileGlob(plainUri(glob, false));
  return (of) => {
    if (of.kind !== kind) return false;
    if (of.isTemplate) return couldGive(of.name, glob);
    return of.name === glob || (isWritten(of.name) && isMeant(plainUri(of.name, true)));
  };
}

/** Whether some URI that the template can give matches the pattern, as far as their beginnings tell. */
export function couldGive(uriTemplate: string, glob: string): boolean {
  const [given = ""] = uriTemplate.split("{");
  const [wanted = ""] = glob.split("*");
  const isWhole = given === uriTemplate;
  if (isWhole) return compileGlob(glob)(uriTemplate);
  return given.startsWith(wanted) || wanted.startsWith(given);
}

/** How often a URI is decoded at most. Servers decode once, rarely twice. */
const MOST_DECODINGS = 4;

/** Decoded, with one kind of slash and no empty segments; with `dots`, also without `.` and `..`. */
function plainUri(uri: string, dots: boolean): string {
  let text = uri;
  for (let round = 0; round < MOST_DECODINGS; round += 1) {
    const decoded = text.replace(/(?:%[0-9a-f]{2})+/gi, decodedRun);
    if (decoded === text) break;
    text = decoded;
  }
  const segments = text.replaceAll("\\", "/").split("/");
  const [first = "", ...rest] = segments;
  const last = segments.length - 1;
  const kept: string[] = [];
  for (const [at, segment] of rest.entries()) {
    const isLast = at + 1 === last;
    if (dots && segment === "..") kept.pop();
    else if (segment !== "" && !(dots && segment === ".")) kept.push(segment);
    // A URI that ends in a slash still does.
    if (isLast && (segment === "" || (dots && /^\.\.?$/.test(segment)))) kept.push("");
  }
  return [first, ...kept].join("/");
}

function decodedRun(run: string): string {
  try {
    return decodeURIComponent(run);
  } catch {
    return run;
  }
}

/** As in the names of tools, only letters and digits count, and their case does not. */
function foldedName(text: string): string {
  return text.replace(/[^A-Za-z0-9*]/g, "_").toLowerCase();
}
