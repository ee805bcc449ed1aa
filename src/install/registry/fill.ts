// The inputs of a server.json: collects what a person has to give, and fills it into the texts that the publisher wrote.
// What a publisher wrote never becomes a reference: it would read a variable or a secret of whoever adds the server.

import { PlugboardError } from "../../core/types/errors.ts";
import { inText, isReference, mentionsSecret } from "../../core/types/secret-reference.ts";
import { escaped } from "../../core/types/server-config.ts";
import { type InputValues, type OfferInput, variableOf } from "../../core/types/server-offer.ts";
import type { ServerInput, ServerVariables } from "./server-json.ts";

/** The texts that the values make: none if it is not used, several if it may be repeated. */
export type Fill = (values: InputValues) => string[];

/** A part of a text, and whether the person or the publisher wrote it. */
interface Part {
  text: string;
  isGiven: boolean;
}

export interface InputPlace {
  key: string;
  isRepeated?: boolean;
  /** Of a secret: the variable of the environment to refer to. */
  variable?: string;
}

/** Many publishers forget to say it. */
const SECRET_NAME =
  /(?:^|[^a-z])(?:(?:api|access|auth|secret|private)[_-]?key|token|secret|password|passwd)$/i;

const IN_BRACES = /\{([^{}]{1,200})\}/g;

export class OfferInputs {
  /** The name of the server, for variables that would mean something else elsewhere, such as `TOKEN`. */
  readonly #server: string;
  readonly #inputs = new Map<string, OfferInput>();

  constructor(server: string) {
    this.#server = server;
  }

  get all(): OfferInput[] {
    return [...this.#inputs.values()];
  }

  /** A key that no other argument has. */
  freeKey(key: string): string {
    let free = key;
    for (let at = 2; this.#inputs.has(free); at += 1) free = `${key}-${at}`;
    return free;
  }

  /** What is asked for under a key; or, if the publisher has set a `value`, that text with its variables. */
  fill(spec: ServerInput & { variables?: ServerVariables }, place: InputPlace): Fill {
    if (spec.value === undefined) {
      const parts = this.#ask(spec, place);
      return (values) => parts(values).map((part) => joined([part]));
    }
    return this.template(spec.value, spec.variables ?? [], place.isRepeated);
  }

  /** `isComplete`: also what stands in braces without a word on it is asked for, as a URL cannot be used with it. */
  template(text: string, variables: ServerVariables, isRepeated = false, isComplete = false): Fill {
    const known = new Map(variables);
    const pieces: (Part | ((values: InputValues) => Part[]))[] = [];
    let end = 0;
    for (const { 0: braced, 1: key = "", index } of text.matchAll(IN_BRACES)) {
      const spec = known.get(key) ?? (isComplete ? REQUIRED : undefined);
      if (spec === undefined) continue;
      pieces.push({ text: text.slice(end, index), isGiven: false });
      if (spec.value === undefined) pieces.push(this.#ask(spec, { key, isRepeated }));
      else pieces.push({ text: spec.value, isGiven: false });
      end = index + braced.length;
    }
    pieces.push({ text: text.slice(end), isGiven: false });
    return (values) => {
      const columns = pieces.map((piece) =>
        typeof piece === "function" ? piece(values) : [piece],
      );
      if (columns.some((column) => column.length === 0)) return [];
      const count = Math.max(...columns.map((column) => column.length));
      return Array.from({ length: count }, (_, row) =>
        joined(columns.flatMap((column) => column[row] ?? column.at(-1) ?? [])),
      );
    };
  }

  #ask(
    spec: ServerInput,
    { key, isRepeated, variable }: InputPlace,
  ): (values: InputValues) => Part[] {
    const { description, isRequired, format, placeholder, choices } = spec;
    const earlier = this.#inputs.get(key);
    const isNamedSo = SECRET_NAME.test(key) && !spec.default && choices === undefined;
    const isHidden = spec.isSecret || isNamedSo || earlier?.isSecret === true;
    this.#inputs.set(key, {
      ...earlier,
      key,
      description,
      isRequired: isRequired || earlier?.isRequired === true,
      isSecret: isHidden,
      ...(isHidden && {
        variable: earlier?.variable ?? variable ?? variableOf(key, this.#server),
      }),
      format: format === "filepath" ? "file" : format,
      ...(spec.default !== undefined && spec.default !== "" && { default: spec.default }),
      placeholder,
      ...(choices !== undefined && choices.length > 0 && { choices }),
      ...(isRepeated && { isMultiple: true }),
    });
    return (values) => {
      const given = values.get(key)?.map((text) => ({ text, isGiven: true }));
      // The default of a secret is an example, which nobody wants to send.
      const preset = isHidden || !spec.default ? [] : [{ text: spec.default, isGiven: false }];
      return given ?? preset;
    };
  }
}

const REQUIRED: ServerInput = { isRequired: true, isSecret: false, format: "string" };

/** A text of the publisher's as it has to be written into a file. Throws like `joined`. */
export function published(text: string): string {
  return joined([{ text, isGiven: false }]);
}

/** Throws REFUSED_BY_POLICY if what the publisher wrote would name a secret of the person's. */
function joined(parts: readonly Part[]): string {
  const isAlone = parts.filter((part) => part.text !== "").length === 1;
  let text = "";
  /** Without the references that the person gave. */
  let rest = "";
  let foreign = "";
  for (const part of [...parts, { text: "", isGiven: true }]) {
    if (!part.isGiven) {
      foreign += part.text;
      continue;
    }
    // Only when it is complete: two parts could make a reference together.
    text += escaped(foreign) + (isAlone ? part.text : inText(part.text));
    rest += escaped(foreign) + (isReference(part.text) ? "\n" : part.text);
    foreign = "";
  }
  const isWanted = parts.some(
    ({ text: given, isGiven }) => isGiven && !isReference(given) && /secret:|op:/i.test(given),
  );
  if (mentionsSecret(rest) && !isWanted) {
    throw new PlugboardError(
      "REFUSED_BY_POLICY",
      "the publisher refers to a secret of yours (secret:// or op://), which nobody else may",
    );
  }
  return text;
}
