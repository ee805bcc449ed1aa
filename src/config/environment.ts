// The environment as an argument, and the names of variables that a configuration may give a server.

export type Environment = Readonly<Record<string, string | undefined>>;

const LOADS_CODE = /^(NODE_OPTIONS|PYTHONSTARTUP|LD_.*|DYLD_.*|BASH_FUNC_.*)$/i;

/** What is wrong with a name in `env`, or undefined. */
export function variableProblem(name: string): string | undefined {
  if (name === "" || /[=\p{Cc}]/u.test(name)) {
    return 'is not a name for a variable; expected one without "=" and control characters';
  }
  if (LOADS_CODE.test(name)) {
    return "is refused: it can load foreign code into the server; expected it in a wrapper script, where it is needed";
  }
  return undefined;
}
