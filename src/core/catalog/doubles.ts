// Doubles: tools that copy the definition of another server's tool, or claim its name, so that a model takes them for it.
// Which of the two is the double depends on whose name your configuration gives to which server, on when the servers were
// pinned, and then on their order. Instances of one program are no doubles of each other.

import { choosesRegistry, programOf } from "../process/program.ts";
import type { Diagnostic } from "../types/diagnostic.ts";
import { isJsonObject, type JsonObject } from "../types/json.ts";
import type { ServerDefinition } from "../types/server-definition.ts";
import { oneLine, plainText } from "../../util/text.ts";

export interface ComparedServer {
  name: string;
  /** What `programKey` gives. */
  program: string;
  /** The name with which it introduces itself. */
  identity?: string | undefined;
  /** A session has brought it, so its tools never come before those of the agent. */
  isOfSession: boolean;
  /** Milliseconds since the epoch. Absent: it is not pinned. */
  pinnedAt?: number | undefined;
  /** The tools that are not as they were pinned. For these it does not count when the server was. */
  unpinned?: ReadonlySet<string> | undefined;
}

export interface ComparedTool {
  server: ComparedServer;
  /** What its server calls it. */
  name: string;
  title?: string | undefined;
  description: string | undefined;
  schema: JsonObject;
}

/** Servers that were pinned so shortly after each other started together. Which of them was faster says nothing. */
const TOGETHER_MS = 10 * 60_000;
/** How many characters of a description are compared. */
const MOST_TEXT = 1000;
/** A shorter description may be the same by chance, so the parameters have to be the same too. */
const TELLING = 20;
/** A description of this length, with the same parameters, is a copy under any name. */
const LONG = 70;
/**
 * A tool of the same name is a copy if the shorter description has so many pairs of neighbouring words, and such a share
 * of them is in the other: a few words more or less make no other tool of it.
 */
const LEAST_PAIRS = 8;
const SHARED_PAIRS = 0.9;
/** A shorter description has to be this long, and wholly in the other. */
const CONTAINED = 33;
/** A tool of the same name with the same parameters is a copy, whatever its description says, if it has so many. */
const MANY_PARAMETERS = 5;
/** How many others a tool is compared with by name, and by text: many tools that are alike must not cost much. */
const MOST_COMPARED = 8;
/** How many tools one line about several names. */
const MOST_NAMES = 10;

/** What a server says that every server is. */
const NO_NAMES: ReadonlySet<string> = new Set(
  "mcp server servers the a an my your official for example demo test sample app api tool tools".split(
    " ",
  ),
);
/** A name is written for another server's tool as hosts write it: `mcp__github__create_issue`, `github/create_issue`. */
const QUALIFIED = /^(?:mcp(?:__|:))?(.+?)(?:__|[/.:])(.+)$/s;
/** Some write it with one sign: `mcp_github_create_issue`. Then a server's name may be any of the first words. */
const QUALIFIED_BY_ONE = /^mcp[_-](?![_-])/i;
const MOST_SERVER_WORDS = 4;
/** Letters of Cyrillic and Greek, each before the Latin letter that it looks like. */
const LOOKALIKES = new Map(
  Array.from(
    "аaеeоoрpсcуyхxѕsіiјjԁdӏlһhԛqԝwкkмmтtвbнhАAВBЕEЗ3ІIЈJКKМMНHОOРPСCТTХXЅSУYοoνvρpαaιiτtυuκkχxΑAΒBΕEΖZΗHΙIΚKΜMΝNΟOΡPΤTΥYΧX".matchAll(
      /(.)(.)/gu,
    ),
    ([, seen = "", meant = ""]) => [seen, meant],
  ),
);

