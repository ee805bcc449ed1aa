// The tool for text.

import type { McpServer } from "@modelcontextprotocol/server";
import * as z from "zod";
import { duration } from "../../util/text.ts";
import { measureText } from "../text.ts";
import { READ_ONLY, reply } from "./reply.ts";

const LONGEST_TEXT = 200_000;

const count = z.int().min(0);

export function addTextTool(server: McpServer): void {
  server.registerTool(
    "text_statistics",
    {
      title: "Text statistics",
      description:
        "Counts the characters (as a reader sees them), words, sentences and paragraphs of a text, " +
        "estimates its reading time and names its most frequent words.",
      inputSchema: z.object({
        text: z.string().max(LONGEST_TEXT),
        top: z.int().min(0).max(100).default(5).describe("How many frequent words to name."),
        wordsPerMinute: z.int().min(1).max(5000).default(238).describe("The reading speed."),
      }),
      outputSchema: z.object({
        characters: count,
        charactersWithoutSpaces: count,
        words: count,
        uniqueWords: count,
        sentences: count,
        paragraphs: count,
        lines: count,
        bytes: count,
        readingSeconds: count,
        topWords: z.array(z.object({ word: z.string(), count })),
      }),
      annotations: READ_ONLY,
    },
    ({ text, top, wordsPerMinute }) => {
      const statistics = measureText(text, { top, wordsPerMinute });
      const { words, characters, sentences, paragraphs, readingSeconds, topWords } = statistics;
      const lines = [
        `Words: ${words}, sentences: ${sentences}, paragraphs: ${paragraphs}, characters: ${characters}.`,
        `Reading time: ${duration(readingSeconds * 1000)}.`,
      ];
      if (topWords.length > 0) {
        const named = topWords.map((entry) => `${entry.word} (${entry.count})`);
        lines.push(`Most frequent: ${named.join(", ")}.`);
      }
      return reply(lines.join("\n"), statistics);
    },
  );
}
