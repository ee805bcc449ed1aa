// A server's resources and templates: what makes one of them fit to be listed.

import { isJsonObject, type JsonObject } from "../model/json.ts";
import type { ResourceDefinition, ResourceTemplateDefinition } from "../model/resource.ts";
import { oneLine } from "../util/text.ts";
import { Cleaner } from "./clean-tool.ts";
import { type Fault, type Listed, listPages, type PageRequest } from "./list-pages.ts";
import { isTooDeep } from "./schema-bounds.ts";

export const MAX_RESOURCES = 5000;
const MAX_TEMPLATES = 500;
const MAX_ITEM_BYTES = 64 * 1024;
export const MAX_URI = 4096;
const MAX_NAME = 200;
const MAX_DESCRIPTION = 4 * 1024;
const MAX_TYPE = 100;

/** No URI has any, and they would end the line it is shown on. */
// oxlint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/;

type Redact = (text: string) => string;

export function listResources(
  server: string,
  requestPage: PageRequest,
  redact: Redact,
): Promise<Listed<ResourceDefinition>> {
  return listPages<ResourceDefinition>(
    {
      method: "resources/list",
      key: "resources",
      noun: "resource",
      maxItems: MAX_RESOURCES,
      maxItemBytes: MAX_ITEM_BYTES,
      id: "uri",
      read: readResource,
      clean: (item, report) => clean(item, item.uri, redact, report),
    },
    server,
    requestPage,
  );
}

export function listTemplates(
  server: string,
  requestPage: PageRequest,
  redact: Redact,
): Promise<Listed<ResourceTemplateDefinition>> {
  return listPages<ResourceTemplateDefinition>(
    {
      method: "resources/templates/list",
      key: "resourceTemplates",
      noun: "resource template",
      maxItems: MAX_TEMPLATES,
      maxItemBytes: MAX_ITEM_BYTES,
      id: "uriTemplate",
      read: readTemplate,
      clean: (item, report) => clean(item, item.uriTemplate, redact, report),
    },
    server,
    requestPage,
  );
}

function readResource(item: unknown): ResourceDefinition | Fault {
  if (!isJsonObject(item)) return { fault: "it is not an object" };
  const { uri, size } = item;
  const fault = uriFault(uri, "URI");
  if (fault !== undefined) return fault;
  const about = readAbout(item, uri as string);
  if ("fault" in about) return about;
  const isSize = typeof size === "number" && Number.isFinite(size) && size >= 0;
  return { uri: uri as string, ...about, ...(isSize && { size }) };
}

function readTemplate(item: unknown): ResourceTemplateDefinition | Fault {
  if (!isJsonObject(item)) return { fault: "it is not an object" };
  const { uriTemplate } = item;
  const fault = uriFault(uriTemplate, "URI template");
  if (fault !== undefined) return fault;
  const about = readAbout(item, uriTemplate as string);
  return "fault" in about ? about : { uriTemplate: uriTemplate as string, ...about };
}

function uriFault(uri: unknown, what: string): Fault | undefined {
  if (typeof uri !== "string" || uri === "") return { fault: `it has no ${what}` };
  if (uri.length > MAX_URI) return { fault: `its ${what} is longer than ${MAX_URI} characters` };
  if (CONTROL.test(uri)) return { fault: `its ${what} has control characters` };
  return undefined;
}

type About = Omit<ResourceTemplateDefinition, "uriTemplate">;

/** Servers have been seen to leave out the name. */
function readAbout(item: JsonObject, uri: string): About | Fault {
  const about: About = { name: typeof item.name === "string" && item.name ? item.name : uri };
  for (const key of ["title", "description", "mimeType"] as const) {
    const text = item[key];
    if (typeof text === "string") about[key] = text;
  }
  for (const key of ["annotations", "_meta"] as const) {
    const extra = item[key];
    if (!isJsonObject(extra)) continue;
    if (isTooDeep(extra)) return { fault: `its ${key} nests too deep` };
    about[key] = extra;
  }
  return about;
}

/** Its name too: what is asked for is the URI, which has to stay as it is. */
function clean<Item extends About>(
  item: Item,
  uri: string,
  redact: Redact,
  report: (message: string) => void,
): Item {
  const cleaner = new Cleaner(redact);
  cleaner.look(uri, "URI");
  const { name, title, description, mimeType } = item;
  const cleaned: Item = {
    ...item,
    name: oneLine(cleaner.description(name, "name", MAX_NAME), MAX_NAME),
  };
  if (title !== undefined) cleaned.title = cleaner.title(title, "title");
  if (description !== undefined) {
    cleaned.description = cleaner.description(description, "description", MAX_DESCRIPTION);
  }
  if (mimeType !== undefined) cleaned.mimeType = redact(oneLine(mimeType, MAX_TYPE));
  cleaner.tell(report);
  return cleaned;
}
