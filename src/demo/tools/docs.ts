// The tool for questions about Plugboard itself.

import type { McpServer } from "@modelcontextprotocol/server";
import * as z from "zod";
import { loadDocs } from "../docs.ts";
import { searchDocs } from "../docs-search.ts";
import { READ_ONLY, refusal, reply } from "./reply.ts";

export function addDocsTool(server: McpServer, root: string): void {
  server.registerTool(
    "search_docs",
    {
      title: "Search the Plugboard docs",
      description:
        "Searches the documentation of Plugboard (README, guides, changelog) and returns the best " +
        "passages with their headings. Read a whole page as the resource in `uri`.",
      inputSchema: z.object({
        query: z.string().min(1).max(500).describe("A few words, such as: server timeout."),
        limit: z.int().min(1).max(20).default(5),
      }),
      outputSchema: z.object({
        hits: z.array(
          z.object({
            doc: z.string(),
            uri: z.string(),
            heading: z.string(),
            excerpt: z.string(),
            score: z.number(),
          }),
        ),
      }),
      annotations: READ_ONLY,
    },
    async ({ query, limit }) => {
      const docs = await loadDocs(root);
      if (docs.length === 0) return refusal("This installation came without its documentation.");
      const hits = searchDocs(docs, query, limit);
      const text = hits.map(
        ({ doc, uri, heading, excerpt }) => `## ${heading}\n${doc}, ${uri}\n\n${excerpt}`,
      );
      const pages = docs.map(({ title }) => title).join(", ");
      const nothing = `Nothing found for "${query}". Pages: ${pages}.`;
      return reply(text.join("\n\n") || nothing, { hits });
    },
  );
}
