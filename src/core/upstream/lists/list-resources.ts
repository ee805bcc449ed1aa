// How a server's resources and resource templates are listed: what makes one valid, and what is cleaned.

import type { JsonObject } from "../../types/json.ts";
import type { ResourceDefinition, ResourceTemplateDefinition } from "../../types/resource.ts";
import { dataWithoutSecrets } from "../../types/without-secrets.ts";
import { oneLine, plainText } from "../../../util/text.ts";
import { dropSecretIcons, readIcons } from "./icons.ts";
import { copyMembers, type ListKind } from "./list-pages.ts";
import type { TextCleaner } from "./text-cleaner.ts";

export const MAX_RESOURCES = 5000;
export const MAX_URI = 4096;
const MAX_NAME = 200;
const MAX_TYPE = 100;
const MAX_ITEM_BYTES = 64 * 1024;

/** Not allowed in a URI, and they would end the line on which it is shown. */
// oxlint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/;

export const RESOURCE_LIST: ListKind<ResourceDefinition> = {
  method: "resources/list",
  key: "resources",
  noun: "resource",
  maxItems: MAX_RESOURCES,
  maxItemBytes: MAX_ITEM_BYTES,
  id: "uri",
  read(item) {
    const { uri, size } = item;
    if (!isText(uri)) return "it has no URI";
    const details = readDetails(item, uri, "URI");
    if (typeof details === "string") return details;
    const isSize = typeof size === "number" && Number.isFinite(size) && size >= 0;
    return { uri, ...details, ...(isSize && { size }) };
  },
  clean: (item, cleaner) => clean(item, item.uri, cleaner),
  withoutSecrets({ uri, ...details }, redact) {
    return { uri, ...dataWithoutSecrets(details, redact) };
  },
};

export const TEMPLATE_LIST: ListKind<ResourceTemplateDefinition> = {
  method: "resources/templates/list",
  key: "resourceTemplates",
  noun: "resource template",
  maxItems: 500,
  maxItemBytes: MAX_ITEM_BYTES,
  id: "uriTemplate",
  read(item) {
    const { uriTemplate } = item;
    if (!isText(uriTemplate)) return "it has no URI template";
    const details = readDetails(item, uriTemplate, "URI template");
    return typeof details === "string" ? details : { uriTemplate, ...details };
  },
  clean: (item, cleaner) => clean(item, item.uriTemplate, cleaner),
  withoutSecrets({ uriTemplate, ...details }, redact) {
    return { uriTemplate, ...dataWithoutSecrets(details, redact) };
  },
};

type ItemDetails = Omit<ResourceTemplateDefinition, "uriTemplate">;

function readDetails(item: JsonObject, uri: string, what: string): ItemDetails | string {
  if (uri.length > MAX_URI) return `its ${what} is longer than ${MAX_URI} characters`;
  if (CONTROL.test(uri)) return `its ${what} has control characters`;
  // Some servers leave out the name.
  const details: ItemDetails = {
    name: isText(item.name) ? item.name : uri,
    ...readIcons(item),
  };
  const texts = ["title", "description", "mimeType"] as const;
  return copyMembers(item, details, texts, ["annotations", "_meta"]) ?? details;
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

/**
 * The name may change too. Only the URI has to stay as it is, because resources are requested by it: the board
 * shows it without secrets, and knows which one is meant.
 */
function clean<Item extends ItemDetails>(item: Item, uri: string, cleaner: TextCleaner): Item {
  cleaner.check(uri, "URI");
  const { name, mimeType } = item;
  const cleaned: Item = {
    ...item,
    name: cleaner.title(name, "name", MAX_NAME),
    ...cleaner.texts(item, { maxTitle: MAX_NAME }),
  };
  dropSecretIcons(cleaned, cleaner.redact);
  if (mimeType !== undefined)
    cleaned.mimeType = oneLine(cleaner.redact(plainText(mimeType)), MAX_TYPE);
  return cleaned;
}
