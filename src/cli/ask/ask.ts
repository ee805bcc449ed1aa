// `plugboard ask`: runs one prompt through the agent's loop; the answer goes to stdout.

import { runTurn, type TurnEnd } from "../../agent/loop/loop.ts";
import { type AgentModel, openModel } from "../../agent/loop/model.ts";
import { providerOf } from "../../agent/loop/provider.ts";
import { PromptResources } from "../../agent/loop/prompt-resources.ts";
import { systemPrompt } from "../../agent/loop/system-prompt.ts";
import { PromptTools } from "../../core/board/prompt-tools.ts";
import type { AgentConfig } from "../../core/types/agent-config.ts";
import { PlugboardError } from "../../core/types/errors.ts";
import type { CliContext } from "../context.ts";
import { elicitationPrompt } from "../questions/elicit.ts";
import { errorLines } from "../error-lines.ts";
import { EXIT, exitCodeFor } from "../exit-code.ts";
import { untilInterrupted } from "../lifetime.ts";
import { chooseModels, modelOptions } from "../models.ts";
import { withBoard } from "../open.ts";
import { readStdin } from "../terminal/input.ts";
import { samplingPrompt } from "../questions/sample.ts";
import { untilStarted } from "../status/starting.ts";
import type { AskRequest } from "./command.ts";
import { TurnView } from "./turn-view.ts";

/** A prompt waits no longer for servers; tools of slower ones are added once they are ready. */
const START_WAIT_MS = 15_000;

export async function runAsk(command: AskRequest, context: CliContext): Promise<number> {
  const { signal, clock } = context;
  const prompt = await readPrompt(command, context);
  // Servers start before the model is open; what they ask it until then is declined.
  let opened: AgentModel | undefined;
  const open = {
    start: "eager",
    restarts: true,
    resourceTools: "auto",
    keepAlive: true,
    adjust: (agent: AgentConfig) => withModel(agent, command, context),
    onElicitation: elicitationPrompt(context),
    onSampling: samplingPrompt(context, { yes: command.yes, model: () => opened }),
    onApproval: command.yes ? () => "once" as const : undefined,
  } as const;
  return withBoard(context, open, async ({ board, agent }) => {
    const opening = openModel(agent.model ?? "", modelOptions(agent, context));
    const model = await opening.catch((error: unknown) => {
      throw isUnknownProvider(command, agent) ? asUsage(error) : error;
    });
    opened = model;
    try {
      const wait = agent.startupWait ?? START_WAIT_MS;
      // A call to a server whose tools are cached waits for it by itself.
      await untilStarted(board, context, { limit: wait, isNeeded: ({ cached }) => !cached });
      const reading = new PromptResources().read(board.resources, model);
      const resources = await untilInterrupted(reading, signal);
      const view = new TurnView(context);
      if (resources.news !== undefined) view.on({ type: "notice", text: resources.news });
      const turn = await runTurn({
        model,
        system: systemPrompt(agent.systemPrompt, board.status()),
        context: resources.context,
        prompt: [{ type: "text", text: prompt }],
        tools: new PromptTools({
          tools: () => board.tools(),
          search: (query, options) => board.search(query, options),
          toolSearch: () => board.toolSearch,
        }),
        maxSteps: agent.maxSteps,
        signal,
        onEvent: (event) => view.on(event),
        clock,
      });
      view.end(turn);
      return exitCodeOfTurn(turn.end, context);
    } finally {
      await model.close();
    }
  });
}

/** Whether the command line names a provider that there is not. */
function isUnknownProvider({ model: id }: AskRequest, { modelProviders }: AgentConfig): boolean {
  return id !== undefined && providerOf(id, modelProviders) === undefined;
}

function asUsage(error: unknown): unknown {
  if (!(error instanceof PlugboardError) || error.code !== "NO_MODEL") return error;
  return new PlugboardError("INVALID_ARGUMENTS", error.message, { hint: error.hint });
}

async function readPrompt({ prompt }: AskRequest, context: CliContext): Promise<string> {
  const words = prompt.join(" ");
  const text = words === "-" ? await readStdin(context) : words;
  if (text.trim() !== "") return text;
  throw new PlugboardError("INVALID_ARGUMENTS", "the prompt is empty", {
    hint: 'for example: plugboard ask "What can you do?"',
  });
}

/** A model decides which calls are made, so by default those that may change something need approval. */
async function withModel(
  agent: AgentConfig,
  command: AskRequest,
  context: CliContext,
): Promise<AgentConfig> {
  const chosen = await chooseModels(agent, command.model, context);
  if (chosen === undefined) {
    throw new PlugboardError("NO_MODEL", "no model is configured", {
      hint: 'set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY, or start Ollama; or set "model" in agents.defaults, or use --model',
    });
  }
  if (chosen.notice !== undefined) context.screen.note(`plugboard: ${chosen.notice}`);
  const approval = agent.guard?.approval ?? "destructive";
  return { ...agent, model: chosen.ids[0], guard: { ...agent.guard, approval } };
}

function exitCodeOfTurn(end: TurnEnd, { options, screen }: CliContext): number {
  switch (end.reason) {
    case "failed":
      if (!options.json) throw end.error;
      // The last line on stdout has the error already.
      for (const line of errorLines(end.error, { options, paint: screen.terminal.err.paint })) {
        screen.note(line);
      }
      return exitCodeFor(end.error.code);
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
