// The values that an offered server needs: given with --set, kept from before, or asked for on the terminal. Of a secret,
// the entry gets a reference: to where the value that was typed is put, or to a variable that the person sets.

import { existsSync, statSync } from "node:fs";
import { isAbsolute, resolve } from "node:path";
import { expandHome } from "../../util/home-path.ts";
import { PlugboardError } from "../../core/types/errors.ts";
import type { FormField } from "../../core/types/form.ts";
import { type OfferInput, type ServerOffer, variableOf } from "../../core/types/server-offer.ts";
import { closest } from "../../util/closest.ts";
import { oneLine, shellQuoted } from "../../util/text.ts";
import { visible } from "../../util/visible.ts";
import type { CliContext } from "../context.ts";
import { fieldLines, readField } from "../questions/form-field.ts";
import { askHidden, askLine, askYesNo, canAsk } from "../terminal/input.ts";
import type { TypedSecrets } from "./typed-secrets.ts";
import { wrong } from "../wrong.ts";

export interface GivenValues {
  /** `KEY=value`, as it was typed. */
  set: readonly string[];
  /** The values from when the server was added. */
  earlier?: Readonly<Record<string, readonly string[]>>;
  /** Nobody is to be asked. */
  yes: boolean;
}

export interface ReadInputs {
  values: Map<string, string[]>;
  /** Variables that the server needs, and that are not set here. */
  unset: string[];
  /** What to tell about them. */
  notes: string[];
}

/** After this many invalid answers, nobody seems to know. */
const ATTEMPTS = 3;
const MOST_VALUES = 100;

const REFERENCE = /^(?:\$\{[A-Za-z_]\w*\}|(?:secret|op):\/\/\S.*)$/;

/** Rejects with INVALID_ARGUMENTS for what is wrong or missing, all of it at once. */
export async function readInputs(
  { inputs }: Pick<ServerOffer, "inputs">,
  given: GivenValues,
  secrets: TypedSecrets,
  context: CliContext,
): Promise<ReadInputs> {
  const values = readSet(inputs, given.set, context);
  const earlier = new Map(Object.entries(given.earlier ?? {}));
  for (const input of inputs) {
    const kept = values.has(input.key) ? undefined : earlier.get(input.key);
    if (kept !== undefined && isUsable(input, kept)) values.set(input.key, [...kept]);
  }
  if (!given.yes && canAsk(context)) await askFor(inputs, values, secrets, context);
  requireAll(inputs, values);
  for (const input of inputs) {
    if (input.isSecret && input.isRequired && !values.has(input.key)) {
      values.set(input.key, [`\${${variableFor(input)}}`]);
    }
  }
  return { values, ...toldAbout(inputs, values, context) };
}

function variableFor({ key, variable }: OfferInput): string {
  return variable ?? variableOf(key);
}

function isUsable(input: OfferInput, kept: readonly string[]): boolean {
  if (input.isSecret) return kept.every((value) => REFERENCE.test(value));
  const isOne = kept.length <= 1 || input.isMultiple === true;
  return isOne && kept.every((value) => problemOf(input, value) === undefined);
}

// What was typed

function readSet(
  inputs: readonly OfferInput[],
  set: readonly string[],
  context: CliContext,
): Map<string, string[]> {
  const values = new Map<string, string[]>();
  for (const typed of set) {
    const [, name = "", text] = /^([^=]+)=([^]*)$/.exec(typed) ?? [];
    if (text === undefined)
      throw wrong(`--set takes KEY=value, and '${oneLine(typed, 60)}' has no '='`);
    const input = findInput(name, inputs);
    const earlier = values.get(input.key);
    if (earlier !== undefined && input.isMultiple !== true) {
      throw wrong(`--set gives ${shown(input)} twice, and it takes one value`);
    }
    if (input.isSecret) requireReference(input, text);
    const problem = input.isSecret ? undefined : problemOf(input, text);
    if (problem !== undefined) throw wrong(`${shown(input)} ${problem}`);
    values.set(input.key, [...(earlier ?? []), complete(input, text, context)]);
  }
  return values;
}

function findInput(name: string, inputs: readonly OfferInput[]): OfferInput {
  const plain = (key: string): string => key.replace(/^-+/, "").toLowerCase();
  const found =
    inputs.find(({ key }) => key === name) ?? inputs.find(({ key }) => plain(key) === plain(name));
  if (found !== undefined) return found;
  const keys = inputs.map(({ key }) => key);
  const meant = closest(name, keys);
  throw wrong(
    `the server has no input '${oneLine(name, 60)}'${meant === undefined ? "" : `; did you mean '${oneLine(meant, 60)}'?`}`,
    keys.length === 0 ? "it has none" : `it has ${keys.map((key) => oneLine(key, 60)).join(", ")}`,
  );
}

