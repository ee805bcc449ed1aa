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
Without a configured model, the key that is set decides: ANTHROPIC_API_KEY,
OPENAI_API_KEY or GEMINI_API_KEY; without a key, a running Ollama. stderr says
which model is used.

The answer goes to stdout, the tool calls to stderr. With --json every event is
one line of JSON on stdout.

You are asked before a call that may change something, unless the configuration
says otherwise, and before a server uses the model, where its "sampling" setting
allows that at all. Without a terminal to ask on, both are refused. --yes allows
everything.

Examples:
  ANTHROPIC_API_KEY=… plugboard ask "What time is it in Tokyo?" --yes
  plugboard ask --model ollama/qwen3 - < question.txt`;

export function describeAsk(program: Parser, choose: (command: AskCommand) => void): void {
  program
    .command("ask")
    .description("send a prompt to a model that can use the tools of all servers")
    .argument("<prompt...>", "the prompt; - reads it from stdin")
    .option("--model <provider/model>", "use this model instead of the configured one")
    .option("--yes", "allow every call without asking")
    .addHelpText("after", HELP)
    .action((prompt: string[], { model, yes }: { model?: string; yes?: true }) =>
      choose({ kind: "ask", prompt, model, yes: yes === true }),
    );
}
