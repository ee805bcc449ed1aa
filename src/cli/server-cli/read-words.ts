// Reads the words of a generated command line: a command for each tool, and options for what the tool takes.

import { SchemaView, typesOf } from "../../core/tools/arguments/schema-view.ts";
import type { GivenArguments } from "../../core/tools/arguments/parse.ts";
import { PlugboardError } from "../../core/types/errors.ts";
import type { JsonObject } from "../../core/types/json.ts";
import { closest } from "../../util/closest.ts";
import { oneLine, shellWord } from "../../util/text.ts";
import { readTimeout } from "../call/command.ts";
import { type EmbeddedServer, type EmbeddedTool, wordsFor } from "./embedded.ts";
import { wrong } from "../wrong.ts";

interface ServerCliOptions {
  json: boolean;
  color: boolean;
  verbose: boolean;
  yes: boolean;
  /** Milliseconds. */
  timeout?: number;
  /** Where binary content is saved. */
  output?: string;
}

type ServerCliAction =
  | { kind: "help" }
  | { kind: "list" }
  | { kind: "tool-help"; tool: EmbeddedTool }
  | {
      kind: "call";
      tool: EmbeddedTool;
      /** From options. */
      pairs: GivenArguments["pairs"];
      /** `key=value` and what else `plugboard call` takes. */
      words: string[];
    }
  | { kind: "wrong"; error: PlugboardError };

export interface ReadWords {
  action: ServerCliAction;
  options: ServerCliOptions;
}

/** Options of the command line itself, with whether each takes a value. */
const OWN: ReadonlyMap<string, boolean> = new Map([
  ["--help", false],
  ["-h", false],
  ["--list", false],
  ["--json", false],
  ["--raw", true],
  ["--yes", false],
  ["--timeout", true],
  ["--output", true],
  ["--verbose", false],
  ["--no-color", false],
]);
/** These stay options of the program, even if a tool has a parameter of the same name. */
const ALWAYS_OWN: ReadonlySet<string> = new Set(["--help", "-h"]);

/** `program` is how the command line is called, for hints. */
export function readWords(
  argv: readonly string[],
  embedded: EmbeddedServer,
  program: string,
): ReadWords {
  const reader = new Reader(embedded, program);
  try {
    return { action: reader.read(argv), options: reader.options };
  } catch (error) {
    if (!(error instanceof PlugboardError)) throw error;
    // Those after the mistake count too: a program that wants JSON gets the error as JSON.
    if (argv.includes("--json")) reader.options.json = true;
    return { action: { kind: "wrong", error }, options: reader.options };
  }
}

class Reader {
  readonly options: ServerCliOptions = { json: false, color: true, verbose: false, yes: false };
  readonly #embedded: EmbeddedServer;
  readonly #program: string;
  readonly #words: string[] = [];
  readonly #pairs: GivenArguments["pairs"] = [];
  #tool: ToolOptions | undefined;
  #wants: "help" | "list" | undefined;
  #rest: string[] = [];

  constructor(embedded: EmbeddedServer, program: string) {
    this.#embedded = embedded;
    this.#program = program;
  }

  read(argv: readonly string[]): ServerCliAction {
    this.#rest = [...argv];
    for (let word = this.#rest.shift(); word !== undefined; word = this.#rest.shift()) {
      if (word === "--") this.#words.push(...this.#rest.splice(0));
      else if (/^--?[^\d-]/.test(word) && word !== "-") this.#option(word);
      else if (this.#tool === undefined) this.#tool = this.#command(word);
      else this.#words.push(word);
    }
    const tool = this.#tool?.tool;
    if (this.#wants === "help") {
      return tool === undefined ? { kind: "help" } : { kind: "tool-help", tool };
    }
    if (this.#wants === "list") return { kind: "list" };
    if (tool !== undefined) {
      return { kind: "call", tool, pairs: this.#pairs, words: this.#words };
    }
    if (argv.length === 0) return { kind: "help" };
    throw wrong("the command is missing", `to see all commands: ${this.#program} --help`);
  }

  #command(word: string): ToolOptions {
    const { tools } = this.#embedded;
    const words = wordsFor(tools.map(({ name }) => name));
    const tool =
      tools.find(({ name }) => name === word) ?? tools.find(({ name }) => words.get(name) === word);
    if (tool !== undefined) return new ToolOptions(tool);
    const meant = closest(word, words.values());
    throw wrong(
      `there is no command '${oneLine(word, 60)}'${meant === undefined ? "" : `; did you mean '${meant}'?`}`,
      `to see all commands: ${this.#program} --help`,
    );
  }

  #option(word: string): void {
    const [name, given] = splitOption(word);
    // After the command, an option is first of all one of its own.
    const pair = ALWAYS_OWN.has(name)
      ? undefined
      : this.#tool?.take(name, {
          value: () => this.#value(name, given),
          flag: () => given ?? (isBoolean(this.#rest[0]) ? this.#rest.shift() : undefined),
        });
    if (pair !== undefined) return void this.#pairs.push(pair);
    const takesValue = OWN.get(name);
    if (takesValue === undefined) throw this.#unknown(name);
    if (!takesValue && given !== undefined) throw wrong(`${name} takes no value`);
    this.#own(name, takesValue ? this.#value(name, given) : "");
  }

  #value(name: string, given: string | undefined): string {
    const value = given ?? this.#rest.shift();
    if (value !== undefined) return value;
    throw wrong(`${name} needs a value`, this.#helpHint());
  }

  #own(name: string, value: string): void {
    const { options } = this;
    switch (name) {
      case "--json":
        options.json = true;
        return;
      case "--yes":
        options.yes = true;
        return;
      case "--verbose":
        options.verbose = true;
        return;
      case "--no-color":
        options.color = false;
        return;
      case "--raw":
        this.#words.push(value);
        return;
      case "--output":
        options.output = value;
        return;
      case "--timeout": {
        const timeout = readTimeout(value);
        if (!("value" in timeout)) throw wrong(`--timeout takes ${timeout.expected}`);
        options.timeout = timeout.value;
        return;
      }
      case "--list":
        this.#wants ??= "list";
        return;
      default:
        this.#wants = "help";
    }
  }

