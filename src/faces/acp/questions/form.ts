// A server's form as ACP has it: the same fields, with the few things that the two write differently.

import type {
  ElicitationPropertySchema,
  ElicitationSchema,
  EnumOption,
} from "@agentclientprotocol/sdk";
import type { FieldOption, FormField } from "../../../model/form.ts";
import { oneLine, plainText } from "../../../util/text.ts";

const LONGEST_TITLE = 200;
const LONGEST_DESCRIPTION = 2000;
/** ACP counts the characters of a text in 32 bits. */
const MAX_COUNT = 2 ** 32 - 1;
const { MIN_SAFE_INTEGER, MAX_SAFE_INTEGER } = Number;

export function toAcpForm(fields: readonly FormField[]): ElicitationSchema {
  // A name may be `__proto__`, which an assignment would not set otherwise.
  const properties: Record<string, ElicitationPropertySchema> = Object.create(null);
  for (const field of fields) properties[field.name] = toProperty(field);
  return {
    type: "object",
    description: "Give no passwords or keys here.",
    properties,
    required: fields.filter(({ required }) => required).map(({ name }) => name),
  };
}

function toProperty(field: FormField): ElicitationPropertySchema {
  const { description, default: given } = field;
  // A name is what an editor shows where there is no title, and it must stay what it is.
  const title = field.title ?? (isVisible(field.name) ? undefined : field.name);
  const about = {
    ...(title !== undefined && { title: oneLine(title, LONGEST_TITLE) }),
    ...(description !== undefined && {
      description: plainText(description.slice(0, LONGEST_DESCRIPTION)),
    }),
    ...(given !== undefined && { default: given }),
  };
  switch (field.kind) {
    case "boolean":
      return { type: "boolean", ...about };
    case "number":
      return { type: field.integer ? "integer" : "number", ...about, ...rangeOf(field) };
    case "text": {
      const { minLength, maxLength, format } = field;
      return {
        type: "string",
        ...about,
        ...(minLength !== undefined && { minLength: toCount(minLength) }),
        ...(maxLength !== undefined && { maxLength: toCount(maxLength) }),
        ...(format !== undefined && { format }),
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
        ...(minItems !== undefined && { minItems: toCount(minItems) }),
        ...(maxItems !== undefined && { maxItems: toCount(maxItems) }),
        items: isPlain(options)
          ? { type: "string", enum: values(options) }
          : { anyOf: titled(options) },
      };
    }
  }
}

function rangeOf({ integer, minimum, maximum }: Extract<FormField, { kind: "number" }>): {
  minimum?: number;
  maximum?: number;
} {
  return {
    ...(minimum !== undefined && { minimum: integer ? toWhole(Math.ceil(minimum)) : minimum }),
    ...(maximum !== undefined && { maximum: integer ? toWhole(Math.floor(maximum)) : maximum }),
  };
}

/** An editor would refuse the whole form for a bound that it cannot count to. */
function toCount(bound: number): number {
  return Math.min(MAX_COUNT, Math.max(0, Math.floor(bound)));
}

function toWhole(bound: number): number {
  return Math.min(MAX_SAFE_INTEGER, Math.max(MIN_SAFE_INTEGER, bound));
}

/** Whether the choices need no names beside themselves. */
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
