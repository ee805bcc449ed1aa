// A call that somebody makes in the page: its progress and its result as a stream. The call is cancelled when the page
// goes away.

import type { ServerResponse } from "node:http";
import { z } from "zod";
import type { AskElsewhere } from "../../../core/types/approval.ts";
import type { Board } from "../../../core/types/board.ts";
import type { JsonObject } from "../../../core/types/json.ts";
import { jsonOfAnyDepth } from "../../../util/canonical-json.ts";
import type { Clock } from "../../../util/clock.ts";
import { STREAM_HEADERS } from "../../endpoint/http/reply.ts";
import { checked } from "./methods.ts";
import { VISITOR, type Visitor } from "./visitors.ts";
import type { PageCallEvents } from "./wire.ts";

const LONGEST_NAME = 500;
const CANNOT_ASK = "the server asks you something, which the page cannot show; use plugboard call";

const REQUEST = z.strictObject({
  agent: z.string().max(LONGEST_NAME),
  tool: z.string().max(LONGEST_NAME),
  args: z.record(z.string(), z.unknown()),
});

export interface PageCallOptions {
  boardOf: (agent: string) => Board;
  /** Where a call waits that needs approval: the page shows it there. */
  askFor: (agent: string) => AskElsewhere;
  clock: Clock;
}

/** Throws INVALID_ARGUMENTS before anything is called. */
export async function callFromPage(
  body: JsonObject,
  visitor: Visitor,
  reply: ServerResponse,
  { boardOf, askFor, clock }: PageCallOptions,
): Promise<void> {
  const { agent, tool, args } = checked(REQUEST, body);
  const board = boardOf(agent);
  const gone = new AbortController();
  reply.once("close", () => gone.abort());
  const tell = <Name extends keyof PageCallEvents>(
    name: Name,
    data: PageCallEvents[Name],
  ): void => {
    if (!reply.writableEnded) reply.write(`event: ${name}\ndata: ${jsonOfAnyDepth(data)}\n\n`);
  };
  const ask = askFor(agent);
  const caller = { id: `${VISITOR}${visitor.nonce}`, label: `${visitor.name}, in the page` };
  reply.writeHead(200, STREAM_HEADERS);
  reply.write(": open\n\n");
  const began = clock.monotonic();
  const outcome = await board.call(tool, args as JsonObject, {
    signal: gone.signal,
    caller: caller.label,
    approvalsOf: caller.label,
    onApproval: (request, signal) =>
      ask(request, signal, {
        caller,
        tell: (message) => tell("progress", { progress: 0, message }),
      }),
    // The page has no form for these yet, and nobody else is asked.
    onElicitation: async () => {
      tell("progress", { progress: 0, message: CANNOT_ASK });
      return { action: "cancel" };
    },
    onUpdate: ({ progress }) => {
      if (progress !== undefined) tell("progress", progress);
    },
  });
  tell("result", {
    isError: outcome.isError === true,
    content: outcome.content.map((block) => ({ ...block })),
    ...(outcome.structuredContent !== undefined && { structured: outcome.structuredContent }),
    ms: clock.monotonic() - began,
    ...(outcome.failure !== undefined && { code: outcome.failure.code }),
  });
  reply.end();
}
