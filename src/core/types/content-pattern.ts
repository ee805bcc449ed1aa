// The part of a pattern that names resources or prompts: `resource:file:///docs/*`, `prompt:review_*`. A URI can be
// written in many ways that mean the same. A pattern that restricts matches if one of them matches. A pattern that
// permits must match the URI as it is written and as a server is likely to read it.

import { compileGlob } from "../../util/glob.ts";
import { percentDecoded } from "../../util/text.ts";

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
    const isFolded = compileGlob(foldPattern(glob));
    return (of) => of.kind === kind && (isWritten(of.name) || isFolded(foldPattern(of.name)));
  }
  const fold = (text: string): string => text.normalize("NFC").toLowerCase();
  const isMeant = matchesMeant(glob, fold);
  return (of) => {
    if (of.kind !== kind) return false;
    const { name } = of;
    if (isWritten(name)) return true;
    // A server may read the path alone.
    const [path = ""] = name.split(/[?#]/, 1);
    const isRestricted = (uri: string): boolean =>
      readings(uri).some((meant) => isMeant(fold(meant)));
    return isRestricted(name) || (path !== name && isRestricted(path));
  };
}

/** Permits a URI template if the pattern matches some URI that the template can give. */
export function permitsContent({ kind, glob }: ContentPattern): (of: ContentName) => boolean {
  const isWritten = compileGlob(glob);
  if (kind === "prompt") return (of) => of.kind === kind && isWritten(of.name);
  const isMeant = matchesMeant(glob, (text) => text);
  return (of) => {
    if (of.kind !== kind) return false;
    if (of.isTemplate) return couldGive(of.name, glob);
    if (of.name === glob) return true;
    // Its first reading is with the dots, which mean nothing yet.
    return isWritten(of.name) && readings(of.name).slice(1).every(isMeant);
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

/** Whether a reading of a URI matches the pattern, which is read in the same way. */
function matchesMeant(glob: string, fold: (text: string) => string): (meant: string) => boolean {
  const globs = [glob, parsed(glob) ?? glob].map((each) => plainUri(decoded(each), "keep"));
  const matchers = [...new Set(globs)].map((each) => compileGlob(fold(each)));
  return (meant) => {
    const short = meant.endsWith("/") ? meant.slice(0, -1) : meant;
    return matchers.some((matches) => matches(meant) || matches(short));
  };
}

/** Nothing in such a URI can be read in two ways. Most are like this, and lists may be long. */
const PLAIN = /^[a-z]+:\/\/(?:\/[\w-][\w.-]*)+$/;

/** What a server may take the URI for. The first one still has its `.` and `..`. */
function readings(uri: string): string[] {
  if (PLAIN.test(uri)) return [plainUri(uri, "keep"), plainUri(uri, "resolve")];
  const text = decoded(uri);
  const [ended = ""] = text.split("\0", 1);
  const texts = new Set([text, ended, decoded(parsed(uri) ?? uri)]);
  return [
    plainUri(text, "keep"),
    ...[...texts].flatMap((each) => [plainUri(each, "resolve"), plainUri(each, "resolve-in-host")]),
  ];
}

/** As the URL standard reads it: without the default port, a user, or `localhost` for a file. */
function parsed(uri: string): string | undefined {
  if (!URL.canParse(uri)) return undefined;
  const url = new URL(uri);
  url.username = "";
  url.password = "";
  url.hostname = url.hostname.replace(/\.$/, "");
  return url.href;
}

/** How often a URI is decoded at most. Servers decode once, rarely twice. */
const MOST_DECODINGS = 4;

/** With its percent-encoding decoded, and without what a reader of URLs drops: tabs, ends of lines, blanks around it. */
export function decoded(uri: string): string {
  let text = uri;
  for (let round = 0; round < MOST_DECODINGS; round += 1) {
    const next = text.replace(/(?:%[0-9a-f]{2})+/gi, percentDecoded);
    if (next === text) break;
    text = next;
  }
  return text.replace(/[\t\n\r]/g, "").trim();
}

/**
 * With one kind of slash and no empty segments. `.` and `..` are kept, or resolved: the host of a URI may be a
 * segment to a server like any other, or one that `..` cannot leave.
 */
function plainUri(text: string, dots: "keep" | "resolve" | "resolve-in-host"): string {
  const slashed = text.replaceAll("\\", "/");
  const segments = slashed.split("/");
  const [first = "", ...rest] = segments;
  const last = segments.length - 1;
  const isResolved = dots !== "keep";
  const fewest = dots === "resolve-in-host" && /^[^/]*:\/\/[^/]/.test(slashed) ? 1 : 0;
  const kept: string[] = [];
  for (const [at, segment] of rest.entries()) {
    const isLast = at + 1 === last;
    if (isResolved && segment === "..") {
      if (kept.length > fewest) kept.pop();
    } else if (segment !== "" && !(isResolved && segment === ".")) kept.push(segment);
    // A URI that ends in a slash still does.
    if (isLast && (segment === "" || (isResolved && /^\.\.?$/.test(segment)))) kept.push("");
  }
  return [first, ...kept].join("/");
}

/** In patterns of tools too, only letters, digits and `*` count, and their case does not. */
export function foldPattern(text: string): string {
  return text.replace(/[^A-Za-z0-9*]/g, "_").toLowerCase();
}
