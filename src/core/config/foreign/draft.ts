// A configuration in our shape, written while another application's file is read. It remembers where each part
// was written there, so that whatever is wrong is reported at that place and in that application's words.

import { isJsonObject, type JsonObject } from "../../types/json.ts";
import type { OfferInput } from "../../types/server-offer.ts";
import { closest } from "../../../util/closest.ts";
import { atKey, atValue, type Issue, type KeyPath, quote } from "../issue.ts";
import { isBoard } from "../own-server.ts";
import { DEFAULT_SERVERS, ROOT_KEYS } from "../schema/file-schema.ts";
import { codeVariableReason } from "../code-variables.ts";
import { serverNameProblem } from "../schema/values.ts";
import type { FileContext } from "./application.ts";
import type { Convert } from "./variables.ts";

/** What one key of a server becomes. `path` leads to the value in the user's file. */
export type KeyRule = (server: ServerDraft, value: unknown, path: KeyPath) => void;

/** By the application's own keys. All others are ignored, and named in a note. */
export type KeyRules = Readonly<Record<string, KeyRule>>;

const LONGEST_NAME = 64;

/** A settings file can have hundreds of keys that are not ours. */
const MOST_NAMED = 20;

/** Only so many unknown keys are compared with the known ones: a file may have any number of them. */
const MOST_TYPOS = 100;

export class Draft {
  readonly around: FileContext;
  readonly value: JsonObject = { agents: { defaults: { mcp: { servers: map() } }, list: [] } };
  /** Mistakes in the file that our schema does not find in the translation. Paths are the user's. */
  readonly issues: Issue[] = [];
  /** What does not work here as it does in the application. Paths are the user's. */
  readonly warnings: Issue[] = [];
  /** Keys that were ignored or renamed. Paths are the user's. */
  readonly notes: Issue[] = [];
  /** What the application asks its user for. The servers refer to each by its variable. */
  readonly inputs: OfferInput[] = [];
  /** Why servers were left out, by name. */
  readonly leftOut = new Map<string, Issue>();
  /** In another working directory, the file would be translated to other servers. */
  isOfDirectory = false;
  readonly #origins = new Map<string, KeyPath>();

  constructor(around: FileContext) {
    this.around = around;
  }

  /** Where the value at a path of ours was written; the nearest thing that is known, with the rest of the path. */
  written(path: KeyPath): KeyPath {
    for (let length = path.length; length > 0; length--) {
      const origin = this.#origins.get(keyOf(path.slice(0, length)));
      if (origin !== undefined) return [...origin, ...path.slice(length)];
    }
    return [];
  }

  /** Writes a value at a path of ours. `origin` is where the user wrote it. */
  set(path: KeyPath, value: unknown, origin: KeyPath): void {
    let node: Record<string | number, unknown> = this.value;
    for (const [index, step] of path.slice(0, -1).entries()) {
      node[step] ??= typeof path[index + 1] === "number" ? [] : map();
      const inside = node[step];
      // The user wrote something else there, which the schema refuses.
      if (!isJsonObject(inside) && !Array.isArray(inside)) return;
      node = inside as Record<string | number, unknown>;
    }
    node[path.at(-1) ?? ""] = value;
    this.#origins.set(keyOf(path), origin);
  }

  /** Says where a part of a value was written that has been set already. */
  trace(path: KeyPath, origin: KeyPath): void {
    this.#origins.set(keyOf(path), origin);
  }

  get(path: KeyPath): unknown {
    let node: unknown = this.value;
    for (const step of path) node = (node as Record<string | number, unknown> | undefined)?.[step];
    return node;
  }

  remove(path: KeyPath): void {
    const parent = this.get(path.slice(0, -1)) as Record<string | number, unknown>;
    delete parent[path.at(-1) ?? ""];
  }

  /** Reads an object of servers by these rules. `into` is the path of our `servers`. */
  servers(
    given: unknown,
    origin: KeyPath,
    rules: KeyRules,
    convert: Convert,
    { into = DEFAULT_SERVERS, finish = () => {} }: ServersOptions = {},
  ): ServerDraft[] {
    this.#origins.set(keyOf(into), origin);
    if (given === undefined) return [];
    if (!isJsonObject(given)) {
      this.issues.push(atValue(origin, "is not an object; expected servers by their names"));
      return [];
    }
    const names = new Names(Object.keys(given));
    return Object.entries(given).flatMap(([name, entry]) => {
      const path = [...origin, name];
      if (!isJsonObject(entry)) {
        this.issues.push(atValue(path, "is not an object; expected a server"));
        return [];
      }
      if (visibleName(name) === "") {
        this.issues.push(
          atKey(path, "has no name; expected one that can be read, before the server"),
        );
        return [];
      }
      // Names in other applications may be too long for us, or have a slash in them.
      const fit = names.fit(name);
      if (fit !== name) this.notes.push(atKey(path, `is called ${quote(fit)} here`));
      const server = new ServerDraft(this, [...into, fit], path, entry);
      server.read(rules, convert, finish);
      return server.isLeftOut ? [] : [server];
    });
  }

