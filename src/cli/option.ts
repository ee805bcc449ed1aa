// The options of a command as data: how each is typed, which values it takes, and what the command gets of it.

/** By the key under which its value is given to the command. */
export type Options = Readonly<Record<string, Option>>;

export type Option =
  | (OptionWords & { kind: "flag" })
  /** `--no-x`: the value is true unless the option is given. */
  | (OptionWords & { kind: "denial" })
  | (OptionWords & OptionValue & { kind: "value" })
  /** The value may be left out; then it is `preset`, or true. */
  | (OptionWords & OptionValue & { kind: "optional"; preset?: string })
  /** The option can be given several times. */
  | (OptionWords & OptionValue & { kind: "list" });

interface OptionWords {
  name: `--${string}`;
  short?: `-${string}`;
  /** Understood too, and shown nowhere. */
  also?: `-${string}`;
  about: string;
  isHidden?: true;
  /** Keys of flags and values with which it cannot be given. */
  without?: readonly string[];
}

interface OptionValue {
  /** What the value is called: `file` for `<file>`. */
  value: string;
  /** Nothing else is taken. */
  choices?: readonly string[];
  /** Absent: the text as it is. */
  read?: (text: string) => ReadValue<unknown>;
  /** What to do about a value that is not taken, if there is more to say than what is expected. */
  hint?: string;
  offers?: Offers;
}

/** `expected` is what the value should have been, as in "a whole number". */
export type ReadValue<T> = { value: T } | { expected: string };

export type ValuedOption = Extract<Option, OptionValue>;

export function takesValue(option: Option): option is ValuedOption {
  return option.kind !== "flag" && option.kind !== "denial";
}

/** What a command gets of its options. */
export type GivenOptions<Given extends Options> = {
  readonly [Key in keyof Given]: GivenOption<Given[Key]>;
};

type GivenOption<Of> = Of extends { kind: "flag" }
  ? boolean
  : Of extends { kind: "denial" }
    ? boolean
    : Of extends { kind: "list" }
      ? ValueOf<Of>[]
      : Of extends { kind: "optional" }
        ? ValueOf<Of> | (Of extends { preset: infer Preset } ? Preset : true) | undefined
        : ValueOf<Of> | undefined;

type ValueOf<Of> = Of extends { read: (text: string) => ReadValue<infer Value> }
  ? Value
  : Chosen<Of>;

/** `-e, --env <KEY=value>`: as it is typed. */
export function flagsOf(option: Option): string {
  const { name, short } = option;
  const names = short === undefined ? name : `${short}, ${name}`;
  if (!takesValue(option)) return names;
  return option.kind === "optional" ? `${names} [${option.value}]` : `${names} <${option.value}>`;
}

/** One of the choices, if there are any. */
export type Chosen<Of> = Of extends { choices: readonly (infer Choice)[] } ? Choice : string;

/** What stands in a place: one of these words, or something that is looked up when it is completed. */
export type Values = readonly string[] | Looked;

type Looked =
  | "agent"
  | "argument"
  | "command"
  | "directory"
  | "file"
  | "model"
  /** A text of your own: nothing is offered, and files only where you begin to type a path. */
  | "own"
  | "server"
  /** `server/tool`, or a server for all its tools. */
  | "target"
  | "tool";

/** What the shell offers in a place: by default nothing, since it is a text of your own. */
export type Offers = Values | "application";
