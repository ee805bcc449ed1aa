// What the demo has beside tools: the documentation as resources, and prompts to start from. Their arguments
// can be completed.

import {
  completable,
  type McpServer,
  type PromptMessage,
  ResourceNotFoundError,
  ResourceTemplate,
} from "@modelcontextprotocol/server";
import * as z from "zod";
import type { Clock } from "../../../util/clock.ts";
import { loadDocs } from "./docs.ts";
import { findZone, readTime, timeIn, zonesWith } from "./time.ts";

const MARKDOWN = "text/markdown";
const DURATIONS = ["15", "30", "45", "60", "90"];

export function addContent(server: McpServer, clock: Clock, root: string): void {
  addDocs(server, root);
  addPrompts(server, clock);
}

function addDocs(server: McpServer, root: string): void {
  const template = new ResourceTemplate("plugboard://docs/{name}", {
    list: async () => ({
      resources: (await loadDocs(root)).map(({ uri, name, title, text }) => {
        return { uri, name, title, size: Buffer.byteLength(text) };
      }),
    }),
    complete: {
      name: async (value) => {
        const names = (await loadDocs(root)).map(({ name }) => name);
        return names.filter((name) => name.startsWith(value.toLowerCase()));
      },
    },
  });
  const about = {
    title: "Plugboard documentation",
    description: "One page of Plugboard's documentation.",
    mimeType: MARKDOWN,
  };
  server.registerResource("docs", template, about, async ({ href: uri }) => {
    const doc = (await loadDocs(root)).find((each) => each.uri === uri);
    if (doc === undefined) throw new ResourceNotFoundError(uri);
    return { contents: [{ uri, mimeType: MARKDOWN, text: doc.text }] };
  });
}

function addPrompts(server: McpServer, clock: Clock): void {
  server.registerPrompt(
    "first-steps",
    {
      title: "First steps",
      description: "Tries out the tools of this demo, one after the other.",
    },
    () => ({
      messages: [
        userText(
          "Show me what you can do with the tools of the Plugboard demo. Tell me the time in Tokyo and in " +
            "New York, say when 9:00 in Berlin is in Tokyo, count down from 3, and look up in the " +
            "documentation how I add a server of my own. Say in one line each which tool you used and " +
            "what it answered.",
        ),
      ],
    }),
  );

  server.registerPrompt(
    "meeting-times",
    {
      title: "Meeting times",
      description: "Finds times of a day that suit people in several time zones.",
      argsSchema: z.object({
        zones: completable(
          z.string().describe("Time zones or cities, separated by commas."),
          completeLastZone,
        ),
        date: z.string().optional().describe("The day, as in 2026-03-29. Default: today."),
        minutes: completable(
          z.string().describe("How long it takes, in minutes. Default: 30."),
          (value) => DURATIONS.filter((minutes) => minutes.startsWith(value)),
        ).optional(),
      }),
    },
    ({ zones, date, minutes = "30" }) => {
      const places = zones.split(",").map(findZone);
      const [first = "UTC"] = places;
      const day = date ?? timeIn(first, clock.now()).iso.slice(0, 10);
      const noon = readTime(`${day} 12:00`, first, clock.now());
      const rows = places.map((zone) => `- ${zone}: UTC${timeIn(zone, noon).offset}`);
      return {
        messages: [
          userText(
            `Suggest three times on ${day} for a meeting of ${minutes} minutes with people in these ` +
              `zones (with their offsets on that day):\n${rows.join("\n")}\n\n` +
              "Prefer 9:00 to 17:00 for everyone. Where that is impossible, say who has to meet outside " +
              "these hours. Check each suggestion with the tool convert_time and show it in every zone's " +
              "local time.",
          ),
        ],
      };
    },
  );
}

/** Keeps the zones before the last comma. */
function completeLastZone(value: string): string[] {
  const start = value.lastIndexOf(",") + 1;
  const before = start === 0 ? "" : `${value.slice(0, start)} `;
  return zonesWith(value.slice(start)).map((zone) => before + zone);
}

function userText(text: string): PromptMessage {
  return { role: "user", content: { type: "text", text } };
}