  /** For lists of servers that are switched off. `name` is as the user wrote it. */
  disable(name: unknown, origin: KeyPath): void {
    const path = [...DEFAULT_SERVERS, String(name)];
    if (this.#origins.has(keyOf(path))) this.set([...path, "enabled"], false, origin);
  }

  /** Names keys of the user's file that have no meaning here. */
  ignore(keys: readonly string[], path: KeyPath, meant: readonly string[] = []): void {
    const typos = keys.slice(0, MOST_TYPOS).flatMap((key) => {
      const known = closestKey(key, meant);
      return known === undefined ? [] : [{ key, known }];
    });
    for (const { key, known } of typos) {
      this.warnings.push(atKey([...path, key], "is ignored", known));
    }
    const rest = keys.filter((key) => key !== "$schema" && !typos.some((typo) => typo.key === key));
    const { known } = this.around;
    const isNobodys = (key: string): boolean =>
      path.length === 0 && known !== undefined && !known.keys.includes(key);
    const strange = rest.filter(isNobodys);
    const blocks = strange.slice(0, MOST_TYPOS).flatMap((key) => {
      const block = closestBlock(key);
      return block === undefined ? [] : [{ key, block }];
    });
    for (const { key, block } of blocks) {
      this.warnings.push({ ...atKey([key], "is ignored", block), isMisspelledBlock: true });
    }
    const nobodys = strange.filter((key) => !blocks.some((each) => each.key === key));
    if (nobodys.length > 0) {
      const message = `has keys that neither Plugboard nor ${known?.name} knows, ignored: ${named(nobodys)}`;
      this.warnings.push(atKey(path, message));
    }
    const theirs = rest.filter((key) => !isNobodys(key));
    if (theirs.length === 0) return;
    this.notes.push(atKey(path, `has keys without a meaning here, ignored: ${named(theirs)}`));
  }
}

function named(keys: readonly string[]): string {
  const more = keys.length > MOST_NAMED ? ` and ${keys.length - MOST_NAMED} more` : "";
  return `${keys.slice(0, MOST_NAMED).map(quote).join(", ")}${more}`;
}

interface ServersOptions {
  into?: KeyPath;
  /** What follows from several keys together. */
  finish?: (server: ServerDraft) => void;
}

/** One server of the user's file, and what has become of it. */
export class ServerDraft {
  readonly draft: Draft;
  /** As the user wrote it. */
  readonly given: JsonObject;
  readonly origin: KeyPath;
  /** Where it is in our configuration. */
  readonly path: KeyPath;
  isLeftOut = false;
  readonly #result: JsonObject = map();
  #convert: Convert | undefined;

