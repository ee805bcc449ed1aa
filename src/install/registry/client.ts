// Asks an MCP registry over the guarded network: for the servers that match some words, and for one version of a
// server. Bounds what a registry may send and how long it may take.

import { PlugboardError } from "../../core/types/errors.ts";
import { isJsonObject, type JsonObject, tryParseJson } from "../../core/types/json.ts";
import { createFetch, type GuardedFetch } from "../../core/net/fetch.ts";
import { plainHost } from "../../core/net/host-list.ts";
import { secureUrlProblem } from "../../core/net/secure-url.ts";
import type { Clock } from "../../util/clock.ts";
import type { Environment } from "../../util/environment.ts";
import { measureJson } from "../../util/measure-json.ts";
import { oneLine } from "../../util/text.ts";
import { readEntry, type RegistryEntry } from "./server-json.ts";

/** The one that the MCP project runs. */
export const OFFICIAL_REGISTRY = "https://registry.modelcontextprotocol.io";

const DEADLINE_MS = 20_000;
const MAX_BYTES = 8 * 1024 * 1024;
/** A page of a hundred servers has some thousand values. A gateway asks too, and would stand still for seconds for a million. */
const MOST_JSON = { values: 200_000, depth: 200 };
/** What registries give at most. */
const PAGE = 100;
const MOST_PAGES = 10;
const LONGEST_CURSOR = 2000;
const MOST_VERSIONS = 10;

export interface RegistryOptions {
  /** The address, without the path of the API. */
  url: string;
  /** Hosts and ranges that are allowed besides those on the internet. The registry's own host is, since you named it. */
  networkAllow?: readonly string[];
  env: Environment;
  clock: Clock;
  signal: AbortSignal;
  /** Milliseconds for one request. */
  deadline?: number;
}

export interface FoundServers {
  entries: RegistryEntry[];
  /** There are more than these. */
  hasMore: boolean;
  /** Entries that are left out, because they are not valid. */
  broken: number;
}

export class RegistryClient {
  /** As it is kept in the provenance of a server. */
  readonly url: string;
  readonly #options: RegistryOptions;
  readonly #fetch: GuardedFetch;

  /** Throws INVALID_ARGUMENTS for an address that cannot be that of a registry. */
  constructor(options: RegistryOptions) {
    const { networkAllow = [], env, clock } = options;
    const problem = secureUrlProblem(options.url);
    if (problem !== undefined) {
      const message = `the registry '${oneLine(options.url, 200)}' ${problem}`;
      throw new PlugboardError("INVALID_ARGUMENTS", message);
    }
    const { href, hostname } = new URL(options.url);
    this.url = href.replace(/\/+$/, "");
    this.#options = options;
    const policy = {
      allowInsecure: false,
      allowPrivate: false,
      allow: [...networkAllow, plainHost(hostname)],
    };
    this.#fetch = createFetch({ policy, env, clock });
  }

  close(): Promise<void> {
    return this.#fetch.close();
  }

  /** The newest versions of at most `limit` servers that have all the words in their name, title or description. */
  async search(words: readonly string[], limit: number): Promise<FoundServers> {
    // A registry looks for one text, so it gets the word that tells most.
    const [longest = "", ...rest] = words.toSorted((a, b) => b.length - a.length);
    const found = new Map<string, RegistryEntry>();
    let broken = 0;
    let cursor: string | undefined;
    for (let page = 0; page < MOST_PAGES; page += 1) {
      const answer = await this.#page({ search: longest, version: "latest", cursor });
      for (const value of answer.servers) {
        const entry = readEntry(value);
        if (typeof entry === "string") broken += 1;
        else if (entry.status !== "deleted" && hasAll(entry, rest)) keepNewest(found, entry);
      }
      cursor = answer.nextCursor;
      if (cursor === undefined || found.size > limit) break;
    }
    const entries = [...found.values()].slice(0, limit);
    return { entries, hasMore: cursor !== undefined || found.size > limit, broken };
  }

  /**
   * One version of a server, by default the newest. Rejects with UNKNOWN_SERVER if the registry does not have it. A
   * version that was deleted is an entry too.
   */
  async get(name: string, version = "latest"): Promise<RegistryEntry> {
    const path = `/v0.1/servers/${encodeURIComponent(name)}/versions/${encodeURIComponent(version)}`;
    const isLatest = version === "latest";
    const withDeleted = { include_deleted: "true" };
    let answer = await this.#json(path, isLatest ? {} : withDeleted);
    // All of its versions may have been deleted.
    if (answer === undefined && isLatest) answer = await this.#json(path, withDeleted);
    if (answer === undefined) throw await this.#unknown(name, isLatest ? undefined : version);
    const entry = readEntry(answer);
    if (typeof entry === "string") throw this.#wrong(entry);
    const { server } = entry;
    if (server.name !== name) throw this.#wrong(`answers with another server than ${name}`);
    if (!isLatest && server.version !== version) {
      throw this.#wrong(`answers with another version than ${oneLine(version, 100)}`);
    }
    return entry;
  }

