// The template of public tool names: what it may contain, and the one used when none is given.

export const DEFAULT_TOOL_NAMES = "mcp__{server}__{tool}";

/** What is wrong with a template and what was expected, or undefined. */
export function toolNamesProblem(template: string): string | undefined {
  for (const placeholder of ["{server}", "{tool}"]) {
    const count = template.split(placeholder).length - 1;
    if (count !== 1) {
      const found = count === 0 ? `has no ${placeholder}` : `has ${placeholder} more than once`;
      return `${found}; expected {server} and {tool} once each`;
    }
  }
  const rest = template.replace("{server}", "").replace("{tool}", "");
  if (/[{}]/.test(rest)) {
    return "has other braces than {server} and {tool}; expected those two once each";
  }
  if (!/^[A-Za-z0-9_:-]*$/.test(rest)) {
    return "has a character that tool names cannot have; expected only A-Z a-z 0-9 _ - : around {server} and {tool}";
  }
  return undefined;
}
