// One field of a form on the terminal: the question, and how a typed line becomes its value.

import {
  fieldProblem,
  type FieldOption,
  type FieldValue,
  type FormField,
} from "../../core/types/form.ts";
import { truncate } from "../../util/text.ts";
import { visible } from "../../util/visible.ts";

const MAX_TITLE = 100;
const MAX_DESCRIPTION = 300;
const MAX_OPTION = 100;

/** The last line is the prompt after which the person types. */
export function fieldLines(field: FormField): string[] {
  const { name, title, description, required } = field;
  const label = short(title ?? name, MAX_TITLE);
  const said = description === undefined ? "" : `: ${short(description, MAX_DESCRIPTION)}`;
  const lines = [`  ${label}${required ? " *" : ""}${said}`];
  if (field.kind === "choice" || field.kind === "choices") {
    field.options.forEach((option, index) =>
      lines.push(`    ${index + 1}) ${short(option.label, MAX_OPTION)}`),
    );
  }
  return [...lines, `  ${hint(field)}> `];
}

/** The value is undefined for an optional field that is left empty. */
export function readField(
  field: FormField,
  line: string,
): { value: FieldValue | undefined } | { problem: string } {
  const typed = line.trim();
  if (typed === "") {
    const isMissing = field.default === undefined && field.required;
    return isMissing ? { problem: "is required" } : { value: field.default };
  }
  const value = toValue(field, typed);
  const problem = fieldProblem(field, value);
  return problem === undefined ? { value } : { problem };
}

function toValue(field: FormField, typed: string): FieldValue {
  switch (field.kind) {
    case "text":
      return typed;
    case "number":
      return Number(typed);
    case "boolean":
      if (/^(?:y|yes|true)$/i.test(typed)) return true;
      return /^(?:n|no|false)$/i.test(typed) ? false : typed;
    case "choice":
      return optionOf(field.options, typed);
    case "choices":
      return typed.split(",").map((each) => optionOf(field.options, each.trim()));
  }
}

/** By its number, value or label; anything else is returned as typed, and fails the check. */
function optionOf(options: readonly FieldOption[], typed: string): string {
  const named = options.find(({ value, label }) => value === typed || label === typed);
  const numbered = /^\d{1,3}$/.test(typed) ? options[Number(typed) - 1] : undefined;
  return (named ?? numbered)?.value ?? typed;
}

function hint(field: FormField): string {
  const preset = field.default === undefined ? "" : `[${shown(field, field.default)}] `;
  switch (field.kind) {
    case "boolean":
      return field.default === undefined ? "[y/n] " : field.default ? "[Y/n] " : "[y/N] ";
    case "choices":
      return `numbers, separated by commas ${preset}`;
    default:
      return preset;
  }
}

function shown(field: FormField, value: FieldValue): string {
  const options = "options" in field ? field.options : [];
  const labels = (Array.isArray(value) ? value : [value]).map(
    (each) => options.find((option) => option.value === each)?.label ?? String(each),
  );
  return short(labels.join(", "), MAX_OPTION);
}

function short(text: string, max: number): string {
  return visible(truncate(text, max));
}
