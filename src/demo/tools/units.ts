// The tool for units.

import type { McpServer } from "@modelcontextprotocol/server";
import * as z from "zod";
import { CATEGORIES, convertUnits } from "../units.ts";
import { READ_ONLY, replyTo } from "./reply.ts";

export function addUnitsTool(server: McpServer): void {
  server.registerTool(
    "convert_units",
    {
      title: "Convert units",
      description: `Converts a quantity between units, by exact factors. Covers ${CATEGORIES.join(", ")}.`,
      inputSchema: z.object({
        value: z.number().describe("The quantity to convert."),
        from: z.string().describe("Its unit, by symbol or name: km, mile, °F, fluid ounce, MiB."),
        to: z.string().describe("The unit wanted."),
      }),
      outputSchema: z.object({
        value: z.number(),
        from: z.string(),
        to: z.string(),
        result: z.number(),
        category: z.enum(CATEGORIES),
      }),
      annotations: READ_ONLY,
    },
    ({ value, from, to }) =>
      replyTo(
        convertUnits(value, from, to),
        (conversion) => `${value} ${conversion.from} = ${conversion.result} ${conversion.to}`,
      ),
  );
}
