// The demo's prompts: what a person can start from, with arguments that complete themselves.

import type { McpServer, PromptMessage } from "@modelcontextprotocol/server";
import { completable, ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";
import * as z from "zod";
import type { Clock } from "../util/clock.ts";
import { docUri, loadDocs } from "./docs.ts";
import { momentIn, parseTime } from "./time.ts";
import { matchZones, resolveZone } from "./zones.ts";

/** The page that says what the keys of a configuration mean. */
const CONFIGURATION_DOC = "configuration";

const DURATIONS = ["15", "30", "45", "60", "90"];

export function addPrompts(
  server: McpServer,
  { root, clock }: { root: string; clock: Clock },
): void {
  server.registerPrompt(
    "first-steps",
    {
      title: "First steps",
      description: "Tries out the tools of this demo, one after the other.",
    },
    () => ({ messages: [said(FIRST_STEPS)] }),
  );

  server.registerPrompt(
    "explain-config",
    {
      title: "Explain a configuration",
      description: "Explains a plugboard.json server by server, and names what looks wrong in it.",
      argsSchema: z.object({
        config: z.string().min(1).describe("The content of the configuration file."),
      }),
    },
    async ({ config }) => {
      const docs = await loadDocs(root);
      const page = docs.find(({ name }) => name === CONFIGURATION_DOC);
      const ask = said(
        "Explain this Plugboard configuration to somebody who has not seen one before: what each " +
          "server is, how it is started or reached, and who can use it. Then name anything that is " +
          `misspelt, unsafe or without effect.\n\n${fenced(config)}`,
      );
      if (page === undefined) return { messages: [ask] };
      const resource = { uri: docUri(page.name), mimeType: "text/markdown", text: page.text };
      return { messages: [{ role: "user", content: { type: "resource", resource } }, ask] };
    },
  );

  server.registerPrompt(
    "meeting-times",
    {
      title: "Meeting times",
      description: "Finds times of a day that suit people in several time zones.",
      argsSchema: z.object({
        zones: completable(
          z.string().describe("Time zones or cities, separated by commas."),
          completeZones,
        ),
        date: z.string().optional().describe("The day, as in 2026-03-29. Today if it is left out."),
        minutes: completable(
          z.string().describe("How long it takes, in minutes. 30 if it is left out."),
          (value) => DURATIONS.filter((minutes) => minutes.startsWith(value)),
        ).optional(),
      }),
    },
    ({ zones, date, minutes = "30" }) => ({
      messages: [said(meetingText(zones, date, minutes, clock.now()))],
    }),
  );
}

const FIRST_STEPS =
  "Show me what you can do with the tools of the Plugboard demo. Tell me the time in Tokyo and in New " +
  "York, convert 26.2 miles to kilometres, count down from 3, and look up in the documentation how I " +
  "add a server of my own. Say in one line each which tool you used and what it answered.";

function meetingText(
  zones: string,
  date: string | undefined,
  minutes: string,
  now: number,
): string {
  const places = zones.split(",").map((zone) => {
    const resolved = resolveZone(zone);
    return resolved.ok ? resolved.value : refuse(resolved.problem);
  });
  // Noon of the day in question, so that the offsets named are the ones that hold for most of it.
  const day = date ?? momentIn(now, places[0] ?? "UTC").iso.slice(0, 10);
  const noon = parseTime(`${day} 12:00`, places[0] ?? "UTC", now);
  if (!noon.ok) refuse(noon.problem);
  const { epoch } = noon.value;
  const rows = places.map((zone) => `- ${zone}: UTC${momentIn(epoch, zone).offset}`);
  return (
    `Suggest three times on ${day} for a meeting of ${minutes} minutes with people in these zones ` +
    `(the offsets are those of that day):\n${rows.join("\n")}\n\n` +
    "Prefer 9:00 to 17:00 for everyone; where that cannot be, say who would have to bend and by how " +
    "much. Check each suggestion with the tool convert_time and show it in every zone's local time."
  );
}

function refuse(problem: string): never {
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, problem);
}

/** Completes the last of the zones and keeps those before it. */
function completeZones(value: string): string[] {
  const start = value.lastIndexOf(",") + 1;
  const lead = start === 0 ? "" : `${value.slice(0, start)} `;
  return matchZones(value.slice(start).trim()).map((zone) => lead + zone);
}

function said(text: string): PromptMessage {
  return { role: "user", content: { type: "text", text } };
}

/** A fence longer than any in the text, so that the text cannot end it. */
function fenced(text: string): string {
  const longest = Math.max(2, ...(text.match(/`+/gu) ?? []).map((run) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}json\n${text}\n${fence}`;
}