function requireReference(input: OfferInput, text: string): void {
  if (REFERENCE.test(text)) return;
  const example = shellQuoted(`${input.key}=\${${variableFor(input)}}`);
  throw wrong(
    `${shown(input)} is secret, and others on this machine can read a command line`,
    `leave it out and set the variable ${variableFor(input)}, or name another one, as in: --set ${example}, or where it is kept (secret://…)`,
  );
}

/** What is wrong with a value, to be put after the key. A value with a variable in it is not known yet. */
function problemOf(input: OfferInput, text: string): string | undefined {
  const { format, choices, min = -Infinity, max = Infinity } = input;
  if (/[\0\r\n]/.test(text)) return "has a line break in it";
  if (text.includes("${")) return undefined;
  if (choices !== undefined && !choices.includes(text)) {
    return `is not one of ${choices.map((each) => oneLine(each, 60)).join(", ")}`;
  }
  if (format === "boolean" && !/^(?:true|false)$/.test(text)) return "is neither true nor false";
  if (format !== "number") return undefined;
  const number = text.trim() === "" ? Number.NaN : Number(text);
  if (!Number.isFinite(number)) return "is not a number";
  if (number < min) return `is below ${min}`;
  return number > max ? `is above ${max}` : undefined;
}

/** A path means the same wherever the server starts. */
function complete({ format }: OfferInput, text: string, { io }: CliContext): string {
  const isPath = format === "file" || format === "directory";
  if (!isPath || text === "" || text.startsWith("${")) return text;
  const path = expandHome(text, io.homedir);
  return isAbsolute(path) ? path : resolve(io.cwd, path);
}

// What is asked for

async function askFor(
  inputs: readonly OfferInput[],
  values: Map<string, string[]>,
  secrets: TypedSecrets,
  context: CliContext,
): Promise<void> {
  const open = inputs.filter(({ key }) => !values.has(key));
  const required = open.filter(({ isRequired }) => isRequired);
  const optional = open.filter(({ isRequired }) => !isRequired);
  const { screen } = context;
  if (required.length > 0) screen.note('It needs a few values; "-" cancels:');
  for (const input of required) await askForOne(input);
  if (optional.length === 0) return;
  const names = optional.map(({ key }) => oneLine(visible(key), 60)).join(", ");
  const count = optional.length === 1 ? "1 optional value" : `${optional.length} optional values`;
  if (!(await askYesNo(`It takes ${count} more (${names}). Give any?`, context))) return;
  for (const input of optional) await askForOne(input);

  function askForOne(input: OfferInput): Promise<void> {
    return input.isSecret
      ? askForSecret(input, values, secrets, context)
      : ask(input, values, context);
  }
}

/** Enter alone leaves a required one to the variable. A reference is taken as what it is. */
async function askForSecret(
  input: OfferInput,
  values: Map<string, string[]>,
  secrets: TypedSecrets,
  context: CliContext,
): Promise<void> {
  const { screen } = context;
  const { key, isRequired } = input;
  const variable = variableFor(input);
  const where = await secrets.where();
  screen.note(`  ${label(input)}`);
  if (where !== undefined) {
    screen.note(`    It is a secret: it is not shown, and is stored in ${where} once you agree.`);
    const otherwise = isRequired ? `for your variable ${variable}` : "to type none";
    for (let attempts = 1; ; attempts += 1) {
      const text = (await askHidden(`  (Enter alone ${otherwise}) > `, context)).trim();
      if (text === "-") throw cancelled();
      if (text === "") break;
      const isKept = REFERENCE.test(text);
      const problem = isKept ? undefined : problemOf(input, text);
      if (problem === undefined) {
        values.set(key, [isKept ? text : await secrets.take(key, text)]);
        return;
      }
      screen.note(`  ${oneLine(visible(key), 60)} ${problem}`);
      if (attempts === ATTEMPTS) throw cancelled();
    }
  }
  if (isRequired) return;
  const question = `  It is secret. Let the server have your variable ${variable}?`;
  if (await askYesNo(question, context)) values.set(key, [`\${${variable}}`]);
}

/** Enter takes the default, which is not kept: a later version may have another. */
async function ask(
  input: OfferInput,
  values: Map<string, string[]>,
  context: CliContext,
): Promise<void> {
  const { screen } = context;
  const field = fieldOf(input);
  const lines = fieldLines(field);
  const prompt = lines.pop() ?? "";
  for (const line of lines) screen.note(line);
  if (input.placeholder !== undefined) {
    screen.note(`    for example ${oneLine(visible(input.placeholder), 200)}`);
  }
  const given: string[] = [];
  let attempts = 0;
  while (given.length < MOST_VALUES) {
    const line = (await askLine(prompt, context)).trim();
    if (line === "-") throw cancelled();
    if (line === "" && (given.length > 0 || !input.isRequired || input.default !== undefined))
      break;
    const answer = readField(field, line);
    const text = "value" in answer ? String(answer.value) : line;
    const problem = "problem" in answer ? answer.problem : problemOf(input, text);
    if (problem !== undefined) {
      screen.note(`  ${oneLine(visible(input.key), 60)} ${problem}`);
      attempts += 1;
      if (attempts === ATTEMPTS) throw cancelled();
      continue;
    }
    given.push(complete(input, text, context));
    if (input.isMultiple !== true) break;
    screen.note("    another one, or Enter to go on");
  }
  if (given.length > 0) values.set(input.key, given);
}

