// All tools of a board, native ones and those of servers. Calls of each go through the guard.

import { promptTokens } from "../tools/definition-tokens.ts";
import { toUnified } from "../tools/native.ts";
import { type Execute, explainTask, toTool } from "../tools/tool.ts";
import { toolHash } from "../guard/pins/hash.ts";
import type { ToolsEvent } from "../types/events.ts";
import type { Callee, GuardedCall, Subject } from "../types/guard.ts";
import { appUrisOf, type IncludeMode, includeOf, isForApp } from "../types/include.ts";
import type { ServerDefinition } from "../types/server-definition.ts";
import type { ListedTools } from "../types/server-status.ts";
import type { NativeToolInGateway } from "../types/gateway-port.ts";
import {
  type CallOutcome,
  type CatalogEntry,
  type JudgedTool,
  type NativeTool,
  needsTask,
  type Tool,
  type ToolDefinition,
} from "../types/tool.ts";
import { toolName } from "../types/tool-pattern.ts";
import type { Callable, Calls } from "./calls.ts";
import type { BoardGuard } from "./guard.ts";
import type { ServerEntry } from "./server-entry.ts";
import type { ServerSet } from "./server-set.ts";

export interface BoardTool extends Callable {
  /** The tool as agents see it. */
  tool: Tool;
  /** False if the rules do not allow calls of the tool. */
  readonly isAllowed: boolean;
  /**
   * False also if the server keeps the tool for its own app, the pins keep it from a model, or the board has no use
   * for it now.
   */
  readonly isListed: boolean;
  /** The server keeps the tool for its own app, and it may be called. */
  readonly isForApp: boolean;
}

/** A native tool of Plugboard's own. */
export interface OwnTool
  extends
    NativeTool,
    Pick<Subject, "neverAsks" | "passesAllowLists">,
    Partial<Pick<NativeToolInGateway, "direct">> {
  /** The tool is listed while this is true. Default: always. */
  isOffered?: () => boolean;
  /** It reads its arguments leniently, so that they are not checked. */
  isLenient?: true;
}

export interface BoardToolsOptions {
  native: ReadonlyMap<string, OwnTool>;
  servers: Pick<ServerSet, "named" | "names" | "toolsOf" | "findTool">;
  calls: Calls;
  guard: BoardGuard;
  execute: Execute;
}

export class BoardTools {
  #options: BoardToolsOptions;
  readonly #native = new Map<string, BoardTool>();
  #ofServers = new WeakMap<CatalogEntry, BoardTool>();
  /** The tools of each server, by its entries in the catalog: lists are asked for far more often than they change. */
  #grouped = new WeakMap<readonly CatalogEntry[], ServerTools>();
  /** The tools of each server by the URI of their app, by its entries in the catalog. */
  readonly #byApp = new WeakMap<readonly CatalogEntry[], ReadonlyMap<string, CatalogEntry[]>>();
  /** Public names of tools that are not listed. Changes of these are not reported. */
  readonly #hidden = new Set<string>();
  /** Names of the board's own tools that come and go and were listed last time. */
  #offered: readonly string[] = [];
  /** By server: the tools that it keeps for its app, as they were last time. */
  readonly #forApps = new Map<string, ReadonlyMap<string, string>>();

  constructor(options: BoardToolsOptions) {
    this.#options = options;
    for (const tool of options.native.values()) this.#native.set(tool.name, this.#makeNative(tool));
  }

  /**
   * `change` changes the guard or the names, so every tool is made anew. Returns what it returns, and how the list differs
   * from before. What was made before still answers the calls that it has begun.
   */
  renew<Result>(
    native: ReadonlyMap<string, OwnTool>,
    change: () => Result,
  ): { result: Result; tools: ToolsEvent | undefined } {
    const before = described(this.list());
    const result = change();
    this.#options = { ...this.#options, native };
    this.#ofServers = new WeakMap();
    this.#grouped = new WeakMap();
    this.#native.clear();
    for (const tool of native.values()) this.#native.set(tool.name, this.#makeNative(tool));
    this.#hidden.clear();
    for (const { isListed, tool } of this.all()) if (!isListed) this.#hidden.add(tool.name);
    return { result, tools: changeOf(before, described(this.list())) };
  }