  async #page(
    query: Record<string, string | undefined>,
  ): Promise<{ servers: unknown[]; nextCursor?: string | undefined }> {
    const answer = await this.#json("/v0.1/servers", { ...query, limit: String(PAGE) });
    const { servers, metadata } = isJsonObject(answer) ? answer : ({} as JsonObject);
    // A registry that has none may leave the list out.
    if (!Array.isArray(servers) && servers !== null && servers !== undefined) {
      throw this.#wrong("answers with something that is not a list of servers");
    }
    if (answer === undefined || (servers === undefined && metadata === undefined)) {
      throw this.#wrong("has no list of servers at that address");
    }
    const next = isJsonObject(metadata) ? metadata["nextCursor"] : undefined;
    const isCursor = typeof next === "string" && next !== "" && next.length <= LONGEST_CURSOR;
    return {
      servers: (servers ?? []).slice(0, PAGE),
      // The same one again would lead nowhere.
      nextCursor: isCursor && next !== query["cursor"] ? next : undefined,
    };
  }

  /** With the versions that there are, if only that one is missing. */
  async #unknown(name: string, version: string | undefined): Promise<PlugboardError> {
    const where = `the registry ${this.url}`;
    const [, last = name] = name.split("/");
    const none = new PlugboardError("UNKNOWN_SERVER", `${where} has no server ${name}`, {
      hint: `to look for it: plugboard registry ${last}`,
    });
    if (version === undefined) return none;
    const answer = await this.#json(`/v0.1/servers/${encodeURIComponent(name)}/versions`, {});
    const list = isJsonObject(answer) && Array.isArray(answer["servers"]) ? answer["servers"] : [];
    const known = list.slice(0, MOST_VERSIONS).flatMap((value: unknown) => {
      const entry = readEntry(value);
      return typeof entry === "string" ? [] : entry.server.version;
    });
    if (known.length === 0) return none;
    return new PlugboardError(
      "UNKNOWN_SERVER",
      `${where} has no version ${oneLine(version, 100)} of ${name}`,
      { hint: `it has ${known.join(", ")}${list.length > known.length ? " and older ones" : ""}` },
    );
  }

  /** Undefined for 404. */
  async #json(path: string, query: Record<string, string | undefined>): Promise<unknown> {
    const { signal, deadline = DEADLINE_MS } = this.#options;
    const url = new URL(`${this.url}${path}`);
    for (const [key, value] of Object.entries(query)) {
      if (value !== undefined && value !== "") url.searchParams.set(key, value);
    }
    const fetched = this.#fetch(url.href, {
      method: "GET",
      headers: { accept: "application/json" },
      signal,
      deadline,
      sameOrigin: true,
      maxBodyBytes: MAX_BYTES,
    });
    const response = await this.#explaining(fetched);
    if (response.status === 404) {
      response.cancel();
      return undefined;
    }
    if (response.status !== 200) {
      response.cancel();
      const message = `the registry ${this.url} answered with HTTP ${response.status}`;
      const hint = response.status >= 500 ? "try again later" : "check its address (--registry)";
      throw new PlugboardError("HTTP_STATUS", message, { status: response.status, hint });
    }
    const text = await this.#explaining(response.text());
    const { values, depth } = measureJson(text, MOST_JSON);
    if (values > MOST_JSON.values || depth > MOST_JSON.depth) {
      throw this.#wrong("answers with more values, or deeper ones, than any server has");
    }
    const value = tryParseJson(text);
    if (value === undefined) throw this.#wrong("answers with something that is not JSON");
    return value;
  }

  /** Says what the network's failures mean for the registry, which has no settings as a server has them. */
  async #explaining<Answer>(asked: Promise<Answer>): Promise<Answer> {
    try {
      return await asked;
    } catch (error) {
      if (!(error instanceof PlugboardError) || error.code === "CANCELLED") throw error;
      const { code, message, hint } = error;
      const isForServer = hint === undefined || error.isHintForServer;
      throw new PlugboardError(code, `the registry ${this.url} gave no usable answer: ${message}`, {
        cause: error,
        hint: isForServer
          ? "check its address (--registry), and whether this machine is online"
          : hint,
      });
    }
  }

  #wrong(what: string): PlugboardError {
    return new PlugboardError("PROTOCOL", `the registry ${this.url} ${what}`);
  }
}

function hasAll({ server }: RegistryEntry, words: readonly string[]): boolean {
  const { name, title = "", description } = server;
  const searched = `${name} ${title} ${description}`.toLowerCase();
  return words.every((word) => searched.includes(word.toLowerCase()));
}

/** Not every registry can be asked for the newest version alone. Without a word on it, the first one counts. */
function keepNewest(found: Map<string, RegistryEntry>, entry: RegistryEntry): void {
  const { name } = entry.server;
  if (!found.has(name) || entry.isLatest === true) found.set(name, entry);
}
