// A command as data: its words and options, what sets it apart, its examples, and the function that runs it. The parser,
// the help, completion, the docs and `main.ts` read this value; nothing else knows a command.

import type { CliContext } from "./context.ts";
import type { Chosen, GivenOptions, Offers, Options } from "./option.ts";
import type { TakesServer, TypedServer } from "./typed-server.ts";

export interface Command {
  name: string;
  aliases: readonly string[];
  about: string;
  /** What stands after the name in its usage, a line for each way. Absent where the arguments and options say it all. */
  usage?: readonly string[];
  args: readonly Argument[];
  options: Options;
  /** Paragraphs below the options, for 80 columns. */
  notes?: string;
  examples: readonly string[];
  /** What to do about a mistake. Absent: to read its help. */
  hint?: string;
  /** The words after `--` are a program and its arguments, as those of a typed server are. For others they are words like any other. */
  takesProgram?: true;
  /** Options that it does not have belong to its words: they are a tool's. */
  takesOptions?: true;
  /** The command can use a typed server. */
  server?: TakesServer;
  /** What to say about a word too many. */
  tooMuch?: string;
  /** What to do about a missing argument beside a typed server. */
  missing?: (typed: TypedServer) => string;
  /** Commands within it. */
  commands: readonly Command[];
  /** What --help does if there are words: the command tells about what they name. */
  help?: { about: string; run: (words: readonly string[], context: CliContext) => Promise<number> };
  /** Absent if it is nothing without one of the commands within it. */
  read?: Read;
}

/** Makes of a command line what is to be run. The parser has checked the words and options against the command. */
type Read = (given: GivenLine) => Reading | Promise<Reading>;

interface GivenLine {
  /** One for each argument, and the rest of them. Undefined in place of one that is not needed beside a typed server. */
  words: readonly (string | undefined)[];
  /** By key. */
  options: Readonly<Record<string, unknown>>;
  typed?: TypedServer;
  /** The words after `--`. */
  behind?: readonly string[];
}

type Reading = Prepared | Mistake | HelpWanted;

/** What is left to do with a command line is to run it. */
export interface Prepared {
  kind: "prepared";
  /** What the function below gets. */
  request: unknown;
  traits: Traits;
  run: (context: CliContext) => number | Promise<number>;
}

/** What a command finds wrong with its words and options: a sentence without a full stop. */
export class Mistake {
  readonly kind = "mistake";
  readonly message: string;

  constructor(message: string) {
    this.message = message;
  }
}

/** The help of another command is asked for. */
export class HelpWanted {
  readonly kind = "help";
  /** The words that name the command. */
  readonly words: readonly string[];
  /** Error codes, which could have been meant by the first word. */
  readonly codes: readonly string[];

  constructor(words: readonly string[], codes: readonly string[]) {
    this.words = words;
    this.codes = codes;
  }
}

export interface Argument {
  /** `<name>`, `[name]`, `<name...>` or `[name...]` in a usage. */
  kind: "one" | "maybe" | "some" | "any";
  name: string;
  about?: string;
  /** The argument names the server, so a command line with a typed server leaves it out. */
  isServer?: true;
  /** Nothing else is taken. */
  choices?: readonly string[];
  offers?: Offers;
}

/** What sets a command apart, for whatever is the same for all of them. */
export interface Traits {
  /** The command speaks a protocol on stdin and stdout, and ends with stdin. */
  speaksOnStdio?: boolean;
  /** The command reads its arguments from stdin. */
  readsStdin?: boolean;
  /** The command goes on until somebody ends it, so this end is no failure. */
  isEndless?: boolean;
  /** The command does without Plugboard's home, or says itself what is wrong there. */
  sparesHome?: boolean;
  /** What its log shows by default: the state of the servers, if nothing else shows it, and who comes and goes. */
  logs?: readonly ("state" | "visits")[];
  /** With --json the command prints a value per line. */
  printsLines?: boolean;
  /** What ends with the command. Absent: the servers. */
  stops?: string;
  /** What has happened even if the output is lost. */
  whenLost?: string;
}

/** How a command is written down. `command` makes one of it. */
interface Description<
  Args extends readonly Argument[],
  Given extends Options,
  Request,
> extends Partial<Omit<Command, "args" | "options" | "read">> {
  name: string;
  about: string;
  examples: readonly string[];
  args?: Args;
  options?: Given;
  /** Makes what is run of the words and options. Absent if there is nothing to make. */
  read?: (
    words: WordsOf<Args>,
    options: GivenOptions<Given>,
    more: Pick<GivenLine, "typed" | "behind">,
  ) => Request | Mistake | HelpWanted | Promise<Request | Mistake | HelpWanted>;
  /** Absent if it is nothing without one of the commands within it. */
  run?: (request: Request, context: CliContext) => number | Promise<number>;
  traits?: Traits | ((request: Request) => Traits);
}

/** The types of the words and options are those that the description says. */
export function command<
  const Args extends readonly Argument[] = [],
  const Given extends Options = Options,
  Request = undefined,
>(description: Description<Args, Given, Request>): Command {
  const { args = [], options = {}, read, run, traits = {}, ...rest } = description;
  return {
    aliases: [],
    commands: [],
    ...rest,
    args,
    options,
    ...(run && {
      read: async ({ words, options: given, ...more }): Promise<Reading> => {
        // The parser gives what the description asks for.
        const typed = [words as WordsOf<Args>, given as GivenOptions<Given>, more] as const;
        const request = read === undefined ? (undefined as Request) : await read(...typed);
        if (request instanceof Mistake || request instanceof HelpWanted) return request;
        return {
          kind: "prepared",
          request,
          traits: typeof traits === "function" ? traits(request) : traits,
          run: (context) => run(request, context),
        };
      },
    }),
  };
}

type WordsOf<Args extends readonly Argument[]> = Args extends readonly [
  infer First extends Argument,
  ...infer Others extends readonly Argument[],
]
  ? First extends { kind: "some" | "any" }
    ? string[]
    : First extends { kind: "maybe" } | { isServer: true }
      ? [Chosen<First> | undefined, ...WordsOf<Others>]
      : [Chosen<First>, ...WordsOf<Others>]
  : [];

/** As `plugboard --help` shows them. */
export interface CommandGroup {
  title: string;
  commands: readonly Command[];
}