function fieldOf(input: OfferInput): FormField {
  const { key: name, description, isRequired, format, choices, min, max } = input;
  const common = { name, ...(description !== undefined && { description }), required: isRequired };
  const preset = input.default;
  if (choices !== undefined) {
    const options = choices.map((value) => ({ value, label: value }));
    return { ...common, kind: "choice", options, ...(preset !== undefined && { default: preset }) };
  }
  if (format === "boolean") {
    const isSet = preset !== undefined;
    return { ...common, kind: "boolean", ...(isSet && { default: preset === "true" }) };
  }
  if (format === "number") {
    return {
      ...common,
      kind: "number",
      integer: false,
      ...(min !== undefined && { minimum: min }),
      ...(max !== undefined && { maximum: max }),
      ...(preset !== undefined && Number.isFinite(Number(preset)) && { default: Number(preset) }),
    };
  }
  return { ...common, kind: "text", ...(preset !== undefined && { default: preset }) };
}

function cancelled(): PlugboardError {
  return new PlugboardError("NOT_APPROVED", "not all values were given; nothing has changed");
}

// What is missing, and what is to be told

function requireAll(
  inputs: readonly OfferInput[],
  values: ReadonlyMap<string, readonly string[]>,
): void {
  const missing = inputs.filter(
    ({ key, isRequired, isSecret, default: preset }) =>
      isRequired && !isSecret && preset === undefined && !values.has(key),
  );
  if (missing.length === 0) return;
  const lines = missing.map((input) => `  ${label(input)}`);
  throw new PlugboardError(
    "INVALID_ARGUMENTS",
    ["the server needs values that were not given:", ...lines].join("\n"),
    {
      hint: `give each, as in: ${missing.map(({ key }) => `--set ${shellQuoted(`${key}=…`)}`).join(" ")}`,
    },
  );
}

function label(input: OfferInput): string {
  const { description, choices, placeholder } = input;
  return [
    oneLine(visible(input.key), 60),
    ...(description === undefined ? [] : [`: ${oneLine(visible(description), 300)}`]),
    ...(choices === undefined
      ? []
      : [` (${choices.map((each) => oneLine(visible(each), 60)).join(", ")})`]),
    ...(placeholder === undefined ? [] : [`, for example ${oneLine(visible(placeholder), 100)}`]),
  ].join("");
}

function shown({ key }: OfferInput): string {
  return `'${oneLine(visible(key), 60)}'`;
}

function toldAbout(
  inputs: readonly OfferInput[],
  values: ReadonlyMap<string, readonly string[]>,
  { io }: CliContext,
): Pick<ReadInputs, "unset" | "notes"> {
  const notes: string[] = [];
  const unset = new Set<string>();
  for (const input of inputs) {
    const given = values.get(input.key) ?? [];
    const variables = given.flatMap((value) =>
      Array.from(value.matchAll(/\$\{([A-Za-z_]\w*)\}/g), ([, name = ""]) => name),
    );
    const open = variables.filter((name) => !io.env[name]);
    for (const name of open) unset.add(name);
    if (input.isSecret && open.length > 0) {
      notes.push(
        [
          label(input),
          "  It is secret, so set it yourself:",
          `    ${setting(open[0] ?? "")}`,
          `  or name where it is kept: --set ${shellQuoted(`${input.key}=secret://keyring/service/account`)}`,
        ].join("\n"),
      );
    } else if (input.isSecret && variables.length > 0) {
      notes.push(`it gets your ${variables.join(" and ")}, which is set here`);
    } else if (input.isSecret && given.length === 0) {
      const example = shellQuoted(`${input.key}=\${${variableFor(input)}}`);
      notes.push(
        `${oneLine(visible(input.key), 60)} is optional and secret; to give it: --set ${example}`,
      );
    }
    if (input.format === "file" || input.format === "directory") {
      for (const path of given) notes.push(...pathNotes(path, input));
    }
  }
  return { unset: [...unset], notes };
}

function setting(name: string): string {
  return process.platform === "win32" ? `setx ${name} <value>` : `export ${name}=<value>`;
}

function pathNotes(path: string, { format }: OfferInput): string[] {
  if (path.includes("${")) return [];
  if (!existsSync(path)) return [`warning: ${visible(path)} does not exist`];
  const isWrong = format === "directory" && !statSync(path).isDirectory();
  return isWrong ? [`warning: ${visible(path)} is not a directory`] : [];
}
