// Caches tool lists on disk, by the hash of the server's definition, so that tools can be listed before their
// server has started.

import { createHash } from "node:crypto";
import { join } from "node:path";
import type { ServerIdentity } from "../model/connection.ts";
import { isJsonObject } from "../model/json.ts";
import type { ServerDefinition } from "../model/server-definition.ts";
import type { ToolDefinition } from "../model/tool.ts";
import { readJsonFile, writeJsonFile } from "../state/json-file.ts";

const FORMAT = 1;
const MAX_BYTES = 32 * 1024 * 1024;

export interface CachedTools {
  savedAt: number;
  identity: ServerIdentity;
  tools: ToolDefinition[];
}

export class CatalogCache {
  readonly #directory: string;

  constructor(stateDir: string) {
    this.#directory = join(stateDir, "catalog");
  }

  async read(hash: string): Promise<CachedTools | undefined> {
    const value = await readJsonFile(this.#path(hash), MAX_BYTES);
    if (!isJsonObject(value) || value.format !== FORMAT || typeof value.savedAt !== "number") {
      return undefined;
    }
    if (!isIdentity(value.identity) || !Array.isArray(value.tools)) return undefined;
    if (!value.tools.every(isToolDefinition)) return undefined;
    return { savedAt: value.savedAt, identity: value.identity, tools: value.tools };
  }

  async write(hash: string, entry: CachedTools): Promise<void> {
    await writeJsonFile(this.#path(hash), { format: FORMAT, ...entry });
  }

  #path(hash: string): string {
    return join(this.#directory, `${hash}.json`);
  }
}

/** Includes `cwd`, since a relative path in the definition means another server in another directory. */
export function definitionHash(definition: ServerDefinition, cwd: string): string {
  const { endpoint, protocol, name } = definition;
  return createHash("sha256")
    .update(JSON.stringify([name, endpoint, protocol, cwd]))
    .digest("hex")
    .slice(0, 32);
}

function isIdentity(value: unknown): value is ServerIdentity {
  return (
    isJsonObject(value) &&
    typeof value.protocolVersion === "string" &&
    (value.era === "legacy" || value.era === "modern")
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
