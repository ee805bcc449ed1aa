// Patterns that name tools, in rules and in settings per tool. People write a tool's name as other programs show it,
// so one text can have several readings: `mcp_a_b_c` is the tool `b_c` of `a` or the tool `c` of `a_b`. A pattern
// that restricts matches whatever one of its readings matches. A pattern that permits matches nothing unless it has
// a single reading, so that no server can choose a name that gives it a permission meant for another one.

import { compileGlob, type Matcher } from "../util/glob.ts";
import {
  type ContentKind,
  type ContentName,
  contentPattern,
  contentText,
  type ContentPattern,
  couldGive,
  permitsContent,
  restrictsContent,
} from "./content-pattern.ts";
import type { ToolSource } from "./tool.ts";

/** A tool as patterns see it; or a resource or prompt, which only patterns for these match. */
export interface ToolName {
  /** `native` for a tool of the host; no server can have that name. */
  server: string;
  /** The server's own name of the tool. */
  tool: string;
  publicName: string;
  folded: { servers: readonly string[]; tool: string; publicName: string };
  /** Absent for a tool. */
  content?: ContentName | undefined;
}

export interface ToolPattern {
  /** As written. */
  text: string;
  /** What it is about. `files/resource:file:///*` is about resources. */
  kind: "tool" | ContentKind;
  matches: (name: ToolName) => boolean;
  /** Whether it matches, or matches something that the URI template can give. */
  couldMatch?: (name: ToolName) => boolean;
}

export interface PermittingPattern extends ToolPattern {
  /** It does not name a server. Only such a pattern can permit a tool of a session's own server. */
  isForAnyServer: boolean;
  /** What it could mean, as `server/tool`, if that is not clear. It then matches nothing. */
  couldMean: readonly string[];
}

/** A server whose name a pattern may contain. */
export interface KnownServer {
  name: string;
  /** Stands for the name in public names. */
  toolPrefix?: string | undefined;
}

/** What a board knows when it reads a pattern. */
export interface KnownNames {
  servers: readonly KnownServer[];
  /** Template of public names. */
  template: string;
  /** The server whose tools keep their own names. */
  ownNamesOf?: string | undefined;
  /** Names of native tools. */
  native?: ReadonlySet<string>;
}

/** How a name is put together. */
interface Form {
  kind: Reading["kind"];
  prefix: string;
  separator: string;
  suffix: string;
  isToolFirst: boolean;
}

/** One way to read a pattern: as a pattern for servers and a pattern for their tools. */
interface Reading {
  server: string;
  tool: string;
  /** `canonical` is `server/tool`; a `prefixed` one begins with `mcp` or with what public names begin with. */
  kind: "canonical" | "prefixed" | "plain";
  /** It takes a star for the separator too: `mcp_fi*` as `fi*` and `*`. */
  isSpanning: boolean;
}

const NATIVE = "native";

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

/** Twice the 64 characters of a server's name, which may be pairs, and a star around each of them. */
const LONGEST_SERVER_PART = 200;

export function toolName(of: {
  source: ToolSource;
  publicName: string;
  toolPrefix?: string | undefined;
  content?: ContentName | undefined;
}): ToolName {
  const { source, publicName, toolPrefix, content } = of;
  const isNative = source.kind === "native";
  const server = isNative ? NATIVE : source.server;
  const tool = content ? contentText(content) : isNative ? publicName : source.tool;
  const servers = aliases({ name: server, toolPrefix });
  return {
    server,
    tool,
    publicName,
    folded: { servers, tool: fold(tool), publicName: fold(publicName) },
    ...(content !== undefined && { content }),
  };
}

/**
 * For `deny`, `ownerOnly` and whatever else takes something away: every reading counts, also a tool's own name and
 * the name of a whole server. In the settings of one server a name without a server means a tool alone.
 */