  constructor(draft: Draft, path: KeyPath, origin: KeyPath, given: JsonObject) {
    this.draft = draft;
    this.path = path;
    this.origin = origin;
    this.given = given;
    draft.set(path, this.#result, origin);
  }

  get name(): string {
    return String(this.path.at(-1));
  }

  read(rules: KeyRules, convert: Convert, finish: (server: ServerDraft) => void): void {
    this.#convert = convert;
    const others = this.#apply(this.given, this.origin, rules);
    finish(this);
    if (!this.isLeftOut && isBoard(this.#result, { name: this.name })) {
      const issue = atKey(this.origin, "is Plugboard itself; it is left out");
      this.draft.notes.push(issue);
      this.draft.leftOut.set(this.name, issue);
      this.isLeftOut = true;
    }
    if (this.isLeftOut) this.draft.remove(this.path);
    else this.draft.ignore(others, this.origin, Object.keys(rules));
  }

  /** For keys of the server that are in an object of their own. */
  readInside(given: JsonObject, origin: KeyPath, rules: KeyRules): void {
    this.draft.ignore(this.#apply(given, origin, rules), origin, Object.keys(rules));
  }

  /** Returns the keys that have no rule. */
  #apply(given: JsonObject, origin: KeyPath, rules: KeyRules): string[] {
    const others: string[] = [];
    for (const [key, value] of Object.entries(given)) {
      const rule = Object.hasOwn(rules, key) ? rules[key] : undefined;
      if (rule === undefined) others.push(key);
      else if (value !== undefined && value !== null) rule(this, value, [...origin, key]);
    }
    return others;
  }

  get(key: string): unknown {
    return this.#result[key];
  }

  /** `key` is ours; dots lead into it. */
  set(key: string, value: unknown, origin: KeyPath): void {
    this.draft.set([...this.path, ...key.split(".")], value, origin);
  }

  /** Sets a text, a list of texts or a map of texts, with its variables in our syntax. */
  setText(key: string, given: unknown, origin: KeyPath): void {
    const path = [...this.path, ...key.split(".")];
    if (isJsonObject(given)) {
      this.draft.set(path, this.#result[key] ?? map(), origin);
      for (const [name, each] of Object.entries(given)) {
        if (each === null) continue;
        const isPlain = typeof each === "number" || typeof each === "boolean";
        const value = this.#text(isPlain ? String(each) : each, [...origin, name]);
        // As it is written there, and as it is meant: what is no variable in that application is a directory's name.
        const reason =
          key === "env"
            ? (codeVariableReason(name, each, "application") ?? codeVariableReason(name, value))
            : undefined;
        if (reason !== undefined) {
          this.leaveOut(`${reason}, which only your own file may have`, [...origin, name]);
          continue;
        }
        this.draft.set([...path, name], value, [...origin, name]);
      }
    } else if (Array.isArray(given)) {
      this.draft.set(
        path,
        given.map((each, index) => this.#text(each, [...origin, index])),
        origin,
      );
    } else {
      this.draft.set(path, this.#text(given, origin), origin);
    }
  }

  /** For a server that cannot work here. `reason` completes "mcpServers.x.key …". */
  leaveOut(reason: string, origin: KeyPath): void {
    if (!this.isLeftOut) {
      const issue = atKey(origin, `${reason}; the server is left out`);
      this.draft.warnings.push(issue);
      this.draft.leftOut.set(this.name, issue);
    }
    this.isLeftOut = true;
  }

  /** Values that are not text pass unchanged, so that the schema refuses them at their place. */
  #text(value: unknown, origin: KeyPath): unknown {
    if (typeof value !== "string" || this.#convert === undefined) return value;
    const converted = this.#convert(value);
    if (converted.kind === "text") return converted.text;
    this.leaveOut(`needs ${quote(converted.written)}, which only the application knows`, origin);
    return "";
  }
}

/** A map or an object without a prototype, since a server may be called `__proto__`. */
export function map(): JsonObject {
  return Object.create(null) as JsonObject;
}

function visibleName(name: string): string {
  return name.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, "").trim();
}

/** Gives every name once. It counts on, so that many names that become the same cost no more than others. */
class Names {
  readonly #taken: Set<string>;
  readonly #counts = new Map<string, number>();

  constructor(taken: readonly string[]) {
    this.#taken = new Set(taken);
  }

  /** The name itself if it is valid, else one that is like it. */
  fit(given: string): string {
    if (serverNameProblem(given) === undefined) return given;
    const plain = visibleName(given).replaceAll("/", "-");
    const short = Array.from(plain).slice(0, LONGEST_NAME).join("").trim();
    const base = short === "native" ? "native-mcp" : short;
    for (let count = (this.#counts.get(base) ?? 0) + 1; ; count++) {
      const ending = count === 1 ? "" : `-${count}`;
      const name =
        Array.from(base)
          .slice(0, LONGEST_NAME - ending.length)
          .join("") + ending;
      if (this.#taken.has(name)) continue;
      this.#taken.add(name);
      this.#counts.set(base, count);
      return name;
    }
  }
}

/**
 * Suggests only a key that is spelled almost the same: most unknown keys are settings of the application, not mistakes.
 */
function closestKey(key: string, known: readonly string[]): string | undefined {
  const near = closest(key, known);
  if (near === undefined || key.length < 4 || Math.abs(near.length - key.length) > 1) {
    return undefined;
  }
  // One in place of several is another key rather than a typo.
  return `${near}s` === key || `${key}s` === near ? undefined : near;
}

/** The block of our own file that may be meant. A short word is near to too many others. */
function closestBlock(key: string): string | undefined {
  const near = key.length < 4 ? undefined : closest(key, ROOT_KEYS);
  return near !== undefined && Math.abs(near.length - key.length) <= 1 ? near : undefined;
}

function keyOf(path: KeyPath): string {
  return JSON.stringify(path);
}
