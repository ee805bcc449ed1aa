// What the demo offers to read: the documentation, and the units as data.

import type { McpServer } from "@modelcontextprotocol/server";
import { ResourceNotFoundError, ResourceTemplate } from "@modelcontextprotocol/server";
import { docUri, loadDocs } from "./docs.ts";
import { CATEGORIES, UNITS } from "./units.ts";

const MARKDOWN = "text/markdown";
const JSON_TYPE = "application/json";
const UNITS_URI = "plugboard://units";

export function addResources(server: McpServer, root: string): void {
  addDocs(server, root);
  addUnits(server);
}

function addDocs(server: McpServer, root: string): void {
  const template = new ResourceTemplate("plugboard://docs/{name}", {
    list: async () => {
      const docs = await loadDocs(root);
      return {
        resources: docs.map(({ name, title, text }) => ({
          uri: docUri(name),
          name,
          title,
          size: Buffer.byteLength(text),
        })),
      };
    },
    complete: {
      name: async (value) =>
        startingWith(
          value,
          (await loadDocs(root)).map(({ name }) => name),
        ),
    },
  });
  const about = {
    title: "Plugboard documentation",
    description: "One page of Plugboard's documentation.",
    mimeType: MARKDOWN,
  };
  server.registerResource("docs", template, about, async (uri, variables) => {
    const wanted = decodeURIComponent(String(variables.name)).toLowerCase();
    const doc = (await loadDocs(root)).find(({ name }) => name === wanted);
    if (doc === undefined) throw new ResourceNotFoundError(uri.href);
    return { contents: [{ uri: uri.href, mimeType: MARKDOWN, text: doc.text }] };
  });
}

function addUnits(server: McpServer): void {
  const about = {
    title: "Units",
    description:
      "Every unit that convert_units knows: symbol, name, other spellings, exact factor.",
    mimeType: JSON_TYPE,
  };
  server.registerResource("units", UNITS_URI, about, (uri) => json(uri, UNITS));

  const template = new ResourceTemplate(`${UNITS_URI}/{category}`, {
    list: undefined,
    complete: { category: (value) => startingWith(value, CATEGORIES) },
  });
  const some = { ...about, title: "Units of one category" };
  server.registerResource("units-of-category", template, some, (uri, { category }) => {
    const units = UNITS.filter((unit) => unit.category === category);
    if (units.length === 0) throw new ResourceNotFoundError(uri.href);
    return json(uri, units);
  });
}

function json(
  uri: URL,
  value: unknown,
): { contents: { uri: string; mimeType: string; text: string }[] } {
  return {
    contents: [{ uri: uri.href, mimeType: JSON_TYPE, text: JSON.stringify(value, null, 2) }],
  };
}

function startingWith(value: string, choices: readonly string[]): string[] {
  return choices.filter((choice) => choice.startsWith(value.toLowerCase()));
}
