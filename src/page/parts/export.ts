// Rows as text for other programs: a value a line, or a table in which what servers and clients have written stays text.

/** One value a line. */
export function jsonLines(values: readonly object[]): string {
  return values.map((value) => `${JSON.stringify(value)}\n`).join("");
}

/**
 * What begins a formula, at the beginning of a cell or of what a spreadsheet takes for one: a program that expects semicolons
 * or tabs cuts there, quoted or not. Some trim what is before it, and some know the wide forms.
 */
const FORMULA = /(?<=^|[;\t\r\n])(?=[\s\p{Cc}"']*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20])/gu;

/** A table as spreadsheets read it. What would be a formula there is text. */
export function csv(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  const cell = (text: string): string => {
    const safe = text.replace(FORMULA, "'");
    return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  return [columns, ...rows].map((row) => `${row.map(cell).join(",")}\r\n`).join("");
}