/** Each double with the tool that it copies. The tools are in the order of their servers. */
export function findDoubles<Item extends ComparedTool>(tools: readonly Item[]): Map<Item, Item> {
  const servers = serversOf(tools);
  const places = placesOf(servers);
  const claims = claimsOf(servers);
  const placeOf = ({ server, name }: Item): number => {
    const isNew = server.unpinned?.has(name) === true;
    const rank = server.isOfSession ? 3 : claims.has(server) ? 2 : isNew ? 1 : 0;
    return (places.get(server) ?? 0) + places.size * rank;
  };
  const placed = tools.map((tool) => ({ tool, place: placeOf(tool) }));
  placed.sort((a, b) => a.place - b.place);
  const originals = new Map<string, Item[]>();
  const doubles = new Map<Item, Item>();
  for (const { tool } of placed) {
    const { keys } = traitsOf(tool);
    const isOther = (each: Item): boolean => each.server.program !== tool.server.program;
    const original =
      keys
        .flatMap((key) => originals.get(key) ?? [])
        .find((each) => isOther(each) && isCopy(tool, each)) ??
      claimedNames(tool)
        .flatMap((key) => originals.get(key) ?? [])
        .find(isOther);
    if (original !== undefined) doubles.set(tool, original);
    else for (const key of [...keys, ...ownNames(tool)]) remember(originals, key, tool);
  }
  return doubles;
}

function serversOf(tools: Iterable<ComparedTool>): ComparedServer[] {
  return [...new Set(Array.from(tools, ({ server }) => server))];
}

/** Each server that introduces itself under the name that the configuration gives to another program, with that server. */
function claimsOf(servers: readonly ComparedServer[]): Map<ComparedServer, ComparedServer> {
  const byName = new Map(servers.map((server) => [serverWords(server.name), server]));
  byName.delete("");
  return new Map(
    servers.flatMap((server) => {
      const said = serverWords(server.identity ?? "");
      const claimed = said === serverWords(server.name) ? undefined : byName.get(said);
      const isClaim = claimed !== undefined && claimed.program !== server.program;
      return isClaim ? [[server, claimed] as const] : [];
    }),
  );
}

/** Without what says nothing: `github-mcp-server` is `github`. Empty if nothing is left. */
function serverWords(name: string): string {
  const words = plainWords(name.slice(0, MOST_TEXT)).split(" ");
  return words.filter((word) => !NO_NAMES.has(word)).join("");
}

/** Under which server's name it is offered, for all to see: that of the configuration, and its own. */
function ownNames({ server, name }: ComparedTool): string[] {
  return claimKeys([server.name, server.identity ?? ""], name);
}

/** As whose tool it presents itself. */
function claimedNames({ server, name, title = "" }: ComparedTool): string[] {
  const written = [name, title].flatMap((text) => {
    const [, whose = "", what = ""] = QUALIFIED.exec(text) ?? [];
    return [...claimKeys([whose], what), ...claimsByOne(text)];
  });
  return [...claimKeys([server.identity ?? ""], name), ...written];
}

function claimsByOne(text: string): string[] {
  if (!QUALIFIED_BY_ONE.test(text)) return [];
  const words = text.slice("mcp_".length).split(/[_-]/, MOST_TEXT);
  const most = Math.min(MOST_SERVER_WORDS, words.length - 1);
  return Array.from({ length: most }, (_, at) => at + 1).flatMap((at) =>
    claimKeys([words.slice(0, at).join(" ")], words.slice(at).join(" ")),
  );
}

function claimKeys(servers: readonly string[], tool: string): string[] {
  const own = plainWords(tool).replaceAll(" ", "");
  return servers.flatMap((server) => {
    const words = serverWords(server);
    return words === "" || own === "" ? [] : [`claim ${words}/${own}`];
  });
}

function remember<Item>(originals: Map<string, Item[]>, key: string, tool: Item): void {
  const known = originals.get(key);
  if (known === undefined) originals.set(key, [tool]);
  else if (known.length < MOST_COMPARED) known.push(tool);
}

/** Pinned servers come first, the earliest before all; those that were pinned together, and the others, in their order. */
function placesOf(servers: readonly ComparedServer[]): Map<ComparedServer, number> {
  const byPins = servers
    .map((server, order) => ({ server, order, pinnedAt: server.pinnedAt ?? Infinity, run: 0 }))
    .sort((a, b) => (a.pinnedAt === b.pinnedAt ? 0 : a.pinnedAt - b.pinnedAt));
  for (const [at, each] of byPins.entries()) {
    const before = byPins[at - 1];
    if (before === undefined) continue;
    const isTogether =
      each.pinnedAt === before.pinnedAt || each.pinnedAt - before.pinnedAt <= TOGETHER_MS;
    each.run = before.run + (isTogether ? 0 : 1);
  }
  byPins.sort((a, b) => a.run - b.run || a.order - b.order);
  return new Map(byPins.map(({ server }, place) => [server, place]));
}

