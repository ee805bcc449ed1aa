// Lists a server's resources and resource templates, and checks and cleans each.

import { isJsonObject, type JsonObject } from "../../model/json.ts";
import type { ResourceDefinition, ResourceTemplateDefinition } from "../../model/resource.ts";
import { isTooDeep } from "../../util/json-depth.ts";
import { oneLine } from "../../util/text.ts";
import { type ItemFault, type ListedItems, listPages, type PageRequest } from "./list-pages.ts";
import { TextCleaner } from "./text-cleaner.ts";

export const MAX_RESOURCES = 5000;
const MAX_TEMPLATES = 500;
const MAX_ITEM_BYTES = 64 * 1024;
export const MAX_URI = 4096;
const MAX_NAME = 200;
const MAX_DESCRIPTION = 4 * 1024;
const MAX_TYPE = 100;

/** Not allowed in a URI, and they would end the line on which it is shown. */
// oxlint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/;

export function listResources(
  server: string,
  requestPage: PageRequest,
  redact: (text: string) => string,
): Promise<ListedItems<ResourceDefinition>> {
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
  redact: (text: string) => string,
): Promise<ListedItems<ResourceTemplateDefinition>> {
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

function readResource(item: unknown): ResourceDefinition | ItemFault {
  if (!isJsonObject(item)) return { fault: "it is not an object" };
  const { uri, size } = item;
  const fault = uriFault(uri, "URI");
  if (fault !== undefined) return fault;
  const details = readDetails(item, uri as string);
  if ("fault" in details) return details;
  const isSize = typeof size === "number" && Number.isFinite(size) && size >= 0;
  return { uri: uri as string, ...details, ...(isSize && { size }) };
}

function readTemplate(item: unknown): ResourceTemplateDefinition | ItemFault {
  if (!isJsonObject(item)) return { fault: "it is not an object" };
  const { uriTemplate } = item;
  const fault = uriFault(uriTemplate, "URI template");
  if (fault !== undefined) return fault;
  const details = readDetails(item, uriTemplate as string);
  return "fault" in details ? details : { uriTemplate: uriTemplate as string, ...details };
}

function uriFault(uri: unknown, what: string): ItemFault | undefined {
  if (typeof uri !== "string" || uri === "") return { fault: `it has no ${what}` };
  if (uri.length > MAX_URI) return { fault: `its ${what} is longer than ${MAX_URI} characters` };
  if (CONTROL.test(uri)) return { fault: `its ${what} has control characters` };
  return undefined;
}

type ItemDetails = Omit<ResourceTemplateDefinition, "uriTemplate">;

/** Some servers leave out the name. */
function readDetails(item: JsonObject, uri: string): ItemDetails | ItemFault {
  const details: ItemDetails = {
    name: typeof item.name === "string" && item.name ? item.name : uri,
  };
  for (const key of ["title", "description", "mimeType"] as const) {
    const text = item[key];
    if (typeof text === "string") details[key] = text;
  }
  for (const key of ["annotations", "_meta"] as const) {
    const extra = item[key];
    if (!isJsonObject(extra)) continue;
    if (isTooDeep(extra)) return { fault: `"${key}" has too many levels` };
    details[key] = extra;
  }
  return details;
}

/** The name may change too. Only the URI has to stay as it is, because resources are requested by it. */
function clean<Item extends ItemDetails>(
  item: Item,
  uri: string,
  redact: (text: string) => string,
  report: (message: string) => void,
): Item {
  const cleaner = new TextCleaner(redact);
  cleaner.check(uri, "URI");
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
  cleaner.reportTo(report);
  return cleaned;
}