export function restrictingPattern(text: string, scope: "agent" | "server"): ToolPattern {
  const content = contentNamedBy(text);
  const tools = restrictingToolPattern(text, scope);
  if (content === undefined) return tools;
  const isServer = compileGlob(foldPattern(content.server));
  const isMeant = restrictsContent(content);
  const isTool = compileGlob(`${content.kind}:${content.glob}`);
  // Folded, `files/resource:*` would also match the tool `resource_list`.
  const isExact = content.form === "canonical" || (content.form === "bare" && scope === "server");
  const isOn = ({ folded }: ToolName): boolean => folded.servers.some(isServer);
  return {
    text,
    kind: content.kind,
    matches(name) {
      if (name.content !== undefined) return isOn(name) && isMeant(name.content);
      return isExact ? isOn(name) && isTool(name.tool) : tools.matches(name);
    },
    couldMatch: (name) =>
      name.content !== undefined && isOn(name) && couldBe(name.content, content, isMeant),
  };
}

function couldBe(
  of: ContentName,
  { kind, glob }: ContentPattern,
  isMeant: (of: ContentName) => boolean,
): boolean {
  return isMeant(of) || (of.kind === kind && of.isTemplate === true && couldGive(of.name, glob));
}

function restrictingToolPattern(text: string, scope: "agent" | "server"): ToolPattern {
  const isOfAgent = scope === "agent";
  const isWhole = wholeName(text, isOfAgent);
  const prefixed = text.replace(/^mcp(?=[_:])/i, "mcp");
  const wholeServers = isOfAgent ? wholeServersOf(prefixed) : [];
  const isLoose = isOfAgent ? looseName(text) : () => false;
  const readings = restrictingReadings(prefixed, isOfAgent).map(({ server, tool, kind }) => ({
    isForNative: kind === "canonical" || server === NATIVE,
    isServer: compileGlob(foldPattern(server)),
    isTool: compileGlob(foldPattern(tool)),
  }));
  return {
    text,
    kind: "tool",
    matches(name) {
      if (name.content !== undefined) return false;
      if (isWhole(name)) return true;
      const { servers, tool } = name.folded;
      const isNative = name.server === NATIVE;
      if (!isNative && wholeServers.some((matches) => servers.some(matches))) return true;
      if (!isNative && servers.some((server) => isLoose(collapsed(`${server}_${tool}`))))
        return true;
      return readings.some(
        ({ isForNative, isServer, isTool }) =>
          (isForNative || !isNative) && servers.some(isServer) && isTool(tool),
      );
    },
  };
}

/** Whatever stands between the names: `files-write_file`, `mcp.files.write_file`. `a/b` and `mcp:a:b` are clear. */
function looseName(text: string): Matcher {
  if (/^mcp:[^:/]+:[^:]/i.test(text)) return () => false;
  const withoutPrefix = text.replace(/^mcp[^A-Za-z0-9*]/i, "");
  if (withoutPrefix === text && text.includes("/")) return () => false;
  return compileGlob(collapsed(foldPattern(withoutPrefix)));
}

function collapsed(folded: string): string {
  return folded.replace(/_+/g, "_");
}

/** For `allow` in the rules of an agent. */
export function permittingPattern(text: string, known: KnownNames): PermittingPattern {
  const found = permittingToolPattern(text, known);
  const tools: PermittingPattern = {
    ...found,
    matches: (name) => name.content === undefined && found.matches(name),
  };
  const content = contentNamedBy(text);
  if (content === undefined || content.form === "other") return tools;
  // `resource:list` can mean the tool `list` of a server that is called `resource`.
  if (
    content.form === "bare" &&
    serversOf({ server: content.kind, kind: "plain" }, known.servers)[0]
  )
    return tools;
  const { kind, glob, server } = content;
  const reading: Reading = {
    server,
    tool: `${kind}:${glob}`,
    kind: "canonical",
    isSpanning: false,
  };
  const { reading: chosen, couldMean } = choose(liveReadings([reading], known.servers));
  const names = new Set((chosen?.servers ?? []).map(({ name }) => name));
  const isServer = compileGlob(chosen?.server ?? "");
  const isMeant = permitsContent(content);
  const isOn = ({ server: of }: ToolName): boolean => names.has(of) || isServer(of);
  return {
    text,
    kind,
    couldMean,
    isForAnyServer: chosen?.server === "*",
    matches: (name) => name.content !== undefined && isOn(name) && isMeant(name.content),
  };
}

