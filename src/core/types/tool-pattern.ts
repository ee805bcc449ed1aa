// Patterns that name tools, in rules and in settings per tool. People write a tool's name as other programs show it,
// so one text can have several readings: `mcp_a_b_c` is the tool `b_c` of `a` or the tool `c` of `a_b`. A pattern
// that restricts matches whatever one of its readings matches. A pattern that permits matches nothing unless it has
// a single reading, so that no server can choose a name that gives it a permission meant for another one. In rules,
// `@readOnly` and `@destructive` stand for tools by what they do.

import { compileGlob, type Matcher } from "../../util/glob.ts";
import { oneLine } from "../../util/text.ts";
import {
  type ContentKind,
  type ContentName,
  contentPattern,
  contentText,
  type ContentPattern,
  couldGive,
  foldPattern,
  permitsContent,
  restrictsContent,
} from "./content-pattern.ts";
import { PlugboardError } from "./errors.ts";
import type { ToolSource } from "./tool.ts";
import {
  PREFIXES,
  type Reading,
  everyReadingOf,
  readingsOf,
  restrictingReadings,
  withoutRuns,
} from "./tool-readings.ts";

/** A tool as patterns see it; or a resource or prompt, which only patterns for these match. */
export interface ToolName {
  /** `native` for a tool of the host; no server can have that name. */
  server: string;
  /** The server's own name of the tool. */
  tool: string;
  publicName: string;
  /** What the template of public names gives, if the public name is another. */
  fullName?: string | undefined;
  folded: {
    servers: readonly string[];
    tool: string;
    publicName: string;
    fullName?: string | undefined;
  };
  /** Absent for a tool. */
  content?: ContentName | undefined;
  /** Absent if nobody can tell, and then it may do anything. */
  effect?: ToolEffect | undefined;
}

/** What a tool may do, as far as rules are concerned. Each reason completes a sentence that begins with "because". */
export interface ToolEffect {
  /** Why `@readOnly` does not mean it; undefined if its pinned definition says that it only reads. */
  mayWrite: string | undefined;
  /** Why `@destructive` means it; undefined if somebody who is believed says that it destroys nothing. */
  mayDestroy: string | undefined;
}

export interface ToolPattern {
  /** As written. */
  text: string;
  /** It is about what tools do, which can change: `@readOnly`. */
  isByEffect?: true;
  /** What it is about. `files/resource:file:///*` is about resources. */
  kind: "tool" | ContentKind;
  matches: (name: ToolName) => boolean;
  /** Whether it matches, or matches something that the URI template can give. */
  couldMatch?: (name: ToolName) => boolean;
  /** Whether it means all of its kind that the server has: `*`, `files/*`, `files/resource:*`. */
  meansAllOf?: (name: ToolName) => boolean;
}

