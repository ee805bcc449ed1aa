// The tool that takes its time: it reports progress and stops when it is told to.

import type { McpServer, ServerContext } from "@modelcontextprotocol/server";
import * as z from "zod";
import { untilAborted } from "../../util/abort.ts";
import type { Clock, Timer } from "../../util/clock.ts";
import { plural } from "../../util/text.ts";
import { READ_ONLY, refusal, reply } from "./reply.ts";

const LONGEST_MS = 10_000;

export function addCountdown(server: McpServer, clock: Clock): void {
  server.registerTool(
    "countdown",
    {
      title: "Countdown",
      description:
        "Counts down from a number to zero and reports every step as progress. Takes 10 seconds at most.",
      inputSchema: z.object({
        from: z.int().min(1).max(100).default(5).describe("The number of steps."),
        intervalMs: z.int().min(0).max(LONGEST_MS).default(100).describe("The time a step takes."),
      }),
      outputSchema: z.object({ steps: z.int(), elapsedMs: z.number() }),
      annotations: READ_ONLY,
    },
    async ({ from, intervalMs }, context) => {
      if (from * intervalMs > LONGEST_MS) {
        return refusal(
          `${from} steps of ${intervalMs} ms take more than ${LONGEST_MS / 1000} seconds. ` +
            "Ask for fewer or shorter steps.",
        );
      }
      const start = clock.monotonic();
      for (let left = from; left > 0; left -= 1) {
        await pause(clock, intervalMs, context.mcpReq.signal);
        await report(context, from - left + 1, from);
      }
      const elapsedMs = Math.round(clock.monotonic() - start);
      return reply(`Lift-off after ${plural(from, "step")}.`, { steps: from, elapsedMs });
    },
  );
}

async function report({ mcpReq }: ServerContext, progress: number, total: number): Promise<void> {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return;
  const message = progress === total ? "Lift-off" : `${total - progress} to go`;
  await mcpReq.notify({
    method: "notifications/progress",
    params: { progressToken, progress, total, message },
  });
}

/** Rejects when the call is cancelled, and leaves no timer behind. */
async function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  let timer: Timer | undefined;
  const elapsed = new Promise<void>((resolve) => {
    timer = clock.after(ms, resolve);
  });
  try {
    await untilAborted(elapsed, signal, () => new Error("The countdown was cancelled."));
  } finally {
    timer?.cancel();
  }
}
