// Keeps the resources, templates and prompts that servers have listed on disk, so that they can be listed before the
// server has started. Lists are for one definition of the server.

import { join } from "node:path";
import { isJsonObject, type JsonObject } from "../types/json.ts";
import type { PromptDefinition } from "../types/prompt.ts";
import type { ResourceDefinition, ResourceTemplateDefinition } from "../types/resource.ts";
import type { PromptList, ResourceList } from "../types/server-content.ts";
import { readJsonFile, writeJsonFile } from "../state/json-file.ts";

const FORMAT = 1;
const MAX_BYTES = 32 * 1024 * 1024;

/** What a server has listed; a list is absent that nobody has asked for. */
export interface ListedContents {
  resources?: ResourceList | undefined;
  prompts?: PromptList | undefined;
}

export class ContentFiles {
  readonly #directory: string;

  constructor(stateDir: string) {
    this.#directory = join(stateDir, "content");
  }

  /** `definition` is the hash of the server's definition. Empty if there is nothing that can be used. */
  async read(definition: string): Promise<ListedContents> {
    const value = await readJsonFile(this.#path(definition), MAX_BYTES);
    if (!isJsonObject(value) || value.format !== FORMAT) return {};
    const resources = listIn<ResourceDefinition>(value, "resources", "uri");
    const templates = listIn<ResourceTemplateDefinition>(value, "templates", "uriTemplate");
    const prompts = listIn<PromptDefinition>(value, "prompts", "name");
    return {
      ...(resources && templates && { resources: { resources, templates, diagnostics: [] } }),
      ...(prompts && { prompts: { prompts, diagnostics: [] } }),
    };
  }

  async write(definition: string, { resources, prompts }: ListedContents): Promise<void> {
    await writeJsonFile(this.#path(definition), {
      format: FORMAT,
      ...(resources && { resources: resources.resources, templates: resources.templates }),
      ...(prompts && { prompts: prompts.prompts }),
    });
  }

  #path(definition: string): string {
    return join(this.#directory, `${definition}.json`);
  }
}

/** Undefined unless each item has what every listed item has. */
function listIn<Item extends { name: string }>(
  value: JsonObject,
  key: string,
  id: string & keyof Item,
): Item[] | undefined {
  const list = value[key];
  const isItem = (each: unknown): each is Item =>
    isJsonObject(each) && typeof each[id] === "string" && typeof each.name === "string";
  return Array.isArray(list) && list.every(isItem) ? list : undefined;
}