export interface PermittingPattern extends ToolPattern {
  /** It does not name a server. Only such a pattern can permit a tool of a session's own server. */
  isForAnyServer: boolean;
  /** Whether it can match something of the server. */
  isOn: (name: ToolName) => boolean;
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

const NATIVE = "native";

export function toolName(of: {
  source: ToolSource;
  publicName: string;
  fullName?: string | undefined;
  toolPrefix?: string | undefined;
  content?: ContentName | undefined;
}): ToolName {
  const { source, publicName, fullName, toolPrefix, content } = of;
  const isNative = source.kind === "native";
  const server = isNative ? NATIVE : source.server;
  const tool = content ? contentText(content) : isNative ? publicName : source.tool;
  const servers = aliases({ name: server, toolPrefix });
  return {
    server,
    tool,
    publicName,
    fullName,
    folded: {
      servers,
      tool: fold(tool),
      publicName: fold(publicName),
      fullName: fullName && fold(fullName),
    },
    content,
  };
}

/**
 * For `deny`, `ownerOnly` and whatever else takes something away: every reading counts, also a tool's own name and
 * the name of a whole server. In the settings of one server a name without a server means a tool alone.
 */
export function restrictingPattern(text: string, scope: "agent" | "server"): ToolPattern {
  const effect = effectNamedBy(text);
  if (effect !== undefined) {
    // A word that does not restrict anything here must not look like one that does, so it restricts everything.
    const isMeant = ({ effect: of }: ToolName): boolean =>
      effect.word !== "destructive" || of === undefined || of.mayDestroy !== undefined;
    return effectPattern(text, onServer(effect.server), isMeant);
  }
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
    ...(withoutRuns(content.glob) === "*" && { meansAllOf: isOn }),
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
  const isEverything = withoutRuns(text) === "*";
  const prefixed = text.replace(/^mcp(?=[_:])/i, "mcp");
  const wholeServers = isOfAgent ? wholeServersOf(prefixed) : [];
  const isLoose = isOfAgent ? looseName(text) : () => false;
  const readings = restrictingReadings(prefixed, isOfAgent).map(({ server, tool, kind }) => ({
    isForNative: kind === "canonical" || server === NATIVE,
    isServer: compileGlob(foldPattern(server)),
    isTool: compileGlob(foldPattern(tool)),
    // Folding drops characters of a name that stay in a pattern.
    isExactTool: compileGlob(tool),
    isWhole: tool === "*",
  }));
  return {
    text,
    kind: "tool",
    meansAllOf: ({ folded: { servers } }) =>
      isEverything ||
      wholeServers.some((matches) => servers.some(matches)) ||
      readings.some(({ isWhole: isAll, isServer }) => isAll && servers.some(isServer)),
    matches(name) {
      if (name.content !== undefined) return false;
      if (isWhole(name)) return true;
      const { servers, tool } = name.folded;
      const isNative = name.server === NATIVE;
      if (!isNative && wholeServers.some((matches) => servers.some(matches))) return true;
      if (!isNative && servers.some((server) => isLoose(collapsed(`${server}_${tool}`))))
        return true;
      return readings.some(
        ({ isForNative, isServer, isTool, isExactTool }) =>
          (isForNative || !isNative) &&
          servers.some(isServer) &&
          (isTool(tool) || isExactTool(name.tool)),
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
  const effect = effectNamedBy(text);
  if (effect !== undefined) {
    const { isOn, isForAnyServer, couldMean } = chooseServer(effect.server, "*", known);
    return {
      ...effectPattern(text, isOn, (name) => onlyReads(effect, name)),
      isForAnyServer,
      isOn,
      couldMean,
    };
  }
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
  const { isOn, isForAnyServer, couldMean } = chooseServer(server, `${kind}:${glob}`, known);
  const isMeant = permitsContent(content);
  return {
    text,
    kind,
    couldMean,
    isForAnyServer,
    isOn,
    matches: (name) => name.content !== undefined && isOn(name) && isMeant(name.content),
  };
}

/** The server that is written before the slash of a pattern that permits. */
function chooseServer(
  server: string,
  tool: string,
  known: KnownNames,
): Pick<PermittingPattern, "isForAnyServer" | "couldMean"> & { isOn: (name: ToolName) => boolean } {
  const reading: Reading = { server, tool, kind: "canonical", isSpanning: false };
  const { reading: chosen, couldMean } = choose(liveReadings([reading], known.servers));
  const names = new Set((chosen?.servers ?? []).map(({ name }) => name));
  const isServer = compileGlob(chosen?.server ?? "");
  return {
    isOn: ({ server: of }) => names.has(of) || isServer(of),
    isForAnyServer: chosen?.server === "*",
    couldMean,
  };
}

function permittingToolPattern(text: string, known: KnownNames): PermittingPattern {
  const pattern = withoutRuns(text);
  const nothing = {
    text,
    kind: "tool" as const,
    isForAnyServer: false,
    couldMean: [],
    isOn: () => false,
    matches: () => false,
  };
  if (pattern === "*") {
    const all = (): boolean => true;
    return { ...nothing, isForAnyServer: true, isOn: all, meansAllOf: all, matches: all };
  }
  // A public name with a hash means one tool, whatever else could be read into it.
  if (isHashed(pattern)) {
    const named = liveReadings(readingsOf(pattern, known.template), known.servers);
    const names = new Set(named.flatMap(({ servers }) => servers.map(({ name }) => name)));
    return {
      ...nothing,
      isOn: ({ server }) => names.has(server),
      matches: ({ publicName }) => publicName === pattern,
    };
  }
  const isNative = pattern.includes("/") ? () => false : compileGlob(pattern);
  const matchesNative = (name: ToolName): boolean =>
    name.server === NATIVE && isNative(name.publicName);
  if (known.native?.has(pattern)) return { ...nothing, matches: matchesNative };
  // Without a prefix, `read*` would permit all tools of a server that happens to be called `reader`.
  const readings = readingsOf(pattern, known.template).filter(
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
  const isOn = ({ server }: ToolName): boolean => names.has(server) || isServer(server);
  const isWhole = reading.tool === "*" && !reading.isSpanning;
  return {
    ...nothing,
    isForAnyServer: reading.server === "*" && !reading.isSpanning,
    isOn,
    ...(isWhole && { meansAllOf: isOn }),
    matches: (name) =>
      matchesNative(name) ||
      ((reading.kind === "canonical" || name.server !== NATIVE) && isOn(name) && isTool(name.tool)),
  };
}

/** Where the tools of the only server keep their own names, a name that means nothing else is that of a tool of it. */
function ownNameReading(pattern: string, { ownNamesOf }: KnownNames): Reading[] {
  if (ownNamesOf === undefined || pattern.includes("/")) return [];
  return [{ server: ownNamesOf, tool: pattern, kind: "canonical", isSpanning: false }];
}

/** For what permits in the settings of one server, such as `allow` or the approval mode `never`. */
export function permittingPatternOfServer(text: string): ToolPattern {
  const effect = effectNamedBy(text);
  if (effect !== undefined) {
    return effectPattern(text, onServer(effect.server), (name) => onlyReads(effect, name));
  }
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
  const readings = readingsOf(text)
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
 * is about the tools of any server. What `restricts` has more readings than what permits.
 */
export function serversNamedBy(
  text: string,
  { servers, template }: KnownNames,
  restricts: boolean,
): KnownServer[] | undefined {
  const effect = effectNamedBy(text);
  const content = contentNamedBy(text);
  const written = effect ?? (content?.form === "other" ? undefined : content);
  if (written !== undefined) {
    return written.server === "*"
      ? undefined
      : serversOf({ server: written.server, kind: "canonical" }, servers);
  }
  const readings = restricts
    ? everyReadingOf(text.replace(/^mcp(?=[_:])/i, "mcp"), template)
    : readingsOf(text, template);
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

/** `@destructive`, or `docs/@destructive` for the tools of one server. */
interface NamedEffect {
  server: string;
  word: string;
}

/** Undefined for a pattern that goes by names. */
function effectNamedBy(text: string): NamedEffect | undefined {
  const [, server = "*", word] = /^(?:([^/]+)\/)?@(.*)$/s.exec(text) ?? [];
  return word === undefined ? undefined : { server: withoutRuns(server), word };
}

function effectPattern(
  text: string,
  isOn: (name: ToolName) => boolean,
  isMeant: (name: ToolName) => boolean,
): ToolPattern {
  return {
    text,
    isByEffect: true,
    kind: "tool",
    matches: (name) => name.content === undefined && isOn(name) && isMeant(name),
  };
}

function onlyReads({ word }: NamedEffect, { effect }: ToolName): boolean {
  return word === "readOnly" && effect !== undefined && effect.mayWrite === undefined;
}

function onServer(server: string): (name: ToolName) => boolean {
  const isServer = compileGlob(foldPattern(server));
  return ({ folded }) => folded.servers.some(isServer);
}

/** Where a pattern stands, and what it can say there about what tools do. */
const EFFECTS = { allow: "readOnly", deny: "destructive", ownerOnly: "destructive" } as const;

/** What is wrong with a pattern in a rule; without a rule, in a setting for single tools. */
export function patternProblem(text: string, rule?: keyof typeof EFFECTS): string | undefined {
  const effect = effectNamedBy(text);
  const [, word] = /[^/]@(readOnly|destructive)\s*$/i.exec(text) ?? [];
  if (effect === undefined && word === undefined) return undefined;
  if (rule === undefined) {
    return "is about what tools do, which only rules can be (allow, deny, ownerOnly); expected the name of a tool";
  }
  if (effect?.word === EFFECTS[rule]) return undefined;
  const meant = `@${EFFECTS[rule]}`;
  return `is not what ${rule} takes; expected ${meant}, server/${meant} or the name of a tool`;
}

/** Throws INVALID_ARGUMENTS for a pattern that would restrict nothing. `place` says where the patterns of a rule stand. */
export function requirePatterns(
  rules: { allow?: readonly string[]; deny?: readonly string[] },
  place: (rule: "allow" | "deny") => string,
): void {
  for (const rule of ["allow", "deny"] as const) {
    for (const pattern of rules[rule] ?? []) {
      const problem = patternProblem(pattern, rule);
      if (problem === undefined) continue;
      const message = `'${oneLine(pattern, 200)}' in ${place(rule)} ${problem}`;
      throw new PlugboardError("INVALID_ARGUMENTS", message);
    }
  }
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

/** Whether a pattern in the list of a token or a session means resources or prompts, for itself or with all else. */
export function meansContent(text: string): boolean {
  const pattern = withoutRuns(text);
  const isWhole = ({ tool, isSpanning }: Reading): boolean => tool === "*" && !isSpanning;
  return contentNamedBy(text) !== undefined || pattern === "*" || readingsOf(pattern).some(isWhole);
}

/** Whether a pattern in the list of a token or a session means tools, for itself or with all else. */
export function meansTools(text: string): boolean {
  return contentNamedBy(text) === undefined;
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

/** The text as the name of a tool: the server's own, or the public one. */
function wholeName(text: string, isOfAgent: boolean): (name: ToolName) => boolean {
  // The slash of `server/tool` must not count as an underscore in the name of another tool.
  if (text.includes("/")) {
    const isTool = compileGlob(text);
    return ({ tool, fullName = tool }) => isTool(tool) || isTool(fullName);
  }
  const isName = compileGlob(foldPattern(text));
  if (isOfAgent) {
    return ({ folded: { tool, publicName, fullName = publicName } }) =>
      isName(tool) || isName(publicName) || isName(fullName);
  }
  // All public names of a server begin alike, so that `m*` would match all of its tools.
  const literal = fold(text);
  return ({ publicName, folded }) =>
    isName(folded.tool) || text === publicName || literal === folded.fullName;
}

/** The name of a server alone, with or without `mcp` in front. */
function wholeServersOf(text: string): Matcher[] {
  const names = PREFIXES.flatMap((each) =>
    text.startsWith(each) ? [text.slice(each.length)] : [],
  );
  return names.map((name) => compileGlob(foldPattern(name)));
}

/** The folded names under which a server is known. */
function aliases({ name, toolPrefix }: KnownServer): string[] {
  return toolPrefix === undefined ? [fold(name)] : [fold(name), fold(toolPrefix)];
}

/**
 * Programs replace the characters of a name that they cannot use, so these and the letters' case do not count. Nobody
 * sees the characters that are dropped first, so a name with them must not pass for another one.
 */
function fold(name: string): string {
  return name
    .replace(/[\p{C}\p{M}\p{Default_Ignorable_Code_Point}]/gu, "")
    .trim()
    .replace(/[^A-Za-z0-9]/g, "_")
    .toLowerCase();
}

/** Public names that could be mistaken for another tool's end in a hash. */
function isHashed(pattern: string): boolean {
  return /^[^*/]*_[0-9a-f]{8}$/.test(pattern);
}