  /** `all` includes tools that servers keep for their own apps. */
  list({ all = false }: { all?: boolean } = {}): Tool[] {
    const native = [...this.#native.values()].filter(({ isListed }) => isListed);
    return joined(
      native.map(({ tool }) => tool),
      this.#options.servers.names().map((server) => {
        const { listed, withApps } = this.#toolsOf(server);
        return all ? withApps : listed;
      }),
    );
  }

  /** Includes tools that are not listed. */
  judged(): JudgedTool[] {
    const { guard } = this.#options;
    return this.all().map(({ tool, subject }) => ({ tool, verdict: guard.verdictOn(subject) }));
  }

  /** The listed tools of some servers, in the order of the board. */
  listOf(servers: ReadonlySet<string>): Tool[] {
    const names = this.#options.servers.names().filter((name) => servers.has(name));
    return joined(
      [],
      names.map((name) => this.#toolsOf(name).listed),
    );
  }

  /** Includes tools that are not listed. */
  all(): BoardTool[] {
    const names = this.#options.servers.names();
    return joined(
      [...this.#native.values()],
      names.map((server) => this.#toolsOf(server).all),
    );
  }

  /** How many tools of the server are listed, what they take of a prompt, and how many the rules do not allow. */
  listedOf(server: string): ListedTools {
    return this.#toolsOf(server).counts;
  }

  /** The tools of the server whose app the resource is. */
  showing(server: string, uri: string): Subject[] {
    const entries = this.#options.servers.toolsOf(server);
    let byApp = this.#byApp.get(entries);
    if (byApp === undefined) {
      byApp = byAppOf(entries);
      this.#byApp.set(entries, byApp);
    }
    return (byApp.get(uri) ?? []).map((entry) => this.#at(entry).subject);
  }

  /** Finds a tool by its public name, `server/tool` or `native/tool`, also if it is not listed. */
  find(name: string): BoardTool | undefined {
    const entry = this.#options.servers.findTool(name);
    if (entry !== undefined) return this.#at(entry);
    return this.#native.get(name.startsWith("native/") ? name.slice(7) : name);
  }

  /**
   * Leaves tools that are not listed out of a change; undefined if nothing remains. A tool that becomes listed counts
   * as added, one that stops being listed as removed. Must be called with every change.
   */
  listedChange(event: ToolsEvent & { server: string }): ToolsEvent | undefined {
    const { added, removed } = event;
    const changed = [...event.changed, ...this.#judgedAnew(event)];
    const listed: ToolsEvent = {
      added: [],
      removed: removed.filter((name) => !this.#hidden.delete(name)),
      changed: [],
    };
    const isNew = new Set(added);
    for (const name of [...added, ...changed]) {
      const wasListed = !this.#hidden.delete(name) && !isNew.has(name);
      const isListed = this.find(name)?.isListed !== false;
      if (!isListed) this.#hidden.add(name);
      if (wasListed && isListed) listed.changed.push(name);
      else if (isListed) listed.added.push(name);
      else if (wasListed) listed.removed.push(name);
    }
    return Object.values(listed).some(({ length }) => length > 0) ? listed : undefined;
  }

  /** Tools that stay as they are, and are listed or hidden now because of what they are known to do. */
  #judgedAnew({ server, added, changed }: ToolsEvent & { server: string }): string[] {
    if (!this.#options.guard.goesByEffect) return [];
    const told = new Set([...added, ...changed]);
    return this.#toolsOf(server).all.flatMap(({ tool: { name }, isListed }) =>
      told.has(name) || isListed !== this.#hidden.has(name) ? [] : [name],
    );
  }

  /** Which of the board's own tools were added to the list or removed since the last call of this function. */
  offeredChange(): ToolsEvent | undefined {
    const before = this.#offered;
    this.#offered = [...this.#options.native.values()].flatMap(({ name, isOffered }) =>
      isOffered !== undefined && this.#native.get(name)?.isListed === true ? [name] : [],
    );
    const added = this.#offered.filter((name) => !before.includes(name));
    const removed = before.filter((name) => !this.#offered.includes(name));
    return added.length + removed.length === 0 ? undefined : { added, removed, changed: [] };
  }

  /**
   * How the tools that these servers keep for their apps differ from the last call of this function. Default: those of all
   * servers that are or were there.
   */
  appChange(
    servers: Iterable<string> = new Set([
      ...this.#forApps.keys(),
      ...this.#options.servers.names(),
    ]),
  ): ToolsEvent | undefined {
    const meant = [...servers];
    const known = (): ReadonlyMap<string, string> =>
      new Map(meant.flatMap((server) => [...(this.#forApps.get(server) ?? [])]));
    const before = known();
    for (const server of meant) {
      const { forApps } = this.#toolsOf(server);
      if (forApps.length === 0) this.#forApps.delete(server);
      else this.#forApps.set(server, described(forApps));
    }
    return changeOf(before, known());
  }

  #toolsOf(server: string): ServerTools {
    const { servers, guard } = this.#options;
    const entries = servers.toolsOf(server);
    const known = this.#grouped.get(entries);
    // What the pins keep back changes without the catalog, so that is looked up each time.
    const offersAll = guard.offersAll(server);
    if (known !== undefined && offersAll) return known;
    const tools = new ServerTools(entries.map((entry) => this.#at(entry)));
    if (offersAll) this.#grouped.set(entries, tools);
    return tools;
  }

  #at(entry: CatalogEntry): BoardTool {
    const known = this.#ofServers.get(entry);
    if (known !== undefined) return known;
    const { servers, calls, guard } = this.#options;
    const server = servers.named(entry.server);
    const isCurrent = (): boolean => servers.findTool(entry.publicName) === entry;
    const successor = (): Subject | undefined => {
      const now = servers.findTool(`${entry.server}/${entry.tool.name}`);
      return now && this.#at(now).subject;
    };
    const callee = (): Callee => {
      const { supervisor } = server;
      const { name } = entry.tool;
      if (server.inGateway) {
        return calls.toGateway(() => supervisor.direct, { server: server.name, tool: name });
      }
      const of = calls.toTool(supervisor, name, (call) =>
        guard.recheck(call, isCurrent() ? "current" : successor()),
      );
      return needsTask(entry.tool) ? explaining(of) : of;
    };
    const tool = this.#make(entry, server, callee);
    this.#ofServers.set(entry, tool);
    return tool;
  }

  #make(entry: CatalogEntry, of: ServerEntry, callee: () => Callee): BoardTool {
    const { guard, calls, execute } = this.#options;
    const { definition, keys, inGateway } = of;
    const { publicName, fullName, server, tool } = entry;
    const subject = new ToolSubject(tool, {
      canonical: `${server}/${tool.name}`,
      publicName,
      fullName,
      toolPrefix: definition.toolPrefix,
      source: { kind: "mcp", server, tool: tool.name },
      origin: definition.origin,
      ownerOnly: false,
      inGateway: inGateway || undefined,
      key: keys.approval,
    });
    const isApp = isForApp(tool);
    const include = isApp ? "app" : includeIn(definition, subject);
    const isFramed = guard.askedFraming(definition) !== undefined;
    const frame = isFramed
      ? (outcome: CallOutcome): Promise<CallOutcome> => guard.frame(subject, outcome)
      : undefined;
    return {
      subject,
      guarded: calls.around(subject, () => ({
        callee: callee(),
        frame,
        counter: () => of.supervisor.stats,
      })),
      tool: {
        ...toTool(entry, execute, guard.presenter(subject)),
        ...(guard.isForOwner(subject) && { ownerOnly: true }),
        ...(guard.isTrusted(subject) && { trusted: true }),
        ...(isFramed && { isFramed }),
        ...(include && { include }),
      },
      get isAllowed() {
        return guard.allows(subject);
      },
      get isListed() {
        return guard.allows(subject) && !isApp && guard.offers(subject);
      },
      get isForApp() {
        return guard.allows(subject) && isApp && guard.offers(subject);
      },
    };
  }

  #makeNative(tool: OwnTool): BoardTool {
    const { guard, calls, execute } = this.#options;
    const { neverAsks, passesAllowLists, isOffered = () => true } = tool;
    const { direct, isLenient = false } = tool;
    const { name, description, parameters, annotations, outputSchema, ownerOnly = false } = tool;
    const definition: ToolDefinition = {
      name,
      description,
      inputSchema: parameters,
      annotations,
      outputSchema,
    };
    const subject = new ToolSubject(definition, {
      canonical: `native/${name}`,
      publicName: name,
      source: { kind: "native" },
      origin: "native",
      ownerOnly,
      neverAsks,
      passesAllowLists,
      inGateway: direct && true,
      parameters: isLenient ? undefined : parameters,
      key: "native",
    });
    const isAllowed = guard.allows(subject);
    const confirm = (call: GuardedCall): Promise<void> | undefined =>
      guard.recheck(call, "current");
    return {
      subject,
      guarded:
        direct === undefined
          ? calls.around(subject, () => ({ callee: calls.toNative(tool, confirm) }))
          : calls.around(subject, () => ({ callee: calls.toGateway(direct, { tool: name }) })),
      tool: {
        ...toUnified(tool, execute, guard.presenter(subject)),
        ...(guard.isForOwner(subject) && { ownerOnly: true }),
      },
      isAllowed,
      get isListed() {
        return isAllowed && isOffered();
      },
      isForApp: false,
    };
  }
}

/** The tools of one server, grouped by who gets them. Holds while the pins keep back none of them. */
class ServerTools {
  readonly all: readonly BoardTool[];
  readonly listed: readonly Tool[];
  /** Those that the server keeps for its own app. */
  readonly forApps: readonly Tool[];
  /** Both, in the order of the server. */
  readonly withApps: readonly Tool[];
  #counts: ListedTools | undefined;

  constructor(all: readonly BoardTool[]) {
    const toolsWhere = (isMeant: (each: BoardTool) => boolean): readonly Tool[] =>
      all.filter(isMeant).map(({ tool }) => tool);
    this.all = all;
    this.listed = toolsWhere(({ isListed }) => isListed);
    this.forApps = toolsWhere((each) => each.isForApp);
    this.withApps =
      this.forApps.length === 0
        ? this.listed
        : toolsWhere((each) => each.isListed || each.isForApp);
  }

  /** Counted on first use: to estimate the tokens is most of the work. */
  get counts(): ListedTools {
    this.#counts ??= this.#count();
    return this.#counts;
  }

  #count(): ListedTools {
    const hidden = this.all.filter(({ isAllowed }) => !isAllowed).length;
    return {
      tools: this.listed.length,
      promptTokens: promptTokens(this.listed),
      ...(hidden > 0 && { hiddenByRules: hidden }),
    };
  }
}

/** Not with `flat`, which takes a hundred times as long for the tools of many servers. */
function joined<Item>(first: Item[], lists: readonly (readonly Item[])[]): Item[] {
  return first.concat(...lists);
}

/** What a session brings is in its prompt, however many tools there are. */
function includeIn(
  { include, origin }: ServerDefinition,
  subject: Subject,
): IncludeMode | undefined {
  return includeOf(toolName(subject), include) ?? (origin === "session" ? "always" : undefined);
}

function byAppOf(entries: readonly CatalogEntry[]): ReadonlyMap<string, CatalogEntry[]> {
  const byApp = new Map<string, CatalogEntry[]>();
  for (const entry of entries) {
    for (const app of new Set(appUrisOf(entry.tool))) {
      const showing = byApp.get(app);
      if (showing === undefined) byApp.set(app, [entry]);
      else showing.push(entry);
    }
  }
  return byApp;
}

/** Each tool as a text: two that differ for anybody differ here. */
function described(tools: readonly Tool[]): ReadonlyMap<string, string> {
  return new Map(tools.map((tool) => [tool.name, JSON.stringify(tool)]));
}

function changeOf(
  before: ReadonlyMap<string, string>,
  now: ReadonlyMap<string, string>,
): ToolsEvent | undefined {
  const names = [...now.keys()];
  const change: ToolsEvent = {
    added: names.filter((name) => !before.has(name)),
    removed: [...before.keys()].filter((name) => !now.has(name)),
    changed: names.filter((name) => before.has(name) && before.get(name) !== now.get(name)),
  };
  return Object.values(change).some(({ length }) => length > 0) ? change : undefined;
}

/** For a tool that needs a task. */
function explaining<Answer>(callee: Callee<Answer>): Callee<Answer> {
  return {
    ...callee,
    received: (call, answer) => explainTask(callee.received(call, answer)),
    failed: (call, error) => explainTask(callee.failed(call, error)),
  };
}

interface SubjectIdentity extends Pick<
  Subject,
  | "canonical"
  | "publicName"
  | "fullName"
  | "toolPrefix"
  | "source"
  | "origin"
  | "ownerOnly"
  | "neverAsks"
  | "passesAllowLists"
  | "inGateway"
  | "parameters"
> {
  /** Hash of the server's definition and of what it means here. */
  key: string;
}

class ToolSubject implements Subject {
  readonly canonical: string;
  readonly publicName: string;
  readonly fullName: string | undefined;
  readonly toolPrefix: string | undefined;
  readonly source: Subject["source"];
  readonly origin: Subject["origin"];
  readonly ownerOnly: boolean;
  readonly neverAsks: true | undefined;
  readonly passesAllowLists: true | undefined;
  readonly inGateway: true | undefined;
  readonly title: string | undefined;
  readonly description: string | undefined;
  readonly annotations: Subject["annotations"];
  readonly outputSchema: Subject["outputSchema"];
  readonly parameters: Subject["parameters"];
  readonly #tool: ToolDefinition;
  readonly #key: string;
  #hash: string | undefined;

  constructor(tool: ToolDefinition, identity: SubjectIdentity) {
    this.canonical = identity.canonical;
    this.publicName = identity.publicName;
    this.fullName = identity.fullName;
    this.toolPrefix = identity.toolPrefix;
    this.source = identity.source;
    this.origin = identity.origin;
    this.ownerOnly = identity.ownerOnly;
    this.neverAsks = identity.neverAsks;
    this.passesAllowLists = identity.passesAllowLists;
    this.inGateway = identity.inGateway;
    this.title = tool.title;
    this.description = tool.description;
    this.annotations = tool.annotations;
    this.outputSchema = tool.outputSchema;
    this.parameters = identity.parameters;
    this.#tool = tool;
    this.#key = identity.key;
  }

  /**
   * Includes the server's definition, so that an approval does not carry over to another program of the same
   * name. Computed on first use, since few tools ever need it.
   */
  get hash(): string {
    this.#hash ??= `${toolHash(this.#tool)}-${this.#key}`;
    return this.#hash;
  }
}
