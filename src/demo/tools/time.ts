// The tools for time: now, elsewhere, and where elsewhere is.

import type { McpServer } from "@modelcontextprotocol/server";
import * as z from "zod";
import { plural } from "../../util/text.ts";
import type { Clock } from "../../util/clock.ts";
import type { Attempt } from "../attempt.ts";
import { success } from "../attempt.ts";
import type { Instant, Moment } from "../time.ts";
import { formatOffset, momentIn, offsetAt, parseTime } from "../time.ts";
import { allZones, matchZones, resolveZone } from "../zones.ts";
import { READ_ONLY, reply, replyTo } from "./reply.ts";

const ZONE = "An IANA time zone such as Europe/Berlin, UTC, or a city such as Tokyo.";

const momentShape = z.object({
  zone: z.string(),
  iso: z.string().describe("ISO 8601 with the offset that holds at that moment."),
  weekday: z.string(),
  offset: z.string().describe("From UTC, as in +05:30."),
  daylightSaving: z.boolean(),
});

const conversionShape = z.object({
  from: momentShape,
  to: z.array(momentShape),
  note: z.string().optional().describe("Set where a change of clocks skips or repeats that time."),
});

export function addTimeTools(server: McpServer, clock: Clock): void {
  server.registerTool(
    "current_time",
    {
      title: "Current time",
      description: "Tells the current date and time in a time zone, with its offset from UTC.",
      inputSchema: z.object({ zone: z.string().default("UTC").describe(ZONE) }),
      outputSchema: momentShape,
      annotations: READ_ONLY,
    },
    ({ zone }) => {
      const resolved = resolveZone(zone);
      return replyTo(resolved.ok ? success(momentIn(clock.now(), resolved.value)) : resolved, said);
    },
  );

  server.registerTool(
    "convert_time",
    {
      title: "Convert time",
      description:
        "Converts a date and time from one time zone to one or several others. Knows daylight saving " +
        "time, in the past and in the future, and says where a change of clocks makes a time unclear.",
      inputSchema: z.object({
        time: z
          .string()
          .describe(
            "Such as 2026-03-29T14:30, 14:30 (today) or now. An offset in it beats `from`.",
          ),
        from: z.string().default("UTC").describe(`Where that time is meant. ${ZONE}`),
        to: z.string().describe(`Several are separated by commas. ${ZONE}`),
      }),
      outputSchema: conversionShape,
      annotations: READ_ONLY,
    },
    ({ time, from, to }) =>
      replyTo(convertTime(time, from, to, clock.now()), (converted) =>
        [
          `${said(converted.from)} is`,
          ...converted.to.map((moment) => `- ${said(moment)}`),
          ...(converted.note === undefined ? [] : [`Note: ${converted.note}`]),
        ].join("\n"),
      ),
  );

  server.registerTool(
    "find_time_zones",
    {
      title: "Find time zones",
      description: "Lists time zones by a part of their name or by their present offset from UTC.",
      inputSchema: z.object({
        query: z
          .string()
          .default("")
          .describe("Such as america, argentina, york or +05:30. Empty for all."),
        limit: z.int().min(1).max(500).default(25),
      }),
      outputSchema: z.object({
        total: z.int(),
        zones: z.array(z.object({ zone: z.string(), offset: z.string() })),
      }),
      annotations: READ_ONLY,
    },
    ({ query, limit }) => {
      const found = findZones(query, clock.now());
      const zones = found.slice(0, limit);
      const more = found.length > limit ? ` The first ${limit}:` : "";
      const rows = zones.map(({ zone, offset }) => `${zone} (UTC${offset})`);
      const text = [`${plural(found.length, "zone")} found.${more}`, ...rows].join("\n");
      return reply(text, { total: found.length, zones });
    },
  );
}

function convertTime(
  time: string,
  from: string,
  to: string,
  now: number,
): Attempt<z.infer<typeof conversionShape>> {
  const source = resolveZone(from);
  if (!source.ok) return source;
  const targets: string[] = [];
  for (const part of to.split(",")) {
    const target = resolveZone(part);
    if (!target.ok) return target;
    targets.push(target.value);
  }
  const instant: Attempt<Instant> = parseTime(time, source.value, now);
  if (!instant.ok) return instant;
  const { epoch, note } = instant.value;
  return success({
    from: momentIn(epoch, source.value),
    to: targets.map((zone) => momentIn(epoch, zone)),
    ...(note === undefined ? {} : { note }),
  });
}

function findZones(query: string, now: number): { zone: string; offset: string }[] {
  const [, sign, hours = "", minutes = "00"] =
    /^(?:utc|gmt)?\s*([+-])(\d{1,2})(?::?(\d\d))?$/iu.exec(query.trim()) ?? [];
  const wanted = sign === undefined ? undefined : `${sign}${hours.padStart(2, "0")}:${minutes}`;
  return (wanted === undefined ? matchZones(query.trim()) : allZones())
    .map((zone) => ({ zone, offset: formatOffset(offsetAt(now, zone)) }))
    .filter(({ offset }) => wanted === undefined || offset === wanted);
}

function said({ zone, iso, weekday, offset, daylightSaving }: Moment): string {
  const clock = iso.slice(0, 19).replace("T", " ");
  return `${weekday}, ${clock} in ${zone} (UTC${offset}${daylightSaving ? ", daylight saving time" : ""})`;
}
