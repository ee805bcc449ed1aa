// Caches tool lists on disk, so that tools can be listed before their server has started. A list is for one
// definition of the server and for the capabilities that the host advertised to it.

import { createHash } from "node:crypto";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { ServerIdentity, ToolList } from "../model/connection.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import { isJsonObject, type JsonObject } from "../model/json.ts";
import type { ServerDefinition } from "../model/server-definition.ts";
import type { ToolDefinition } from "../model/tool.ts";
import { readJsonFile, writeJsonFile } from "../state/json-file.ts";
import { canonicalJson } from "../util/canonical-json.ts";

/** Up to 1, lists were kept with the secrets that a server had put into its schemas. */
const FORMAT = 2;
const MAX_BYTES = 32 * 1024 * 1024;

export interface CachedTools extends Pick<ToolList, "tools" | "capabilities"> {
  savedAt: number;
  identity: ServerIdentity;
  /** What was found in the definitions. Absent if nobody has searched them. */
  found?: Diagnostic[];
}

/** How a server was reached, whatever was advertised to it. */
export type Reached = Pick<ServerIdentity, "era" | "isEraDoubtful" | "transport">;

export class CatalogCache {
  readonly #directory: string;

  constructor(stateDir: string) {
    this.#directory = join(stateDir, "catalog");
  }

  /** `definition` is the hash of the server's definition. */
  read(definition: string, capabilities: JsonObject): Promise<CachedTools | undefined> {
    return this.#read(fileName(definition, capabilities));
  }

  /** How the server was reached the last time, from a list that was made for other capabilities. */
  async lastReached(definition: string): Promise<Reached | undefined> {
    const names = await readdir(this.#directory).catch(() => []);
    const own = names.filter((name) => name.startsWith(definition));
    const entries = await Promise.all(own.map((name) => this.#read(name)));
    const newest = entries.reduce(
      (latest, each) => ((each?.savedAt ?? 0) > (latest?.savedAt ?? 0) ? each : latest),
      undefined,
    );
    return newest?.identity;
  }

  async write(definition: string, entry: CachedTools): Promise<void> {
    const path = join(this.#directory, fileName(definition, entry.capabilities));
    await writeJsonFile(path, { format: FORMAT, ...entry });
  }

  async #read(name: string): Promise<CachedTools | undefined> {
    const path = join(this.#directory, name);
    const value = await readJsonFile(path, MAX_BYTES);
    if (!isJsonObject(value)) return undefined;
    if (value.format === FORMAT - 1) await rm(path, { force: true }).catch(() => {});
    if (value.format !== FORMAT || typeof value.savedAt !== "number") return undefined;
    const { savedAt, identity, capabilities, tools, found } = value;
    if (!isIdentity(identity) || !isJsonObject(capabilities) || !Array.isArray(tools)) {
      return undefined;
    }
    if (!tools.every(isToolDefinition)) return undefined;
    const isSearched = Array.isArray(found) && found.every(isDiagnostic);
    return { savedAt, identity, capabilities, tools, ...(isSearched && { found }) };
  }
}

function fileName(definition: string, capabilities: JsonObject): string {
  return `${definition}-${hash(canonicalJson(capabilities)).slice(0, 8)}.json`;
}

/** Includes `cwd`, since a relative path in the definition means another server in another directory. */
export function definitionHash(definition: ServerDefinition, cwd: string): string {
  const { target, protocol, name } = definition;
  return hash(JSON.stringify([name, target, protocol, cwd])).slice(0, 32);
}

function hash(text: string): string {
  return createHash("sha256").update(text).digest("hex");
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
