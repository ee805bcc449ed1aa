// `plugboard ask` on the command line.

import type { Command as Parser } from "commander";
import type { AskCommand } from "../invocation.ts";

const ASK_HELP = `
The answer goes to stdout, the tools that were called to stderr. With --json
every event is one line of JSON on stdout.

A call that may change something is asked about, unless the configuration says
otherwise; so is a server that wants to ask the model, where its "sampling" lets
it. Where nobody can be asked it is refused. --yes answers yes.

Examples:
  plugboard ask "What time is it in Tokyo?" --yes
  plugboard ask --model ollama/qwen3 - < question.txt`;

export function describeAsk(program: Parser, choose: (command: AskCommand) => void): void {
  program
    .command("ask")
    .description("put a prompt to a model that has the tools of all servers")
    .argument("<prompt...>", "what to ask; - reads it from stdin")
    .option("--model <provider/model>", "instead of the one in the configuration")
    .option("--yes", "let every call be made without asking")
    .addHelpText("after", ASK_HELP)
    .action((prompt: string[], options: Record<string, unknown>) =>
      choose({
        kind: "ask",
        prompt,
        ...(typeof options["model"] === "string" && { model: options["model"] }),
        yes: options["yes"] === true,
      }),
    );
}
