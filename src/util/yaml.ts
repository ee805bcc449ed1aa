// Values as YAML: block style, and every text in quotes that could be read as something else.

/** What no reader takes for a number, a boolean, null, or the beginning of something. */
const PLAIN = /^[A-Za-z/][\w./-]*$/;
const WORDS = /^(?:true|false|yes|no|on|off|null|y|n)$/i;

export type YamlValue =
  | string
  | number
  | boolean
  | readonly YamlValue[]
  | { readonly [key: string]: YamlValue | undefined };

/** Several documents, one after another. Keys without a value are left out. */
export function toYaml(...documents: readonly YamlValue[]): string {
  return documents.map((each) => `${linesOf(each).join("\n")}\n`).join("---\n");
}

function linesOf(value: YamlValue): string[] {
  if (isList(value)) {
    return value.flatMap((item) => {
      const [first = "", ...rest] = linesOf(item);
      return [`- ${first}`, ...rest.map((line) => (line === "" ? line : `  ${line}`))];
    });
  }
  if (typeof value !== "object") return [scalar(value)];
  return Object.entries(value).flatMap(([key, each]) => {
    if (each === undefined) return [];
    const name = scalar(key);
    const isEmpty = typeof each === "object" && Object.keys(each).length === 0;
    if (isEmpty) return [`${name}: ${isList(each) ? "[]" : "{}"}`];
    const lines = linesOf(each);
    return typeof each === "object"
      ? [`${name}:`, ...lines.map((line) => (line === "" ? line : `  ${line}`))]
      : [`${name}: ${lines[0]}`];
  });
}

function isList(value: YamlValue): value is readonly YamlValue[] {
  return Array.isArray(value);
}

function scalar(value: string | number | boolean): string {
  if (typeof value !== "string") return String(value);
  if (PLAIN.test(value) && !WORDS.test(value)) return value;
  // What JSON escapes, YAML reads in double quotes; older readers end a line at the others, too.
  return JSON.stringify(value).replace(
    /[\u007f-\u009f\u2028\u2029\ufeff]/g,
    (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
