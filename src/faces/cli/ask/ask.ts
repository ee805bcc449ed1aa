// `plugboard ask`: runs one prompt through the agent's loop; the answer goes to stdout.

import { runTurn, type TurnEnd } from "../../../agent/loop.ts";
import { type AgentModel, openModel } from "../../../agent/model.ts";
import { PromptResources } from "../../../agent/prompt-resources.ts";
import { systemPrompt } from "../../../agent/system-prompt.ts";
import type { AgentConfig } from "../../../model/agent-config.ts";
import { PlugboardError } from "../../../model/errors.ts";
import type { CliContext } from "../context.ts";
import { elicitationPrompt } from "../questions/elicit.ts";
import { EXIT } from "../exit-code.ts";
import { untilInterrupted } from "../lifetime.ts";
import { withBoard } from "../open.ts";
import { readStdin } from "../terminal/input.ts";
import { samplingPrompt } from "../questions/sample.ts";
import { untilStarted } from "../status/starting.ts";
import type { AskCommand } from "./command.ts";
import { TurnView } from "./turn-view.ts";

/** A prompt waits no longer for servers; tools of slower ones are added once they are ready. */
const START_WAIT_MS = 15_000;

export async function runAsk(command: AskCommand, context: CliContext): Promise<number> {
  const { signal, io, clock } = context;
  const prompt = await readPrompt(command, context);
  // Servers start before the model is open; what they ask it until then is declined.
  let opened: AgentModel | undefined;
  const open = {
    start: "eager",
    resourceTools: "auto",
    adjust: (agent: AgentConfig) => withModel(agent, command),
    onElicitation: elicitationPrompt(context),
    onSampling: samplingPrompt(context, { yes: command.yes, model: () => opened }),
    onApproval: command.yes ? () => "once" as const : undefined,
  } as const;
  return withBoard(context, open, async ({ board, agent }) => {
    const { modelProviders: providers, networkProxy: proxy, maxSteps } = agent;
    const model = await openModel(agent.model ?? "", { env: io.env, clock, providers, proxy });
    opened = model;
    try {
      await untilStarted(board, context, agent.startupWait ?? START_WAIT_MS);
      const reading = new PromptResources().read(board.resources, model);
      const resources = await untilInterrupted(reading, signal);
      const view = new TurnView(context);
      if (resources.news !== undefined) view.on({ type: "notice", text: resources.news });
      const turn = await runTurn({
        model,
        system: systemPrompt(agent.systemPrompt, board.status()),
        context: resources.context,
        prompt: [{ type: "text", text: prompt }],
        tools: () => board.tools(),
        maxSteps,
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

async function readPrompt({ prompt }: AskCommand, context: CliContext): Promise<string> {
  const words = prompt.join(" ");
  const text = words === "-" ? await readStdin(context) : words;
  if (text.trim() !== "") return text;
  throw new PlugboardError("INVALID_ARGUMENTS", "the prompt is empty", {
    hint: 'plugboard ask "What can you do?"',
  });
}

/** A model decides which calls are made, so by default those that may change something need approval. */
function withModel(agent: AgentConfig, command: AskCommand): AgentConfig {
  const model = command.model ?? agent.model;
  if (model === undefined) {
    throw new PlugboardError("CONFIG_INVALID", "no model is configured", {
      hint: 'set "model" in agents.defaults, for example "anthropic/claude-sonnet-4-5" or "ollama/qwen3", or use --model',
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
