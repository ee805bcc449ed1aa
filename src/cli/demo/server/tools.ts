// The demo's tools. Each answers in words for a person or a model and in data for a program; bad input becomes
// an error result, because the SDK turns what a tool throws into one.

import type { CallToolResult, McpServer, ServerContext } from "@modelcontextprotocol/server";
import * as z from "zod";
import { type Clock, pause } from "../../../util/clock.ts";
import { plural } from "../../../util/text.ts";
import { Hit, loadDocs, searchDocs } from "./docs.ts";
import { findZone, LocalTime, readTime, timeIn } from "./time.ts";

/** They change nothing and reach nothing outside the package. */
const annotations = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};

const ZONE = "An IANA time zone such as Europe/Berlin, UTC, or a city such as Tokyo.";

const LONGEST_COUNTDOWN_MS = 10_000;

export function addTools(server: McpServer, clock: Clock, root: string): void {
  server.registerTool(
    "current_time",
    {
      title: "Current time",
      description: "Tells the current date and time in a time zone, with its offset from UTC.",
      inputSchema: z.object({ zone: z.string().default("UTC").describe(ZONE) }),
      outputSchema: LocalTime,
      annotations,
    },
    ({ zone }) => {
      const time = timeIn(findZone(zone), clock.now());
      return reply(inWords(time), time);
    },
  );

  server.registerTool(
    "convert_time",
    {
      title: "Convert time",
      description:
        "Converts a date and time from one time zone to one or several others. Knows daylight saving time.",
      inputSchema: z.object({
        time: z
          .string()
          .describe(
            "Such as 2026-03-29T14:30, 14:30 (today) or now. An offset in it wins over `from`.",
          ),
        from: z.string().default("UTC").describe(`The zone of that time. ${ZONE}`),
        to: z.string().describe(`Several are separated by commas. ${ZONE}`),
      }),
      outputSchema: z.object({ from: LocalTime, to: z.array(LocalTime) }),
      annotations,
    },
    (args) => {
      const zone = findZone(args.from);
      const targets = args.to.split(",").map(findZone);
      const at = readTime(args.time, zone, clock.now());
      const from = timeIn(zone, at);
      const to = targets.map((target) => timeIn(target, at));
      const rows = to.map((time) => `- ${inWords(time)}`);
      return reply([`${inWords(from)} is`, ...rows].join("\n"), { from, to });
    },
  );

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
      outputSchema: z.object({ hits: z.array(Hit) }),
      annotations,
    },
    async ({ query, limit }) => {
      const docs = await loadDocs(root);
      if (docs.length === 0) throw new Error("This installation came without its documentation.");
      const hits = searchDocs(docs, query, limit);
      const text = hits.map(
        ({ doc, uri, heading, excerpt }) => `## ${heading}\n${doc}, ${uri}\n\n${excerpt}`,
      );
      const pages = docs.map(({ title }) => title).join(", ");
      return reply(text.join("\n\n") || `Nothing found for "${query}". Pages: ${pages}.`, { hits });
    },
  );

  server.registerTool(
    "countdown",
    {
      title: "Countdown",
      description:
        "Counts down from a number to zero and reports every step as progress. Takes 10 seconds at most.",
      inputSchema: z.object({
        from: z.int().min(1).max(100).default(5).describe("The number of steps."),
        intervalMs: z.int().min(0).default(100).describe("The time a step takes."),
      }),
      outputSchema: z.object({ steps: z.int() }),
      annotations,
    },
    async ({ from, intervalMs }, context) => {
      if (from * intervalMs > LONGEST_COUNTDOWN_MS) {
        throw new Error(
          `${from} steps of ${intervalMs} ms take more than 10 seconds. Ask for fewer or shorter steps.`,
        );
      }
      const { signal } = context.mcpReq;
      for (let step = 1; step <= from; step += 1) {
        await pause(clock, intervalMs, signal);
        signal.throwIfAborted();
        await reportProgress(context, step, from);
      }
      return reply(`Lift-off after ${plural(from, "step")}.`, { steps: from });
    },
  );
}

function reply(text: string, data: object): CallToolResult {
  return { content: [{ type: "text", text }], structuredContent: { ...data } };
}

function inWords({ zone, iso, weekday, offset }: LocalTime): string {
  return `${weekday}, ${iso.slice(0, 19).replace("T", " ")} in ${zone} (UTC${offset})`;
}

async function reportProgress(
  { mcpReq }: ServerContext,
  progress: number,
  total: number,
): Promise<void> {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return;
  const message = progress === total ? "Lift-off" : `${total - progress} to go`;
  await mcpReq.notify({
    method: "notifications/progress",
    params: { progressToken, progress, total, message },
  });
}