function permittingToolPattern(text: string, known: KnownNames): PermittingPattern {
  const pattern = withoutRuns(text);
  const nothing = {
    text,
    kind: "tool" as const,
    isForAnyServer: false,
    couldMean: [],
    matches: () => false,
  };
  if (pattern === "*") return { ...nothing, isForAnyServer: true, matches: () => true };
  // A public name with a hash means one tool, whatever else could be read into it.
  if (isHashed(pattern)) return { ...nothing, matches: ({ publicName }) => publicName === pattern };
  const isNative = pattern.includes("/") ? () => false : compileGlob(pattern);
  const matchesNative = (name: ToolName): boolean =>
    name.server === NATIVE && isNative(name.publicName);
  if (known.native?.has(pattern)) return { ...nothing, matches: matchesNative };
  // Without a prefix, `read*` would permit all tools of a server that happens to be called `reader`.
  const readings = readingsOf(pattern, [...FORMS, templateForm(known.template)]).filter(
    ({ kind, isSpanning }) => kind !== "plain" || !isSpanning,
  );
  const live = liveReadings(readings, known.servers);
  const { reading, couldMean } = choose(
    live.length > 0 ? live : liveReadings(ownNameReading(pattern, known), known.servers),
  );
  if (reading === undefined) return { ...nothing, couldMean, matches: matchesNative };
  const names = new Set(reading.servers.map(({ name }) => name));
  const isServer = compileGlob(reading.server);
  const isTool = compileGlob(reading.tool);
  return {
    ...nothing,
    isForAnyServer: reading.server === "*" && !reading.isSpanning,
    matches: (name) =>
      matchesNative(name) ||
      ((reading.kind === "canonical" || name.server !== NATIVE) &&
        (names.has(name.server) || isServer(name.server)) &&
        isTool(name.tool)),
  };
}

/** Where the tools of the only server keep their own names, a name that means nothing else is that of a tool of it. */
function ownNameReading(pattern: string, { ownNamesOf }: KnownNames): Reading[] {
  if (ownNamesOf === undefined || pattern.includes("/")) return [];
  return [{ server: ownNamesOf, tool: pattern, kind: "canonical", isSpanning: false }];
}

/** For what permits in the settings of one server, such as `allow` or the approval mode `never`. */
export function permittingPatternOfServer(text: string): ToolPattern {
  const content = contentNamedBy(text);
  if (content !== undefined && content.form !== "other") {
    const isServer = compileGlob(foldPattern(content.server));
    const isMeant = permitsContent(content);
    return {
      text,
      kind: content.kind,
      matches: (name) =>
        name.content !== undefined && name.folded.servers.some(isServer) && isMeant(name.content),
    };
  }
  const own = compileGlob(text);
  const readings = readingsOf(text, FORMS)
    .filter(({ isSpanning }) => !isSpanning)
    .map(({ server, tool }) => ({
      tool,
      isServer: compileGlob(foldPattern(server)),
      isTool: compileGlob(tool),
    }));
  return {
    text,
    kind: "tool",
    matches({ tool, publicName, folded, content: other }) {
      if (other !== undefined) return false;
      if (own(tool) || text === publicName) return true;
      const live = readings.filter(({ isServer }) => folded.servers.some(isServer));
      const meanings = new Set(live.map((each) => each.tool));
      return meanings.size === 1 && live.some(({ isTool }) => isTool(tool));
    },
  };
}

