// The arguments of a package's command line, as a server.json describes them.

import { inText } from "../../core/types/secret-reference.ts";
import type { InputValues } from "../../core/types/server-offer.ts";
import { type Fill, type OfferInputs, published } from "./fill.ts";
import type { ServerArgument } from "./server-json.ts";

/** The words that arguments become, in their order. */
export function argumentWords(
  given: readonly ServerArgument[],
  inputs: OfferInputs,
): (values: InputValues) => string[] {
  const fills = given.map((argument) => wordsOf(argument, inputs));
  return (values) => fills.flatMap((fill) => fill(values));
}

function wordsOf(argument: ServerArgument, inputs: OfferInputs): Fill {
  const { isRepeated } = argument;
  if (argument.type === "positional") {
    const key = inputs.freeKey(argument.valueHint || "argument");
    return inputs.fill(argument, { key, isRepeated });
  }
  const name = published(argument.name);
  if (isPlainFlag(argument)) return () => [name];
  const key = inputs.freeKey(argument.name.replace(/^-+|=$/g, "") || argument.name);
  const fill = inputs.fill(argument, { key, isRepeated });
  const isSwitch = argument.format === "boolean" && argument.value === undefined;
  return (values) =>
    fill(values).flatMap((value) =>
      isSwitch ? switchWords(name, value, argument.default) : withValue(name, value),
    );
}

/** Nothing says that it has a value, so it is written as it is: `{ "type": "named", "name": "--stdio" }`. */
function isPlainFlag(argument: Extract<ServerArgument, { type: "named" }>): boolean {
  const { value, description, isRequired, isSecret, format, placeholder, choices } = argument;
  const said = [value, argument.default, description, placeholder, choices];
  return (
    said.every((each) => each === undefined) && !isRequired && !isSecret && format === "string"
  );
}

/** Programs that know `--flag` alone do not know `--flag true`. */
function switchWords(name: string, value: string, preset: string | undefined): string[] {
  if (value === "true") return [name];
  return value === "false" && preset !== "true" ? [] : [`${name}=${inText(value)}`];
}

/** Two words, as VS Code writes them, although the schema shows `--flag={value}`: servers are published for that. */
function withValue(name: string, value: string): string[] {
  if (name.endsWith("=")) return [`${name}${inText(value)}`];
  return value === "" ? [name] : [name, value];
}
