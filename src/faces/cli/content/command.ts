// `plugboard resources`, `read`, `prompts` and `prompt` on the command line.

import type { Command as Parser } from "commander";
import type {
  PromptCommand,
  PromptsCommand,
  ReadCommand,
  ResourcesCommand,
} from "../invocation.ts";

type OfferCommand = ResourcesCommand | ReadCommand | PromptsCommand | PromptCommand;

export function describeOffers(program: Parser, choose: (command: OfferCommand) => void): void {
  program
    .command("resources")
    .description("list what servers offer to read, or what matches")
    .argument("[query...]", "words to look for in URIs, names and descriptions")
    .option("--server <name>", "only of this server")
    .action((query: string[], options: Record<string, unknown>) =>
      choose({ kind: "resources", query, ...serverOf(options) }),
    );

  program
    .command("read")
    .description("read a resource")
    .argument("<uri>", "as resources lists it, or made of a template")
    .option("--server <name>", "whose it is; no other is started")
    .option("--output <directory>", "save binary content there")
    .action((uri: string, options: Record<string, unknown>) =>
      choose({
        kind: "read",
        uri,
        ...serverOf(options),
        ...(typeof options["output"] === "string" && { output: options["output"] }),
      }),
    );

  program
    .command("prompts")
    .description("list the prompts of all servers, or those that match")
    .argument("[query...]", "words to look for in names and descriptions")
    .option("--server <name>", "only of this server")
    .action((query: string[], options: Record<string, unknown>) =>
      choose({ kind: "prompts", query, ...serverOf(options) }),
    );

  program
    .command("prompt")
    .description("show a prompt, filled in")
    .argument("<name>", "server/prompt, or the prompt's own name if only one has it")
    .argument("[arguments...]", "key=value, JSON, @file, or - for stdin")
    .action((name: string, args: string[]) => choose({ kind: "prompt", name, args }));
}

function serverOf(options: Record<string, unknown>): { server?: string } {
  return typeof options["server"] === "string" ? { server: options["server"] } : {};
}
