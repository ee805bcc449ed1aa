// `plugboard ask` on the command line.

import type { Command as Parser } from "commander";

export interface AskCommand {
  kind: "ask";
  /** Words of the prompt; `-` alone is stdin. */
  prompt: string[];
  /** `provider/model` */
  model?: string;
  /** Every call may be made. */
  yes: boolean;
}

const HELP = `
The answer goes to stdout, the tool calls to stderr. You are asked before a
call that may change something; without a terminal to ask on, it is refused.

Without a configured model, the key that is set decides: ANTHROPIC_API_KEY,
OPENAI_API_KEY or GEMINI_API_KEY; without a key, a running Ollama.

Examples:
  plugboard ask "What time is it in Tokyo?"
  plugboard ask --model ollama/qwen3 - < question.txt`;

export function describeAsk(program: Parser, choose: (command: AskCommand) => void): void {
  program
    .command("ask")
    .description("ask a model that can use all tools")
    .argument("<prompt...>", "the prompt; - reads it from stdin")
    .option("--model <provider/model>", "use this model instead of the configured one")
    .option("--yes", "allow every call without asking")
    .addHelpText("after", HELP)
    .action((prompt: string[], { model, yes }: { model?: string; yes?: true }) =>
      choose({ kind: "ask", prompt, model, yes: yes === true }),
    );
}
