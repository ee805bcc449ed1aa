// `plugboard completion` on the command line.

import { command } from "../command.ts";

export const SHELLS = ["bash", "zsh", "fish"] as const;

export type Shell = (typeof SHELLS)[number];

export interface CompletionRequest {
  shell: Shell;
}

/** What to run once, so that every new shell completes. */
export const INSTALL: Readonly<Record<Shell, string>> = {
  bash: `echo 'eval "$(plugboard completion bash)"' >> ~/.bashrc`,
  zsh: "echo 'source <(plugboard completion zsh)' >> ~/.zshrc",
  fish: "plugboard completion fish > ~/.config/fish/completions/plugboard.fish",
};

const NOTES = `
Run the line for your shell once, and open a new terminal:
${SHELLS.map((shell) => `  ${INSTALL[shell]}`).join("\n")}

Then the Tab key completes commands, options, and the names of your servers,
tools and agents. It starts nothing: tools are known from earlier runs.`;

export const COMMANDS = [
  command({
    name: "completion",
    about: "print a script for the Tab key in your shell",
    args: [{ kind: "one", name: "shell", about: "your shell", choices: SHELLS }],
    notes: NOTES,
    examples: ["plugboard completion bash"],
    traits: { sparesHome: true },
    read: ([shell]): CompletionRequest => ({ shell }),
    run: async (request, context) =>
      (await import("./completion.ts")).runCompletion(request, context),
  }),
];
