// Answers a prompt through the agent's loop, and shows what happens in it as the editor's updates.

import type { SessionUpdate, StopReason } from "@agentclientprotocol/sdk";
import type { runTurn, TurnOptions, TurnResult } from "../../agent/loop.ts";
import { systemPrompt } from "../../agent/system-prompt.ts";
import type { TurnEvent } from "../../agent/turn-event.ts";
import { cancelled } from "../../model/errors.ts";
import { untilAborted } from "../../util/abort.ts";
import { duration, plural } from "../../util/text.ts";
import { textBlock } from "./content.ts";
import type { Responder, Turn } from "./ports.ts";
import { callEnded, callProgressed, callStarted } from "./tool-calls.ts";

export interface ModelResponderOptions extends Pick<TurnOptions, "model" | "maxSteps" | "clock"> {
  /** The loop, loaded by whoever knows that its packages are there. */
  runTurn: typeof runTurn;
  systemPrompt: string | undefined;
}

type Message = TurnResult["history"][number];

/** For one session: it remembers what was said. */
export function modelResponder(
  past: readonly SessionUpdate[],
  { runTurn: run, systemPrompt: configured, ...options }: ModelResponderOptions,
): Responder {
  let history = toHistory(past);
  const answer = async (turn: Turn): Promise<StopReason> => {
    const { board, signal, prompt } = turn;
    const context = await untilAborted(board.resources.context(), signal, cancelled);
    const result = await run({
      ...options,
      system: systemPrompt(configured, board.status()),
      context,
      history,
      prompt,
      tools: () => turn.tools(),
      signal,
      onEvent: (event) => show(event, turn),
    });
    history = result.history;
    return stopReason(result, turn);
  };
  return { answer };
}

function stopReason({ end }: TurnResult, turn: Turn): StopReason {
  if (end.reason !== "failed") return end.reason;
  const { message, hint } = end.error;
  turn.say(hint === undefined ? message : `${message}: ${hint}`);
  return "end_turn";
}

function show(event: TurnEvent, { emit, notify }: Turn): void {
  switch (event.type) {
    case "text":
      return emit({ sessionUpdate: "agent_message_chunk", content: textBlock(event.text) });
    case "thought":
      return emit({ sessionUpdate: "agent_thought_chunk", content: textBlock(event.text) });
    case "tool_call":
      return emit(callStarted(event.id, event.name, event.input, event.tool));
    case "tool_update":
      return callProgressed(event.id, event.update).forEach(emit);
    case "tool_result":
      return emit(callEnded(event.id, event.outcome));
    case "usage":
      return emit({ sessionUpdate: "usage_update", used: event.used, size: event.window });
    case "retry":
      return notify(`${event.reason}; asking again in ${duration(event.delayMs)}`);
    case "compaction":
      return notify(
        `The conversation has outgrown the model: ${plural(event.results, "tool result")} and ` +
          `${plural(event.messages, "earlier message")} left out`,
      );
    case "notice":
      return notify(event.text);
    case "step":
      return undefined;
  }
}

/** What was said on either side. What tools answered is not told again: the model may call them. */
function toHistory(past: readonly SessionUpdate[]): Message[] {
  const messages: { role: "user" | "assistant"; content: string }[] = [];
  for (const update of past) {
    const isUser = update.sessionUpdate === "user_message_chunk";
    if (!isUser && update.sessionUpdate !== "agent_message_chunk") continue;
    if (update.content.type !== "text") continue;
    const { text } = update.content;
    const role = isUser ? "user" : "assistant";
    const last = messages.at(-1);
    if (last?.role === role) last.content += isUser ? `\n${text}` : text;
    else messages.push({ role, content: text });
  }
  return messages;
}
