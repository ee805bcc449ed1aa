// `plugboard resources`, `read`, `prompts` and `prompt` on the command line.

import type { Command as Parser } from "commander";

export interface ListContentCommand {
  kind: "resources" | "prompts";
  /** Words that must all be found. */
  query: string[];
  server?: string;
}

export interface ReadCommand {
  kind: "read";
  uri: string;
  server?: string;
  /** Where binary content is saved. */
  output?: string;
  /** Read it without asking, if it needs approval. */
  yes: boolean;
}

export interface GetPromptCommand {
  kind: "prompt";
  name: string;
  args: string[];
  yes: boolean;
}

export type ContentCommand = ListContentCommand | ReadCommand | GetPromptCommand;

export function describeContent(program: Parser, choose: (command: ContentCommand) => void): void {
  program
    .command("resources")
    .description("list the resources of all servers, or search them")
    .argument("[query...]", "words to look for in URIs, names and descriptions")
    .option("--server <name>", "only resources of this server")
    .action((query: string[], { server }: { server?: string }) =>
      choose({ kind: "resources", query, server }),
    );

  program
    .command("read")
    .description("read a resource")
    .argument("<uri>", "as listed by resources, or made from a template")
    .option("--server <name>", "the server that has it; no other is started")
    .option("--output <directory>", "save binary content there")
    .option("--yes", "read it without asking, if it needs approval")
    .action((uri: string, { server, output, yes }: Partial<ReadCommand>) =>
      choose({ kind: "read", uri, server, output, yes: yes === true }),
    );

  program
    .command("prompts")
    .description("list the prompts of all servers, or search them")
    .argument("[query...]", "words to look for in names and descriptions")
    .option("--server <name>", "only prompts of this server")
    .action((query: string[], { server }: { server?: string }) =>
      choose({ kind: "prompts", query, server }),
    );

  program
    .command("prompt")
    .description("fill in a prompt and show it")
    .argument("<name>", "server/prompt, or just the prompt's name")
    // Short: where the longest usage leaves too little room, no line of the whole help is wrapped.
    .argument("[args...]", "key=value, a JSON object, @file, or - for stdin")
    .option("--yes", "get it without asking, if it needs approval")
    .action((name: string, args: string[], { yes }: Partial<GetPromptCommand>) =>
      choose({ kind: "prompt", name, args, yes: yes === true }),
    );
}
