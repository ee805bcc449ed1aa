// How a command's help shows commands to copy. The CLI page of the docs finds them by the same heading.

export function examples(...commands: readonly string[]): string {
  return `\nExamples:\n${commands.map((command) => `  ${command}`).join("\n")}`;
}
