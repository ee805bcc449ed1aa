// `plugboard resources`, `read`, `prompts` and `prompt` on the command line.

import type { Command as Parser } from "commander";
import { takesServer } from "../typed/options.ts";
import { isHttp, takeServer, type TypedOptions, type TypedServer } from "../typed-server.ts";
import { examples } from "../examples.ts";

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

export function describeContent(
  program: Parser,
  choose: (command: ContentCommand, typed?: TypedServer) => void,
  behind?: readonly string[],
): void {
  takesServer(program.command("resources"), "[words...]")
    .description("list or search resources")
    .argument("[words...]", "what to look for")
    .option("--server <server>", "only this server; no other is started")
    .addHelpText(
      "after",
      examples("plugboard resources", "plugboard resources --server docs guide"),
    )
    .action((given: string[], options: { server?: string } & TypedOptions) => {
      const { words: query, typed } = takeServer(given, behind, options, isHttp);
      choose({ kind: "resources", query, server: options.server }, typed);
    });

  const read = takesServer(program.command("read"), "<uri>")
    .description("read a resource")
    .argument("<uri>", "as listed by resources, or made from a template")
    .argument("[more]")
    .option("--server <server>", "only this server; no other is started")
    .option("--output <directory>", "save images, audio and other binary content there")
    .option("--yes", "do not ask")
    .addHelpText(
      "after",
      examples("plugboard read docs:///install", "plugboard read --server docs docs:///install"),
    )
    .action(
      (first: string, second: string | undefined, options: Partial<ReadCommand> & TypedOptions) => {
        const { server, output, yes } = options;
        const given = second === undefined ? [first] : [first, second];
        // A resource may have such a URI too, so a server is only one that stands before a URI.
        const isServer = (word: string): boolean => second !== undefined && isHttp(word);
        const { words, typed } = takeServer(given, behind, options, isServer);
        const [uri = "", more] = words;
        if (more !== undefined) read.error(`error: '${more}' is too much: one resource is read`);
        choose({ kind: "read", uri, server, output, yes: yes === true }, typed);
      },
    );

  takesServer(program.command("prompts"), "[words...]")
    .description("list or search prompts")
    .argument("[words...]", "what to look for")
    .option("--server <server>", "only this server; no other is started")
    .addHelpText("after", examples("plugboard prompts", "plugboard prompts explain"))
    .action((given: string[], options: { server?: string } & TypedOptions) => {
      const { words: query, typed } = takeServer(given, behind, options);
      choose({ kind: "prompts", query, server: options.server }, typed);
    });

  const prompt = takesServer(program.command("prompt"), "<name> [args...]")
    .description("fill in a prompt and show it")
    .argument("<name>", "server/prompt, or just the prompt's name")
    // Short: where the longest usage leaves too little room, no line of the whole help is wrapped.
    .argument("[args...]", "key=value, a JSON object, @file, or - for stdin")
    .option("--yes", "do not ask")
    .addHelpText("after", examples("plugboard prompt docs/explain page=install"))
    .action(
      (first: string, others: string[], options: Partial<GetPromptCommand> & TypedOptions) => {
        const { words, typed } = takeServer([first, ...others], behind, options);
        const [name, ...args] = words;
        if (name === undefined) return prompt.error("error: missing required argument 'name'");
        choose({ kind: "prompt", name, args, yes: options.yes === true }, typed);
      },
    );
}
