// What another application asks its user for, such as VS Code's inputs: asked for here too, and written into the servers in
// place of the variables.

import type { JsonObject } from "../../core/types/json.ts";
import { inText } from "../../core/types/secret-reference.ts";
import type { OfferInput } from "../../core/types/server-offer.ts";
import { escaped, type ServerConfig } from "../../core/types/server-config.ts";
import type { CliContext } from "../context.ts";
import { readInputs } from "../servers/inputs.ts";
import type { ServerFile } from "../servers/server-file.ts";
import { TypedSecrets } from "../servers/typed-secrets.ts";
import { canAsk } from "../terminal/input.ts";
import type { ImportRequest } from "./command.ts";
import type { Candidate } from "./plan.ts";

export interface WithInputs {
  wanted: Candidate[];
  /** What was typed and is stored once the person agrees. */
  typed: TypedSecrets;
  /** The variables of inputs that have no value: neither here nor in the environment. */
  unset: string[];
}

export async function withInputs(
  wanted: readonly Candidate[],
  target: ServerFile,
  { yes, references, secrets }: ImportRequest,
  context: CliContext,
): Promise<WithInputs> {
  const { env } = context.io;
  const inputs = new Map<string, OfferInput>();
  for (const { file, server } of wanted) {
    const text = JSON.stringify(server);
    for (const input of file.inputs) {
      const { variable = "" } = input;
      if (env[variable] === undefined && mentions(text, variable)) inputs.set(variable, input);
    }
  }
  const [first] = wanted;
  const typed = new TypedSecrets(first?.file.application ?? "import", target, secrets, context);
  const mayAsk = !yes && !references && !context.options.json && canAsk(context);
  if (!mayAsk || inputs.size === 0) {
    return { wanted: [...wanted], typed, unset: [...inputs.keys()] };
  }
  const asked = { inputs: [...inputs.values()] };
  const { values } = await readInputs(asked, { set: [], yes: false }, typed, context);
  const given = new Map(
    [...inputs].flatMap(([variable, { key, isSecret }]): [string, string][] => {
      const [value] = values.get(key) ?? [];
      // Left to the variable, or to the default that stands beside it.
      if (value === undefined || value === `\${${variable}}`) return [];
      return [[variable, isSecret ? value : escaped(value)]];
    }),
  );
  return {
    wanted: wanted.map((each) => ({ ...each, server: filled(each.server, given) })),
    typed,
    unset: [...inputs].flatMap(([variable, { default: preset }]) =>
      given.has(variable) || preset !== undefined ? [] : [variable],
    ),
  };
}

function mentions(text: string, variable: string): boolean {
  return text.includes(`\${${variable}}`) || text.includes(`\${${variable}:-`);
}

function filled(server: ServerConfig, given: ReadonlyMap<string, string>): ServerConfig {
  const fill = (text: string): string => {
    const [, whole = ""] = /^\$\{(\w+)(?::-[^}]*)?\}$/.exec(text) ?? [];
    return (
      given.get(whole) ??
      text.replace(/(?<!\$)\$\{(\w+)(?::-[^}]*)?\}/g, (reference, variable: string) => {
        const value = given.get(variable);
        return value === undefined ? reference : inText(value);
      })
    );
  };
  const copy: JsonObject = JSON.parse(JSON.stringify(server), (_, value: unknown) =>
    typeof value === "string" ? fill(value) : value,
  );
  return copy;
}
