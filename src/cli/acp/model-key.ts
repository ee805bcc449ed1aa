// `plugboard acp --sign-in model`: asks for the API key of a model provider, and keeps or forgets it.

import { DEFAULT_MODELS, keyVariablesOf } from "../../agent/loop/provider.ts";
import { plugboardHome } from "../../core/config/home.ts";
import { PlugboardError } from "../../core/types/errors.ts";
import type { GivenKey } from "../../core/types/model-keys.ts";
import { checkHome } from "../../core/state/state-directory.ts";
import { closest } from "../../util/closest.ts";
import { oneLine } from "../../util/text.ts";
import type { CliContext } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import { forgetKeys, keepKey, modelKeys } from "../given-keys.ts";
import { askHidden, askLine, askYesNo, canAsk } from "../terminal/input.ts";

/** Each provider's keys begin with it, as far as it is known. */
const PREFIXES: Readonly<Record<string, string>> = { anthropic: "sk-ant-", google: "AIza" };
const SHORTEST_KEY = 16;
const LONGEST_KEY = 1000;

export async function signInToModel(context: CliContext): Promise<number> {
  const { io, screen } = context;
  checkHome(plugboardHome(io.env, io.homedir), io.env);
  const stored = await modelKeys(context).read();
  const providers = Object.keys(DEFAULT_MODELS);
  for (const [index, provider] of providers.entries()) {
    screen.note(`  ${index + 1}) ${provider.padEnd(10)} ${stateOf(provider, stored, io.env)}`);
  }
  if (!canAsk(context)) {
    throw new PlugboardError("INVALID_ARGUMENTS", "a key can only be typed in a terminal", {
      hint: `elsewhere set ${providers.map((each) => keyVariablesOf(each)[0]).join(", ")}`,
    });
  }
  const answer = (await askLine("Which provider, by name or number? ", context)).trim();
  const provider = providers.find((each, index) => [each, String(index + 1)].includes(answer));
  if (provider === undefined) {
    if (answer === "") return left("Nothing has changed.");
    const meant = closest(answer, providers);
    throw new PlugboardError("INVALID_ARGUMENTS", `there is no provider '${oneLine(answer, 60)}'`, {
      hint: meant === undefined ? `there are ${providers.join(", ")}` : `did you mean '${meant}'?`,
    });
  }
  const question = stored.has(provider)
    ? `New API key for ${provider} (it is not shown; nothing to forget the stored one): `
    : `API key for ${provider} (it is not shown): `;
  const key = (await askHidden(question, context)).trim();
  if (key !== "") {
    const problem = keyProblem(provider, key);
    if (problem !== undefined) throw new PlugboardError("INVALID_ARGUMENTS", problem);
    screen.lines([`the key for ${provider} is ${await keepKey(provider, key, context)}`]);
    return EXIT.ok;
  }
  if (!stored.has(provider)) return left("No key was given.");
  if (!(await askYesNo(`Forget the stored key for ${provider}?`, context))) {
    return left("Nothing has changed.");
  }
  await forgetKeys(provider, context);
  screen.lines([`the key for ${provider} is deleted`]);
  return EXIT.ok;

  /** An editor takes any other code than 0 for a person who is not signed in. */
  function left(said: string): number {
    screen.note(said);
    return stored.size === 0 ? EXIT.unavailable : EXIT.ok;
  }
}

function stateOf(
  provider: string,
  stored: ReadonlyMap<string, GivenKey>,
  env: CliContext["io"]["env"],
): string {
  const variable = keyVariablesOf(provider).find((name) => env[name]);
  const given = stored.get(provider);
  if (given === undefined) return variable === undefined ? "no key" : `${variable} is set`;
  const kept = given.kind === "key" ? "a key is stored" : "a key is stored in the keyring";
  return variable === undefined ? kept : `${kept}, but ${variable} is set and comes first`;
}

/** Says nothing of the key itself. */
function keyProblem(provider: string, key: string): string | undefined {
  if (!/^[\x21-\x7e]+$/.test(key)) return "an API key has no spaces, and only ASCII characters";
  if (key.length < SHORTEST_KEY || key.length > LONGEST_KEY) {
    return `an API key has ${SHORTEST_KEY} to ${LONGEST_KEY} characters, and this has ${key.length}`;
  }
  const owner = Object.keys(PREFIXES).find((each) => key.startsWith(PREFIXES[each] ?? " "));
  return owner === undefined || owner === provider
    ? undefined
    : `this is a key for ${owner}, not for ${provider}`;
}