/**
 * The servers that a pattern in the rules of an agent names, which may be none of these. Undefined for a pattern that
 * is about the tools of any server.
 */
export function serversNamedBy(
  text: string,
  { servers, template }: KnownNames,
): KnownServer[] | undefined {
  const content = contentNamedBy(text);
  if (content !== undefined && content.form !== "other") {
    return content.server === "*"
      ? undefined
      : serversOf({ server: content.server, kind: "canonical" }, servers);
  }
  const readings = readingsOf(text, [...FORMS, templateForm(template)]);
  const naming = readings.filter(({ kind, isSpanning }) => kind !== "plain" || !isSpanning);
  const isForAny = naming.some(({ server }) => server === "*" || server === NATIVE);
  if (isForAny || withoutRuns(text) === "*") return undefined;
  const isWholeServer = wholeServersOf(text);
  const named = new Set([
    ...naming.flatMap((reading) => serversOf(reading, servers)),
    ...servers.filter((each) =>
      aliases(each).some((alias) => isWholeServer.some((is) => is(alias))),
    ),
  ]);
  if (named.size > 0) return [...named];
  return naming.some(({ kind }) => kind !== "plain") ? [] : undefined;
}

/** A pattern for resources or prompts, and how it names their server. */
interface NamedContent extends ContentPattern {
  server: string;
  /** `bare` names no server; `other` is any spelling but `server/resource:…`, which only restricts. */
  form: "canonical" | "bare" | "other";
}

/** Undefined for a pattern that is about tools. */
export function contentNamedBy(text: string): NamedContent | undefined {
  const bare = contentPattern(text);
  if (bare !== undefined) return { ...bare, server: "*", form: "bare" };
  const slash = text.indexOf("/");
  const canonical = slash > 0 ? contentPattern(text.slice(slash + 1)) : undefined;
  if (canonical !== undefined) {
    return { ...canonical, server: withoutRuns(text.slice(0, slash)), form: "canonical" };
  }
  const found = /^(?:mcp(?:__|_|:))?([^/]*?)(?:__|[_.:])((?:resource|prompt):.*)$/s.exec(text);
  const [, server = "", rest = ""] = found ?? [];
  const other = server === "" ? undefined : contentPattern(rest);
  return other && { ...other, server: withoutRuns(server), form: "other" };
}

/** A reading, and the configured servers that it names. */
interface LiveReading extends Reading {
  servers: KnownServer[];
}

/** Readings that name no configured server are dropped. */
function liveReadings(readings: readonly Reading[], known: readonly KnownServer[]): LiveReading[] {
  return readings
    .map((reading): LiveReading => ({ ...reading, servers: serversOf(reading, known) }))
    .filter(({ server, servers }) => servers.length > 0 || server === "*" || server === NATIVE);
}

function serversOf(
  { server, kind }: Pick<Reading, "server" | "kind">,
  known: readonly KnownServer[],
): KnownServer[] {
  const isNamed = compileGlob(server);
  const named = known.filter(({ name }) => isNamed(name));
  // `server/tool` is exact: a server with a similar name counts only if there is none of that very name.
  if (kind === "canonical" && (named.length > 0 || server.includes("*"))) return named;
  const isAlike = compileGlob(foldPattern(server));
  return known.filter((each) => aliases(each).some(isAlike));
}

const MOST_MEANINGS = 3;

