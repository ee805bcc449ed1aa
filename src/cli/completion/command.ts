// `plugboard completion` on the command line.

import { Argument, type Command as Parser } from "commander";

export const SHELLS = ["bash", "zsh", "fish"] as const;

export type Shell = (typeof SHELLS)[number];

export interface CompletionCommand {
  kind: "completion";
  shell: Shell;
}

/** What to run once, so that every new shell completes. */
export const INSTALL: Readonly<Record<Shell, string>> = {
  bash: `echo 'eval "$(plugboard completion bash)"' >> ~/.bashrc`,
  zsh: "echo 'source <(plugboard completion zsh)' >> ~/.zshrc",
  fish: "plugboard completion fish > ~/.config/fish/completions/plugboard.fish",
};

const HELP = `
Run the line for your shell once, and open a new terminal:
${SHELLS.map((shell) => `  ${INSTALL[shell]}`).join("\n")}

Then the Tab key completes commands, options, and the names of your servers,
tools and agents. It starts nothing: tools are known from earlier runs.

Examples:
  plugboard completion bash`;

export function describeCompletion(
  program: Parser,
  choose: (command: CompletionCommand) => void,
): void {
  program
    .command("completion")
    .description("print a script for the Tab key in your shell")
    .addArgument(new Argument("<shell>", "your shell").choices(SHELLS))
    .addHelpText("after", HELP)
    .action((shell: Shell) => choose({ kind: "completion", shell }));
}
