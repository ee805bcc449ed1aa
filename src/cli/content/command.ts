// `plugboard resources`, `read`, `prompts` and `prompt` on the command line.

import { readsStdin } from "../call/command.ts";
import { type Argument, command, Mistake } from "../command.ts";
import { ONLY_SERVER, SAVE_BINARY, YES } from "../shared-options.ts";
import { isHttp, SERVER_OPTIONS } from "../typed-server.ts";

export interface ListContentRequest {
  /** Words that must all be found. */
  query: string[];
  server?: string;
}

export interface ReadRequest {
  uri: string;
  server?: string;
  /** Where binary content is saved. */
  output?: string;
  /** Read it without asking, if it needs approval. */
  yes: boolean;
}

export interface GetPromptRequest {
  name: string;
  args: string[];
  yes: boolean;
}

const WORDS = [
  { kind: "any", name: "words", about: "what to look for" },
] as const satisfies Argument[];

export const COMMANDS = [
  command({
    name: "resources",
    about: "list or search resources",
    args: WORDS,
    options: { ...SERVER_OPTIONS, server: ONLY_SERVER },
    server: { isUrl: isHttp },
    examples: ["plugboard resources", "plugboard resources --server docs guide"],
    read: (query, { server }): ListContentRequest => ({ query, server }),
    run: async (request, context) => (await import("./content.ts")).runResources(request, context),
  }),
  command({
    name: "read",
    about: "read a resource",
    usage: ["[options] <uri>", "[options] <server> <uri>"],
    args: [
      { kind: "one", name: "uri", about: "as listed by resources, or made from a template" },
      { kind: "maybe", name: "of", about: "the URI, if the first word is the server's name" },
    ],
    options: { ...SERVER_OPTIONS, server: ONLY_SERVER, output: SAVE_BINARY, yes: YES },
    // A resource may have such a URI too, so a server is only one that stands before a URI.
    server: { isUrl: (word, others) => others.length > 0 && isHttp(word) },
    tooMuch: "it takes one resource",
    examples: ["plugboard read docs:///install", "plugboard read docs docs:///install"],
    read: ([first, second], { server, output, yes }): ReadRequest | Mistake => {
      if (second === undefined) return { uri: first, server, output, yes };
      if (server !== undefined) return new Mistake("the server is named twice");
      return { uri: second, server: first, output, yes };
    },
    run: async (request, context) => (await import("./content.ts")).runRead(request, context),
  }),
  command({
    name: "prompts",
    about: "list or search prompts",
    args: WORDS,
    options: { ...SERVER_OPTIONS, server: ONLY_SERVER },
    server: {},
    examples: ["plugboard prompts", "plugboard prompts explain"],
    read: (query, { server }): ListContentRequest => ({ query, server }),
    run: async (request, context) => (await import("./content.ts")).runPrompts(request, context),
  }),
  command({
    name: "prompt",
    about: "fill in a prompt and show it",
    args: [
      { kind: "one", name: "name", about: "server/prompt, or just the prompt's name" },
      { kind: "any", name: "args", about: "key=value, a JSON object, @file, or - for stdin" },
    ],
    options: { ...SERVER_OPTIONS, yes: YES },
    server: {},
    examples: ["plugboard prompt docs/explain page=install"],
    read: ([name, ...args], { yes }): GetPromptRequest => ({ name, args, yes }),
    traits: ({ args }) => ({ readsStdin: readsStdin(args) }),
    run: async (request, context) => (await import("./content.ts")).runPrompt(request, context),
  }),
];
