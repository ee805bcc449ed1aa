// `plugboard ask` on the command line.

import { command } from "../command.ts";

export interface AskRequest {
  /** Words of the prompt; `-` alone is stdin. */
  prompt: string[];
  /** `provider/model` */
  model?: string;
  /** Every call may be made. */
  yes: boolean;
}

const NOTES = `
The answer goes to stdout, the tool calls to stderr. You are asked before a
call that may change something; without a terminal to ask on, it is refused.

Without a configured model, the key that is set decides: ANTHROPIC_API_KEY,
OPENAI_API_KEY or GEMINI_API_KEY; without a key, a running Ollama.`;

export const COMMANDS = [
  command({
    name: "ask",
    about: "ask a model that can use all tools",
    args: [{ kind: "some", name: "prompt", about: "the prompt; - reads it from stdin" }],
    options: {
      model: {
        kind: "value",
        name: "--model",
        value: "provider/model",
        about: "use this model instead of the configured one",
        offers: "model",
      },
      yes: { kind: "flag", name: "--yes", about: "allow every call without asking" },
    },
    notes: NOTES,
    examples: [
      `plugboard ask "What time is it in Tokyo?"`,
      "plugboard ask --model ollama/qwen3 - < question.txt",
    ],
    read: (prompt, { model, yes }): AskRequest => ({ prompt, model, yes }),
    traits: ({ prompt }) => ({ readsStdin: prompt.join(" ") === "-", printsLines: true }),
    run: async (request, context) => (await import("./ask.ts")).runAsk(request, context),
  }),
];