/** What of a definition is compared. The whole description is read only where another tool is alike so far. */
class Traits {
  readonly name: string;
  readonly parameters: string;
  readonly parameterCount: number;
  /** Tools that share one of these may be doubles: the name, and how a long description begins, with the parameters. */
  readonly keys: readonly string[];
  readonly #description: string;
  #text: string | undefined;
  #pairs: ReadonlySet<string> | undefined;

  constructor({ name, description = "", schema: { properties } }: ComparedTool) {
    this.name = plainWords(name).replaceAll(" ", "");
    const parameters = isJsonObject(properties) ? Object.keys(properties) : [];
    this.parameters = parameters.toSorted().join(" ");
    this.parameterCount = parameters.length;
    this.#description = description.slice(0, MOST_TEXT);
    const begins = `${plainWords(description.slice(0, LONG))}\n${this.parameters}`;
    const byName = `name ${this.name}`;
    this.keys = description.length < LONG ? [byName] : [byName, `text ${begins}`];
  }

  get text(): string {
    this.#text ??= plainWords(this.#description);
    return this.#text;
  }

  get pairs(): ReadonlySet<string> {
    if (this.#pairs === undefined) {
      const words = this.text.split(" ");
      this.#pairs = new Set(words.slice(1).map((word, at) => `${words[at] ?? ""} ${word}`));
    }
    return this.#pairs;
  }
}

/** By schema: sessions have the same definitions as their agent's board, in tools of their own. */
const knownTraits = new WeakMap<JsonObject, { of: readonly unknown[]; traits: Traits }>();

function traitsOf(tool: ComparedTool): Traits {
  const { name, description, schema } = tool;
  const before = knownTraits.get(schema);
  if (before?.of[0] === name && before.of[1] === description) return before.traits;
  const traits = new Traits(tool);
  knownTraits.set(schema, { of: [name, description], traits });
  return traits;
}

/** The words of a text with a blank between them: without case, punctuation and what nobody sees. */
function plainWords(text: string): string {
  // Most texts are, and need no look at what Unicode says.
  const isAscii = /^[\t\n -~]*$/.test(text);
  return (isAscii ? text : latinised(plainText(text.normalize("NFKD"))))
    .toLowerCase()
    .replace(isAscii ? /[^a-z\d]+/g : /[^\p{L}\p{N}\p{M}]+/gu, " ")
    .trim();
}

/** As a reader takes it: Latin letters in place of those of other scripts that look like them, without accents. */
function latinised(text: string): string {
  const bare = text.replaceAll(/(?<=\p{Script=Latin})\p{M}+/gu, "");
  return bare.replaceAll(
    /[\p{Script=Cyrillic}\p{Script=Greek}]/gu,
    (each) => LOOKALIKES.get(each) ?? each,
  );
}

function isCopy(tool: ComparedTool, original: ComparedTool): boolean {
  const [one, other] = [traitsOf(tool), traitsOf(original)];
  const isSameText = one.text === other.text;
  const hasSameParameters = one.parameters === other.parameters;
  if (one.name !== other.name) {
    return isSameText && hasSameParameters && one.text.length >= LONG;
  }
  if (hasSameParameters && one.parameterCount >= MANY_PARAMETERS) return true;
  if (one.text === "" || other.text === "") return false;
  if (isSameText) return one.text.length >= TELLING || hasSameParameters;
  const [fewer, more] = one.pairs.size < other.pairs.size ? [one, other] : [other, one];
  if (fewer.pairs.size < LEAST_PAIRS) {
    return fewer.text.length >= CONTAINED && ` ${more.text} `.includes(` ${fewer.text} `);
  }
  const shared = [...fewer.pairs].filter((pair) => more.pairs.has(pair)).length;
  return shared >= SHARED_PAIRS * fewer.pairs.size;
}

