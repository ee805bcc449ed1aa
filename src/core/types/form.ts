// The form that a server asks a person to fill in. Reads its fields from the flat JSON Schema that MCP allows,
// and checks values against them.

import { isJsonObject, isTexts, type JsonObject, objectIn } from "./json.ts";

export type FieldValue = string | number | boolean | string[];

interface FieldCommon {
  name: string;
  title?: string;
  description?: string;
  required: boolean;
  /** Absent if the schema's default is not a valid value of the field. */
  default?: FieldValue;
}

export interface FieldOption {
  value: string;
  label: string;
}

/** The formats of texts: how a value is checked, and what is said about one that does not fit. */
const FORMATS = {
  email: {
    fits: (value: string) => /^[^\s@]+@[^\s@]+$/.test(value),
    problem: "is not an e-mail address",
  },
  uri: {
    fits: (value: string) => URL.canParse(value),
    problem: "is not an address such as https://example.com",
  },
  date: { fits: isDate, problem: "is not a date such as 2026-07-28" },
  "date-time": { fits: isDateTime, problem: "is not a time such as 2026-07-28T12:00:00Z" },
};

type TextFormat = keyof typeof FORMATS;

export type FormField = FieldCommon &
  (
    | { kind: "text"; minLength?: number; maxLength?: number; format?: TextFormat }
    | { kind: "number"; integer: boolean; minimum?: number; maximum?: number }
    | { kind: "boolean" }
    | { kind: "choice"; options: FieldOption[] }
    | { kind: "choices"; options: FieldOption[]; minItems?: number; maxItems?: number }
  );

type FieldKind = FormField extends infer Each
  ? Each extends FormField
    ? Omit<Each, keyof FieldCommon>
    : never
  : never;

const MAX_FIELDS = 64;
const MAX_OPTIONS = 500;

/** Returns the fields in the schema's order, or a sentence that says why the schema is not a form. */
export function readForm(schema: JsonObject): FormField[] | string {
  const properties = isJsonObject(schema.properties) ? Object.entries(schema.properties) : [];
  if (properties.length > MAX_FIELDS) return `it has more than ${MAX_FIELDS} fields`;
  const required = Array.isArray(schema.required) ? schema.required : [];
  const fields: FormField[] = [];
  for (const [name, property] of properties) {
    const kind = isJsonObject(property) ? readKind(property) : undefined;
    if (kind === undefined || !isJsonObject(property)) {
      return `the field '${name}' has a type that forms do not support`;
    }
    const { title, description } = property;
    const field: FormField = {
      name,
      required: required.includes(name),
      ...(typeof title === "string" && { title }),
      ...(typeof description === "string" && { description }),
      ...kind,
    };
    const given = property.default;
    if (isFieldValue(given) && fieldProblem(field, given) === undefined) field.default = given;
    fields.push(field);
  }
  return fields;
}

/** Returns what is wrong with a value, to be put after the field's name, or undefined if it is valid. */
export function fieldProblem(field: FormField, value: unknown): string | undefined {
  switch (field.kind) {
    case "text":
      return typeof value === "string" ? textProblem(field, value) : "is not text";
    case "number":
      return numberProblem(field, value);
    case "boolean":
      return typeof value === "boolean" ? undefined : "is neither true nor false";
    case "choice":
      return isOption(field.options, value) ? undefined : "is not one of the choices";
    case "choices":
      return choicesProblem(field, value);
  }
}

/**
 * A person's answer to a form as it is sent: the fields that the form has and no others, with the defaults of
 * those left out. Otherwise, what is wrong with which field.
 */
export function readFormAnswer(
  fields: readonly FormField[],
  given: unknown,
): { content: JsonObject } | { field: string; problem: string } {
  const answer = objectIn(given);
  const content: JsonObject = {};
  for (const field of fields) {
    const { name } = field;
    const value = (Object.hasOwn(answer, name) ? answer[name] : undefined) ?? field.default;
    if (value === undefined) {
      if (field.required) return { field: name, problem: "is missing" };
      continue;
    }
    const problem = fieldProblem(field, value);
    if (problem !== undefined) return { field: name, problem };
    // A name may be `__proto__`, which an assignment would not set.
    Object.defineProperty(content, name, { value, enumerable: true });
  }
  return { content };
}

