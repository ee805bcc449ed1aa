// Reads a text as the name of a server and of a tool, in the ways in which programs write both as one name. One text
// can have several readings. Nothing here knows which servers there are.

/** How a name is put together. */
interface Form {
  kind: Reading["kind"];
  prefix: string;
  separator: string;
  suffix: string;
  isToolFirst: boolean;
}

/** One way to read a pattern: as a pattern for servers and a pattern for their tools. */
export interface Reading {
  server: string;
  tool: string;
  /** `canonical` is `server/tool`; a `prefixed` one begins with `mcp` or with what public names begin with. */
  kind: "canonical" | "prefixed" | "plain";
  /** It takes a star for the separator too: `mcp_fi*` as `fi*` and `*`. */
  isSpanning: boolean;
}

const CANONICAL = form("canonical", "", "/");

const FORMS: readonly Form[] = [
  form("prefixed", "mcp__", "__"),
  form("prefixed", "mcp_", "_"),
  form("prefixed", "mcp:", ":"),
  form("plain", "", "__"),
  form("plain", "", "."),
  form("plain", "", ":"),
];

/** Only for what restricts: most names of tools have an underscore in them. */
const LOOSE = form("plain", "", "_");

/** What a name may begin with, which may be nothing. */
export const PREFIXES: readonly string[] = [...new Set(FORMS.map(({ prefix }) => prefix))];

/** Twice the 64 characters of a server's name, which may be pairs, and a star around each of them. */
const LONGEST_SERVER_PART = 200;

/** `template` is that of public names, if they can be meant. */
export function readingsOf(text: string, template?: string): Reading[] {
  const forms = template === undefined ? FORMS : [...FORMS, templateForm(template)];
  return canonicalReading(text) ?? readingsIn(text, forms);
}

/** Also the readings of a tool that has a slash in its name. */
export function everyReadingOf(text: string, template: string): Reading[] {
  return readingsOfEveryForm(text, [...FORMS, templateForm(template)]);
}

/** Every reading that counts for what takes something away. */
export function restrictingReadings(text: string, isOfAgent: boolean): Reading[] {
  const readings = readingsOfEveryForm(text, isOfAgent ? [...FORMS, LOOSE] : FORMS);
  // In the settings of the server `git`, the pattern `git_*` is about its tools with such a name.
  if (!isOfAgent)
    return readings.filter(({ kind, isSpanning }) => !isSpanning || kind === "prefixed");
  return readings;
}

/** A tool may have a slash in its name, so that a slash does not rule out the other forms. */
function readingsOfEveryForm(text: string, forms: readonly Form[]): Reading[] {
  const others = readingsIn(text, forms).filter(({ server }) => !server.includes("/"));
  return [...(canonicalReading(text) ?? []), ...others];
}

/** Only the first slash separates: the name of a server has none, the name of a tool may have some. */
function canonicalReading(text: string): Reading[] | undefined {
  const pattern = withoutRuns(text);
  const slash = pattern.indexOf("/");
  return slash === -1 ? undefined : readingAt(pattern, slash, CANONICAL, false);
}

function readingsIn(text: string, forms: readonly Form[]): Reading[] {
  const pattern = withoutRuns(text);
  return forms.flatMap((each) => {
    const { prefix, separator, suffix } = each;
    if (pattern.length <= prefix.length + suffix.length) return [];
    if (!pattern.startsWith(prefix) || !pattern.endsWith(suffix)) return [];
    const parts = pattern.slice(prefix.length, pattern.length - suffix.length);
    return [
      ...placesOf(separator, parts, each).flatMap((at) => readingAt(parts, at, each, false)),
      ...placesOf("*", parts, each).flatMap((at) => readingAt(parts, at, each, true)),
    ];
  });
}

function readingAt(parts: string, at: number, of: Form, isSpanning: boolean): Reading[] {
  const before = parts.slice(0, isSpanning ? at + 1 : at);
  const after = parts.slice(isSpanning ? at : at + of.separator.length);
  const [server, tool] = of.isToolFirst ? [after, before] : [before, after];
  return server === "" || tool === "" ? [] : [{ server, tool, kind: of.kind, isSpanning }];
}

/** Only where the part for the server is short enough for one, so that a long text has few readings. */
function placesOf(separator: string, parts: string, { isToolFirst }: Form): number[] {
  if (separator === "") return [];
  const first = isToolFirst ? Math.max(0, parts.length - LONGEST_SERVER_PART) : 0;
  const last = isToolFirst ? parts.length : LONGEST_SERVER_PART;
  const places: number[] = [];
  let at = parts.indexOf(separator, first);
  while (at !== -1 && at <= last) {
    places.push(at);
    at = parts.indexOf(separator, at + 1);
  }
  return places;
}

function form(kind: Form["kind"], prefix: string, separator: string): Form {
  return { kind, prefix, separator, suffix: "", isToolFirst: false };
}

function templateForm(template: string): Form {
  const [prefix = "", separator = "", suffix = ""] = template.split(/\{(?:server|tool)\}/);
  const isToolFirst = template.indexOf("{tool}") < template.indexOf("{server}");
  const kind = prefix === "" ? "plain" : "prefixed";
  return { kind, prefix, separator, suffix, isToolFirst };
}

/** Several stars in a row mean the same as one. */
export function withoutRuns(text: string): string {
  return text.replace(/\*+/g, "*");
}
