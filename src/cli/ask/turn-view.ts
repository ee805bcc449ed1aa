// Prints a turn while it runs: the answer on stdout and a line for each call on stderr, or every event as a line
// of JSON.

import type { TurnEnd, TurnEvent, TurnResult } from "../../agent/loop/loop.ts";
import type { PlugboardError } from "../../core/types/errors.ts";
import { asText, duration, oneLine, plainText, plural } from "../../util/text.ts";
import { progressText } from "../call/call-view.ts";
import type { CliContext } from "../context.ts";
import { canonicalName } from "../../core/types/tool.ts";
import { resultText } from "../call/result.ts";

const LONGEST_INPUT = 200;
const LONGEST_REASON = 300;

export class TurnView {
  readonly #context: Pick<CliContext, "screen" | "options">;
  readonly #running = new Map<string, string>();
  #isMidLine = false;

  constructor(context: Pick<CliContext, "screen" | "options">) {
    this.#context = context;
  }

  on(event: TurnEvent): void {
    if (this.#context.options.json) this.#json(event);
    else this.#show(event);
  }

  /** The caller reports a failure. */
  end({ end, usage }: TurnResult): void {
    if (this.#context.options.json) {
      const error = end.reason === "failed" ? failureOf(end.error) : undefined;
      return this.#line({ type: "end", reason: end.reason, usage, error });
    }
    this.#endLine();
    const why = incomplete(end);
    if (why !== undefined) this.#note(why);
  }

  #show(event: TurnEvent): void {
    const { screen } = this.#context;
    switch (event.type) {
      case "text": {
        const text = screen.terminal.out.isTerminal ? plainText(event.text) : event.text;
        screen.out(text);
        if (text !== "") this.#isMidLine = !text.endsWith("\n");
        return;
      }
      case "tool_call": {
        const name = oneLine(event.tool ? canonicalName(event.tool) : event.name, LONGEST_INPUT);
        this.#running.set(event.id, name);
        return this.#note(
          `${screen.terminal.err.paint("cyan", name)} ${oneLine(asText(event.input), LONGEST_INPUT)}`,
        );
      }
      case "tool_update": {
        const progress = progressText(event.update);
        return progress === "" ? undefined : this.#note(`${this.#name(event.id)}: ${progress}`);
      }
      case "tool_result":
        if (!event.isError) return;
        return this.#note(
          `${this.#name(event.id)} failed: ${oneLine(resultText(event.outcome, undefined), LONGEST_REASON)}`,
        );
      case "retry":
        return this.#note(`${plainText(event.reason)}; asking again in ${duration(event.delayMs)}`);
      case "compaction":
        return this.#note(compactionText(event));
      case "notice":
        return this.#note(plainText(event.text));
      case "step":
        // Text after the calls starts a new paragraph.
        return this.#endLine();
      case "thought":
      case "usage":
        return;
    }
  }

  #name(id: string): string {
    return this.#running.get(id) ?? id;
  }

  #note(line: string): void {
    this.#endLine();
    this.#context.screen.note(line);
  }

  #endLine(): void {
    if (!this.#isMidLine) return;
    this.#context.screen.out("\n");
    this.#isMidLine = false;
  }

  #json(event: TurnEvent): void {
    if (event.type !== "tool_call") return this.#line(event);
    const { tool, ...rest } = event;
    this.#line({ ...rest, source: tool?.source });
  }

  #line(value: object): void {
    this.#context.screen.jsonLine(value);
  }
}

function failureOf({ code, message, hint, status, permanent }: PlugboardError): object {
  return { code, message, hint, status, retryable: !permanent };
}

function compactionText({ results, messages }: { results: number; messages: number }): string {
  const parts = [
    ...(results > 0 ? [plural(results, "tool result")] : []),
    ...(messages > 0 ? [plural(messages, "earlier message")] : []),
  ];
  return `the conversation no longer fits the model: ${parts.join(" and ")} left out`;
}

/** Undefined for a complete answer. */
function incomplete({ reason }: TurnEnd): string | undefined {
  switch (reason) {
    case "max_tokens":
      return "plugboard: the answer is cut off: it reached the model's limit for one answer";
    case "max_turn_requests":
      return "plugboard: stopped before the model was done: it reached maxSteps";
    case "refusal":
      return "plugboard: the model's provider refused to answer";
    case "end_turn":
    case "cancelled":
    case "failed":
      return undefined;
  }
}