/** Chooses the only reading. If there are several, or several servers have the name, it tells what they mean. */
function choose(live: readonly LiveReading[]): { reading?: LiveReading; couldMean: string[] } {
  const spanning = distinct(live.filter(({ isSpanning }) => isSpanning));
  const literal = distinct(live.filter(({ isSpanning }) => !isSpanning));
  const [first, ...others] = literal.length > 0 ? literal : spanning;
  if (first === undefined) return { couldMean: [] };
  // Where a separator is written, a star that could be one too only matters if it leads to other servers.
  const elsewhere = spanning.filter((each) => literal.length > 0 && reach(each) !== reach(first));
  const namesOne = first.server.includes("*") || first.servers.length <= 1;
  if (others.length === 0 && elsewhere.length === 0 && namesOne) {
    return { reading: first, couldMean: [] };
  }
  const meanings = [first, ...others, ...elsewhere].flatMap(({ server, servers, tool }) =>
    server.includes("*") ? [`${server}/${tool}`] : servers.map(({ name }) => `${name}/${tool}`),
  );
  return { couldMean: [...new Set(meanings)].slice(0, MOST_MEANINGS) };
}

function distinct(readings: readonly LiveReading[]): LiveReading[] {
  return [...new Map(readings.map((each) => [`${reach(each)} ${each.tool}`, each])).values()];
}

function reach({ server, servers }: LiveReading): string {
  return server === "*" ? server : JSON.stringify(servers.map(({ name }) => name));
}

function readingsOf(text: string, forms: readonly Form[]): Reading[] {
  const canonical = canonicalReading(text);
  return canonical ?? readingsIn(text, forms);
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

function restrictingReadings(text: string, isOfAgent: boolean): Reading[] {
  // A tool may have a slash in its name, so that a slash does not rule out the other forms.
  const others = readingsIn(text, isOfAgent ? [...FORMS, LOOSE] : FORMS);
  const readings = [
    ...(canonicalReading(text) ?? []),
    ...others.filter(({ server }) => !server.includes("/")),
  ];
  // In the settings of the server `git`, the pattern `git_*` is about its tools with such a name.
  if (!isOfAgent)
    return readings.filter(({ kind, isSpanning }) => !isSpanning || kind === "prefixed");
  return readings;
}

/** The text as the name of a tool: the server's own, or the public one. */
function wholeName(text: string, isOfAgent: boolean): (name: ToolName) => boolean {
  // The slash of `server/tool` must not count as an underscore in the name of another tool.
  if (text.includes("/")) {
    const isTool = compileGlob(text);
    return ({ tool }) => isTool(tool);
  }
  const isName = compileGlob(foldPattern(text));
  if (isOfAgent) return ({ folded }) => isName(folded.tool) || isName(folded.publicName);
  // All public names of a server begin alike, so that `m*` would match all of its tools.
  return ({ publicName, folded }) => isName(folded.tool) || text === publicName;
}

/** The name of a server alone, with or without `mcp` in front. */
function wholeServersOf(text: string): Matcher[] {
  const prefixes = ["", ...new Set(FORMS.map(({ prefix }) => prefix))];
  const names = prefixes.flatMap((each) =>
    text.startsWith(each) ? [text.slice(each.length)] : [],
  );
  return names.map((name) => compileGlob(foldPattern(name)));
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

/** The folded names under which a server is known. */
function aliases({ name, toolPrefix }: KnownServer): string[] {
  return toolPrefix === undefined ? [fold(name)] : [fold(name), fold(toolPrefix)];
}

/** Programs replace the characters of a name that they cannot use, so these and the letters' case do not count. */
/** Nobody sees the characters that are dropped first, so a name with them must not pass for another one. */
function fold(name: string): string {
  return name
    .replace(/[\p{C}\p{M}\p{Default_Ignorable_Code_Point}]/gu, "")
    .trim()
    .replace(/[^A-Za-z0-9]/g, "_")
    .toLowerCase();
}

function foldPattern(text: string): string {
  return text.replace(/[^A-Za-z0-9*]/g, "_").toLowerCase();
}

function withoutRuns(text: string): string {
  return text.replace(/\*+/g, "*");
}

/** Public names that could be mistaken for another tool's end in a hash. */
function isHashed(pattern: string): boolean {
  return /^[^*/]*_[0-9a-f]{8}$/.test(pattern);
}
