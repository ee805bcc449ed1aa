// What HTTP allows as a header's name and value.

export function headerNameProblem(name: string): string | undefined {
  return /^[!#$%&'*+.^_`|~\w-]+$/.test(name)
    ? undefined
    : "is not a name for a header; expected letters, digits and hyphens";
}

/** Never quotes the value. */
export function headerValueProblem(value: string): string | undefined {
  return /[\r\n\0]/.test(value) ? "has a line break in it; expected a single line" : undefined;
}
