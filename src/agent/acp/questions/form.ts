// Converts a server's form to ACP's. The fields are the same; a few things are written differently.

import type {
  ElicitationPropertySchema,
  ElicitationSchema,
  EnumOption,
} from "@agentclientprotocol/sdk";
import type { FieldOption, FormField } from "../../../core/types/form.ts";
import { oneLine, plainText } from "../../../util/text.ts";

const LONGEST_TITLE = 200;
const LONGEST_DESCRIPTION = 2000;
/** ACP's counts of characters and items have 32 bits. */
const MAX_COUNT = 2 ** 32 - 1;
const { MIN_SAFE_INTEGER, MAX_SAFE_INTEGER } = Number;

export function toAcpForm(fields: readonly FormField[]): ElicitationSchema {
  // A field may be called `__proto__`, which assignment to an ordinary object would not set.
  const properties: Record<string, ElicitationPropertySchema> = Object.create(null);
  for (const field of fields) properties[field.name] = toProperty(field);
  return {
    type: "object",
    description: "Do not enter passwords or keys here.",
    properties,
    required: fields.filter(({ required }) => required).map(({ name }) => name),
  };
}

function toProperty(field: FormField): ElicitationPropertySchema {
  const { description, default: given } = field;
  // An editor shows the name if there is no title. A name with invisible characters gets a readable title instead.
  const title = field.title ?? (isVisible(field.name) ? undefined : field.name);
  const about = {
    title: title === undefined ? undefined : oneLine(title, LONGEST_TITLE),
    description: description && plainText(description.slice(0, LONGEST_DESCRIPTION)),
    default: given,
  };
  switch (field.kind) {
    case "boolean":
      return { type: "boolean", ...about, default: field.default };
    case "number": {
      const { integer, minimum, maximum } = field;
      return {
        type: integer ? "integer" : "number",
        ...about,
        minimum: integer ? toWhole(minimum, Math.ceil) : minimum,
        maximum: integer ? toWhole(maximum, Math.floor) : maximum,
      };
    }
    case "text": {
      const { minLength, maxLength, format } = field;
      return {
        type: "string",
        ...about,
        minLength: toCount(minLength),
        maxLength: toCount(maxLength),
        format,
      };
    }
    case "choice": {
      const { options } = field;
      const listed = isPlain(options) ? { enum: values(options) } : { oneOf: titled(options) };
      return { type: "string", ...about, ...listed };
    }
    case "choices": {
      const { minItems, maxItems, options } = field;
      return {
        type: "array",
        ...about,
        minItems: toCount(minItems),
        maxItems: toCount(maxItems),
        items: isPlain(options)
          ? { type: "string", enum: values(options) }
          : { anyOf: titled(options) },
      };
    }
  }
}

/** An editor would refuse the whole form for a bound that is out of range. */
function toCount(bound: number | undefined): number | undefined {
  return bound && Math.min(MAX_COUNT, Math.max(0, Math.floor(bound)));
}

function toWhole(bound: number | undefined, round: (value: number) => number): number | undefined {
  return bound && Math.min(MAX_SAFE_INTEGER, Math.max(MIN_SAFE_INTEGER, round(bound)));
}

/** Whether the values can be shown as they are, without titles. */
function isPlain(options: readonly FieldOption[]): boolean {
  return options.every(({ value, label }) => value === label && isVisible(value));
}

function isVisible(text: string): boolean {
  return plainText(text) === text;
}

function values(options: readonly FieldOption[]): string[] {
  return options.map(({ value }) => value);
}

function titled(options: readonly FieldOption[]): EnumOption[] {
  return options.map(({ value, label }) => ({
    const: value,
    title: oneLine(label, LONGEST_TITLE),
  }));
}