  #unknown(name: string): PlugboardError {
    const known = [...(this.#tool?.names() ?? []), ...OWN.keys()];
    const meant = closest(name, known);
    const help = meant === undefined ? "" : `; did you mean '${meant}'?`;
    return wrong(`there is no option '${oneLine(name, 60)}'${help}`, this.#helpHint());
  }

  #helpHint(): string {
    const words = wordsFor(this.#embedded.tools.map(({ name }) => name));
    const name = this.#tool?.tool.name ?? "";
    const command = this.#tool === undefined ? "" : ` ${shellWord(words.get(name) ?? name)}`;
    return `to see the options: ${this.#program}${command} --help`;
  }
}

/** One parameter of a tool as an option. */
export interface ToolOption {
  /** `--dry-run` */
  option: string;
  name: string;
  schema: JsonObject;
  required: boolean;
  /** Given alone, it is true. */
  isSwitch: boolean;
  isList: boolean;
}

/** The options of one tool. */
export class ToolOptions {
  readonly tool: EmbeddedTool;
  readonly view: SchemaView;
  readonly all: readonly ToolOption[];

  constructor(tool: EmbeddedTool) {
    this.tool = tool;
    this.view = new SchemaView(tool.parameters);
    const { parameters } = this.view;
    const words = wordsFor(parameters.map(({ name }) => name));
    this.all = parameters.map((parameter) => {
      const types = this.view.alternatives(parameter.schema).flatMap(typesOf);
      const values = types.filter((type) => type !== "null");
      return {
        ...parameter,
        option: `--${words.get(parameter.name)}`,
        isSwitch: values.length > 0 && values.every((type) => type === "boolean"),
        isList: values.includes("array"),
      };
    });
  }

  names(): string[] {
    return this.all.map(({ option }) => option);
  }

  /** Takes the value of an option. Undefined if the tool has no such option. */
  take(
    option: string,
    { value, flag }: { value: () => string; flag: () => string | undefined },
  ): GivenArguments["pairs"][number] | undefined {
    const found = this.#find(option);
    if (found !== undefined) {
      const text = found.isSwitch ? (flag() ?? "true") : value();
      return { key: found.name, value: { kind: "text", text } };
    }
    const negated = option.startsWith("--no-") ? this.#find(`--${option.slice(5)}`) : undefined;
    if (negated?.isSwitch) return { key: negated.name, value: { kind: "json", value: false } };
    // `--place.city Oslo` sets one field of an object.
    const dot = option.indexOf(".");
    const outer = dot === -1 ? undefined : this.#find(option.slice(0, dot));
    if (outer === undefined) return undefined;
    const key = `${outer.name}${option.slice(dot)}`;
    return { key, value: { kind: "text", text: value() } };
  }

  #find(option: string): ToolOption | undefined {
    return (
      this.all.find((each) => each.option === option) ??
      this.all.find(({ name }) => `--${name}` === option)
    );
  }
}

function isBoolean(word: string | undefined): boolean {
  return word === "true" || word === "false";
}

/** `--name=value` */
function splitOption(word: string): [name: string, value: string | undefined] {
  const at = word.indexOf("=");
  return at === -1 ? [word, undefined] : [word.slice(0, at), word.slice(at + 1)];
}