function readKind(property: JsonObject): FieldKind | undefined {
  const { type, format } = property;
  switch (type) {
    case "boolean":
      return { kind: "boolean" };
    case "number":
    case "integer":
      return {
        kind: "number",
        integer: type === "integer",
        ...numbers(property, "minimum", "maximum"),
      };
    case "string": {
      const options = readOptions(property.enum, property.oneOf, property.enumNames);
      if (options === "none") {
        return {
          kind: "text",
          ...numbers(property, "minLength", "maxLength"),
          ...(isFormat(format) && { format }),
        };
      }
      return options && { kind: "choice", options };
    }
    case "array": {
      const items = objectIn(property.items);
      const options = readOptions(items.enum, items.anyOf ?? items.oneOf, undefined);
      if (options === undefined || options === "none") return undefined;
      return { kind: "choices", options, ...numbers(property, "minItems", "maxItems") };
    }
    default:
      return undefined;
  }
}

/** Returns "none" if the schema lists no options, undefined if it lists options that cannot be used. */
function readOptions(
  plain: unknown,
  titled: unknown,
  names: unknown,
): FieldOption[] | "none" | undefined {
  const list = plain ?? titled;
  if (list === undefined) return "none";
  if (!Array.isArray(list) || list.length === 0 || list.length > MAX_OPTIONS) return undefined;
  const labels: readonly unknown[] = Array.isArray(names) ? names : [];
  const options = list.flatMap((each: unknown, index): FieldOption[] => {
    const value = isJsonObject(each) ? each.const : each;
    const label = isJsonObject(each) ? each.title : labels[index];
    if (typeof value !== "string") return [];
    return [{ value, label: typeof label === "string" ? label : value }];
  });
  return options.length === list.length ? options : undefined;
}

function numbers<Key extends string>(from: JsonObject, ...keys: Key[]): { [Name in Key]?: number } {
  const found: { [Name in Key]?: number } = {};
  for (const key of keys) {
    const value = from[key];
    if (typeof value === "number") found[key] = value;
  }
  return found;
}

function isFormat(format: unknown): format is TextFormat {
  return typeof format === "string" && Object.hasOwn(FORMATS, format);
}

function isFieldValue(value: unknown): value is FieldValue {
  return ["string", "number", "boolean"].includes(typeof value) || isTexts(value);
}

function isOption(options: readonly FieldOption[], value: unknown): boolean {
  return options.some((option) => option.value === value);
}

function textProblem(
  { minLength = 0, maxLength = Infinity, format }: Extract<FormField, { kind: "text" }>,
  value: string,
): string | undefined {
  // JSON Schema counts characters; `value.length` would count surrogate pairs twice.
  const { length } = Array.from(value);
  if (length < minLength) return `is shorter than ${minLength}`;
  if (length > maxLength) return `is longer than ${maxLength}`;
  return format === undefined || FORMATS[format].fits(value) ? undefined : FORMATS[format].problem;
}

/** `Date` takes the 30th of February for a day in March, so the date must survive the round trip. */
export function isDate(text: string): boolean {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return false;
  const parsed = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(parsed.getTime()) && parsed.toISOString().startsWith(text);
}

function isDateTime(text: string): boolean {
  const isTime = /^[Tt ]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/.test(text.slice(10));
  return isTime && isDate(text.slice(0, 10)) && !Number.isNaN(Date.parse(text));
}

function numberProblem(
  { integer, minimum = -Infinity, maximum = Infinity }: Extract<FormField, { kind: "number" }>,
  value: unknown,
): string | undefined {
  if (typeof value !== "number" || !Number.isFinite(value)) return "is not a number";
  if (integer && !Number.isInteger(value)) return "is not a whole number";
  if (value < minimum) return `is below ${minimum}`;
  return value > maximum ? `is above ${maximum}` : undefined;
}

function choicesProblem(
  { options, minItems = 0, maxItems = Infinity }: Extract<FormField, { kind: "choices" }>,
  value: unknown,
): string | undefined {
  if (!Array.isArray(value)) return "is not a list";
  if (!value.every((each) => isOption(options, each)))
    return "has a value that is not one of the choices";
  if (new Set(value).size !== value.length) return "has a choice twice";
  if (value.length < minItems) return `has fewer than ${minItems} choices`;
  return value.length > maxItems ? `has more than ${maxItems} choices` : undefined;
}
