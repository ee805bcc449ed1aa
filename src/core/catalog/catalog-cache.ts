// Caches tool lists on disk, so that tools can be listed before their server has started. A list is for one
// definition of the server and for the capabilities that the host advertised to it.

import { hash } from "node:crypto";
import { closeSync, constants, openSync, readSync, statSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { ServerIdentity, ToolList } from "../types/connection.ts";
import type { Diagnostic } from "../types/diagnostic.ts";
import { isJsonObject, type JsonObject } from "../types/json.ts";
import type { ServerDefinition } from "../types/server-definition.ts";
import type { ToolDefinition } from "../types/tool.ts";
import { readJsonFile, writeJsonFile } from "../state/json-file.ts";
import { boundedMap, READERS } from "../../util/bounded-map.ts";
import { canonicalJson } from "../../util/canonical-json.ts";
import { namesIn } from "../../util/names-in.ts";

const FORMAT = 1;
const MAX_BYTES = 32 * 1024 * 1024;

export interface CachedTools extends Pick<ToolList, "tools" | "capabilities"> {
  savedAt: number;
  /** The hash of the definition, in whatever directory the server was started. */
  origin: string;
  identity: ServerIdentity;
  /** Suspicious text in the definitions. */
  found: Diagnostic[];
  /** The server has failed since, or to list them: nobody knows whether it still has these tools. */
  isDoubted?: boolean;
}

/** How a server was reached, whatever was advertised to it. */
export type Reached = Pick<ServerIdentity, "era" | "isEraDoubtful" | "transport">;

export class CatalogCache {
  readonly #directory: string;
  #listing: { changedAt: number; byDefinition: Promise<Map<string, string[]>> } | undefined;

  constructor(stateDir: string) {
    this.#directory = join(stateDir, "catalog");
  }

  /** `definition` is the hash of the server's definition. */
  read(definition: string, capabilities: JsonObject): Promise<CachedTools | undefined> {
    return this.#read(fileName(definition, capabilities));
  }

  /** The newest list of the server, whatever was advertised to it. */
  async readAny(definition: string): Promise<CachedTools | undefined> {
    const own = (await this.#names()).get(definition) ?? [];
    const entries = await boundedMap(own, READERS, (name) => this.#read(name));
    return entries.reduce(
      (latest, each) => ((each?.savedAt ?? 0) > (latest?.savedAt ?? 0) ? each : latest),
      undefined,
    );
  }

  /** The files of all servers, by the hash of the definition. Read again only after a list was added. */
  #names(): Promise<Map<string, string[]>> {
    const changedAt = whenChanged(this.#directory);
    if (this.#listing?.changedAt !== changedAt) {
      const names = readdir(this.#directory).catch(() => []);
      this.#listing = { changedAt, byDefinition: names.then(byDefinition) };
    }
    return this.#listing.byDefinition;
  }

  async write(definition: string, entry: CachedTools): Promise<void> {
    const path = join(this.#directory, fileName(definition, entry.capabilities));
    const { savedAt, origin, ...rest } = entry;
    // In this order, so that `newest` need not read whole files.
    await writeJsonFile(path, { format: FORMAT, savedAt, origin, ...rest });
    this.#listing = undefined;
  }

  /** Notes that the server has failed since it listed its tools. `write` takes it back. */
  async doubt(definition: string): Promise<void> {
    const own = (await this.#names()).get(definition) ?? [];
    await boundedMap(own, READERS, async (name) => {
      const entry = await this.#read(name);
      if (entry === undefined || entry.isDoubted) return;
      await this.write(definition, { ...entry, isDoubted: true });
    });
  }

  /** The newest list of each of these servers, in whatever directory and with whatever capabilities it was started. */
  async newest(origins: readonly string[]): Promise<Map<string, CachedTools>> {
    const wanted = new Map(origins.map((origin) => [origin, { name: "", savedAt: -1 }]));
    for (const name of namesIn(this.#directory)) {
      const { origin, savedAt } = headOf(join(this.#directory, name)) ?? {};
      const before = origin === undefined ? undefined : wanted.get(origin);
      if (before === undefined || savedAt === undefined || savedAt <= before.savedAt) continue;
      Object.assign(before, { name, savedAt });
    }
    const found = [...wanted].filter(([, { name }]) => name !== "");
    const lists = await boundedMap(found, READERS, ([, { name }]) => this.#read(name));
    return new Map(
      found.flatMap(([origin], index) => {
        const list = lists[index];
        return list === undefined ? [] : [[origin, list]];
      }),
    );
  }

  async #read(name: string): Promise<CachedTools | undefined> {
    const path = join(this.#directory, name);
    const value = await readJsonFile(path, MAX_BYTES);
    if (!isJsonObject(value)) return undefined;
    const { format, savedAt, origin, identity, capabilities, tools, found, isDoubted } = value;
    if (format !== FORMAT || typeof savedAt !== "number" || typeof origin !== "string") {
      return undefined;
    }
    if (!isIdentity(identity) || !isJsonObject(capabilities)) return undefined;
    if (!Array.isArray(tools) || !tools.every(isToolDefinition)) return undefined;
    if (!Array.isArray(found) || !found.every(isDiagnostic)) return undefined;
    const list = { savedAt, origin, identity, capabilities, tools, found };
    return isDoubted === true ? { ...list, isDoubted } : list;
  }
}

function byDefinition(names: readonly string[]): Map<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const name of names) {
    const definition = name.slice(0, name.indexOf("-"));
    const group = groups.get(definition);
    if (group === undefined) groups.set(definition, [name]);
    else group.push(name);
  }
  return groups;
}

function whenChanged(directory: string): number {
  try {
    return statSync(directory, { throwIfNoEntry: false })?.mtimeMs ?? -1;
  } catch {
    return -1;
  }
}

const HEAD = new RegExp(`^\\{"format":${FORMAT},"savedAt":(\\d+),"origin":"([\\da-f]{1,64})"`);

/** How a file begins that `write` has written. */
function headOf(path: string): Pick<CachedTools, "origin" | "savedAt"> | undefined {
  const buffer = Buffer.alloc(128);
  try {
    const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const length = readSync(file, buffer, 0, buffer.length, 0);
      const [, savedAt, origin] = HEAD.exec(buffer.toString("latin1", 0, length)) ?? [];
      return origin === undefined ? undefined : { savedAt: Number(savedAt), origin };
    } finally {
      closeSync(file);
    }
  } catch {
    return undefined;
  }
}

function fileName(definition: string, capabilities: JsonObject): string {
  return `${definition}-${hash("sha256", canonicalJson(capabilities)).slice(0, 8)}.json`;
}

/** Includes `cwd`, since a relative path in the definition means another server in another directory. */
export function definitionHash(definition: ServerDefinition, cwd: string): string {
  const { target, protocol, name } = definition;
  return hash("sha256", JSON.stringify([name, target, protocol, cwd])).slice(0, 32);
}

function isIdentity(value: unknown): value is ServerIdentity {
  return (
    isJsonObject(value) &&
    typeof value.protocolVersion === "string" &&
    (value.era === "legacy" || value.era === "modern")
  );
}

function isDiagnostic(value: unknown): value is Diagnostic {
  return (
    isJsonObject(value) && typeof value.server === "string" && typeof value.message === "string"
  );
}

function isToolDefinition(value: unknown): value is ToolDefinition {
  return (
    isJsonObject(value) &&
    typeof value.name === "string" &&
    isJsonObject(value.inputSchema) &&
    (value.description === undefined || typeof value.description === "string")
  );
}
