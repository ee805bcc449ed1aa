// `plugboard ask`: one prompt through the agent's loop, its answer on stdout.

import type { TurnEnd } from "../../../agent/loop.ts";
import { type AgentModel, openModel } from "../../../agent/model.ts";
import { systemPrompt } from "../../../agent/system-prompt.ts";
import type { AgentConfig } from "../../../model/agent-config.ts";
import { PlugboardError } from "../../../model/errors.ts";
import { untilAborted } from "../../../util/abort.ts";
import type { CliContext } from "../context.ts";
import { elicitationPrompt } from "../questions/elicit.ts";
import { EXIT } from "../exit-code.ts";
import { interrupted } from "../interrupted.ts";
import type { AskCommand } from "../invocation.ts";
import { withBoard } from "../open.ts";
import { readStdin } from "../terminal/read-stdin.ts";
import { samplingPrompt } from "../questions/sample.ts";
import { untilStarted } from "../status/starting.ts";
import { TurnView } from "./turn-view.ts";

/** A prompt does not wait longer for servers; those that come later are used from then on. */
const START_WAIT_MS = 15_000;

export async function runAsk(command: AskCommand, context: CliContext): Promise<number> {
  const { signal, io, clock } = context;
  const prompt = await readPrompt(command, context);
  const onElicitation = elicitationPrompt(context);
  // Servers start before it is there; what they ask for until then is declined.
  const asked: { model?: AgentModel } = {};
  const open = {
    onSampling: samplingPrompt(context, { yes: command.yes, model: () => asked.model }),
    start: "eager",
    adjust: (agent: AgentConfig) => toBeAsked(agent, command),
    ...(onElicitation && { onElicitation }),
    ...(command.yes && { onApproval: () => "once" as const }),
  } as const;
  return withBoard(context, open, async ({ board, agent }) => {
    const { modelProviders: providers, networkProxy: proxy, maxSteps } = agent;
    const from = { env: io.env, clock, ...(providers && { providers }), ...(proxy && { proxy }) };
    const model = await openModel(agent.model ?? "", from);
    asked.model = model;
    try {
      await untilStarted(board, context, agent.startupWait ?? START_WAIT_MS);
      const resources = await untilAborted(board.resources.context(), signal, interrupted);
      // Not before the packages it needs are known to be there.
      const { runTurn } = await import("../../../agent/loop.ts");
      const view = new TurnView(context);
      const turn = await runTurn({
        model,
        system: systemPrompt(agent.systemPrompt, board.status()),
        context: resources,
        prompt: [{ type: "text", text: prompt }],
        tools: () => board.tools(),
        ...(maxSteps !== undefined && { maxSteps }),
        signal,
        onEvent: (event) => view.on(event),
        clock,
      });
      view.end(turn);
      return exitCodeOfTurn(turn.end);
    } finally {
      await model.close();
    }
  });
}

async function readPrompt(
  { prompt }: AskCommand,
  { io, screen, signal }: CliContext,
): Promise<string> {
  const words = prompt.join(" ");
  if (words !== "-") return requireText(words);
  const onPrompt = (): void => screen.note("reading from the terminal; Ctrl-D ends it");
  return requireText(await readStdin(io.stdin, signal, onPrompt));
}

function requireText(prompt: string): string {
  if (prompt.trim() !== "") return prompt;
  throw new PlugboardError("INVALID_ARGUMENTS", "the prompt is empty", {
    hint: 'plugboard ask "What can you do?"',
  });
}

/** The one who decides on the calls is a model: what may change something is asked about. */
function toBeAsked(agent: AgentConfig, command: AskCommand): AgentConfig {
  const model = command.model ?? agent.model;
  if (model === undefined) {
    throw new PlugboardError("CONFIG_INVALID", "no model is configured", {
      hint: 'set "model" in agents.defaults, as in "anthropic/claude-sonnet-4-5" or "ollama/qwen3", or give --model',
    });
  }
  const approval = agent.guard?.approval ?? "destructive";
  return { ...agent, model, guard: { ...agent.guard, approval } };
}

function exitCodeOfTurn(end: TurnEnd): number {
  switch (end.reason) {
    case "failed":
      throw end.error;
    case "end_turn":
      return EXIT.ok;
    case "cancelled":
      return EXIT.interrupted;
    case "max_tokens":
    case "max_turn_requests":
    case "refusal":
      return EXIT.toolError;
  }
}