/** Packages that are only a way to a URL. */
const PROXIES: ReadonlySet<string> = new Set(["mcp-remote", "mcp-proxy", "supergateway"]);

const ABSOLUTE = /^[/\\~$]|^[A-Za-z]:[\\/]/;

/**
 * A text that is equal for instances of one program: arguments and environment, or the path of a URL, do not count, but for
 * what decides from which registry a package comes.
 */
export function programKey({ target }: Pick<ServerDefinition, "target">): string {
  if (target.kind === "acp") return `acp ${target.serverId}`;
  if (target.kind !== "stdio") return originOf(target.url);
  const { command, args, env, cwd = target.baseDir } = target;
  const { kind, name, runner, from, registry = [] } = programOf(command, args);
  const url = PROXIES.has(name) ? args.find((word) => /^https?:\/\//i.test(word)) : undefined;
  if (url !== undefined) return originOf(url);
  const makers = kind === "package" && /^(?:uvx?|pipx)$/.test(runner) ? "python" : "";
  const isRelative = kind === "script" ? !ABSOLUTE.test(name) : /^\.{1,2}[\\/]/.test(name);
  const set = Object.entries(env).filter(([variable]) => choosesRegistry(variable));
  const origin = kind === "package" ? [...registry, ...set.map((each) => each.join("="))] : [];
  return JSON.stringify([kind, from ?? name, makers, isRelative ? (cwd ?? "") : "", ...origin]);
}

function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : url;
}

/** What a person is told of the doubles of each server, and of the name that it gives itself, by the server's name. */
export function doubleDiagnostics(
  doubles: ReadonlyMap<ComparedTool, ComparedTool>,
  tools: Iterable<ComparedTool> = [],
): Map<string, Diagnostic[]> {
  const byServers = new Map<string, [ComparedTool, ComparedTool][]>();
  for (const [double, original] of doubles) {
    const key = `${double.server.name}/${original.server.name}`;
    const pairs = byServers.get(key);
    if (pairs === undefined) byServers.set(key, [[double, original]]);
    else pairs.push([double, original]);
  }
  const diagnostics = new Map<string, Diagnostic[]>();
  for (const [{ name: server, identity = "" }, original] of claimsOf(serversOf(tools))) {
    const [said, whose] = [oneLine(identity, 80), oneLine(original.name, 80)];
    const message = `introduces itself as '${said}', which is your name for another server, ${whose}; find out why before you let a model use it`;
    diagnostics.set(server, [{ server, message, kind: "double" }]);
  }
  for (const pairs of byServers.values()) {
    const [first] = pairs;
    if (first === undefined) continue;
    const [double, original] = first;
    const server = double.server.name;
    const diagnostic: Diagnostic =
      pairs.length === 1
        ? {
            server,
            subject: oneLine(double.name, 80),
            message: aboutOne(double, original),
            kind: "double",
          }
        : { server, message: aboutSeveral(pairs), kind: "double" };
    diagnostics.set(server, [...(diagnostics.get(server) ?? []), diagnostic]);
  }
  return diagnostics;
}

function aboutOne(double: ComparedTool, { server, name, ...rest }: ComparedTool): string {
  const original = oneLine(`${server.name}/${name}`, 160);
  const does = isCopy(double, { server, name, ...rest })
    ? "copies that definition"
    : "goes by that name";
  return `a double of ${original}: it ${does}, so a search ranks it below; find out why before you let a model use it`;
}

function aboutSeveral(pairs: readonly [ComparedTool, ComparedTool][]): string {
  const original = oneLine(pairs[0]?.[1].server.name ?? "", 80);
  const names = pairs.slice(0, MOST_NAMES).map(([{ name }]) => oneLine(name, 80));
  const more = pairs.length - names.length;
  const does = pairs.every(([double, copied]) => isCopy(double, copied))
    ? "copy their definitions"
    : "copy their definitions or go by their names";
  const list = [...names, ...(more > 0 ? [`${more} more`] : [])].join(", ");
  return `${pairs.length} of its tools are doubles of those of ${original}: they ${does}, so a search ranks them below; find out why before you let a model use them: ${list}`;
}
