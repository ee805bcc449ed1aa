// Commands that are offered for copying: each on a line of its own, with the configuration and the agent that were
// given, so that pasting it does what was meant.

import { shellQuoted } from "../util/text.ts";
import type { GlobalOptions } from "./context.ts";
import { exceptionOptions, type TypedServer } from "./typed-server.ts";

type Given = Pick<GlobalOptions, "config" | "agent" | "typed">;

/** `words` are everything after `plugboard`, quoted for a shell. */
export function offeredCommand(words: string, { config, agent, typed }: Given): string {
  const options = Object.entries({ config, agent }).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name} ${shellQuoted(value)} `],
  );
  return `plugboard ${options.join("")}${typed === undefined ? words : withServer(words, typed)}`;
}

/** Takes out what `words` have put into an application's file. `file` is the one that was named. */
export function offeredUndo(words: string, file: string | undefined): string {
  const named = file === undefined ? "" : ` --file ${shellQuoted(file)}`;
  return offeredCommand(`${words}${named} --undo`, {});
}

/** Commands that would use the configured servers without it. */
const USES_SERVER = /^(?:tools|call|resources|read|prompts|prompt)(?= |$)/;

/** Without the values of variables and headers, which may be secret. */
function withServer(words: string, typed: TypedServer): string {
  const { url = typed.embedded?.server.url, words: command, env, headers } = typed;
  const [verb] = USES_SERVER.exec(words) ?? [];
  // An example has a server of its own.
  if (verb === undefined || / -- |:\/\//.test(words)) return words;
  const options = [
    ...env.map((each) => ` -e ${shellQuoted(each.replace(/=[^]*$/, ""))}`),
    ...headers.map((each) => ` -H ${shellQuoted(each.replace(/^([^:=]+)[^]*$/, "$1: …"))}`),
    ...exceptionOptions(typed).map((option) => ` ${option}`),
  ].join("");
  // The typed server is the only one of the command, so `--server` is left out.
  const rest = words.slice(verb.length).replace(/ --server \S+/, "");
  const first = url === undefined ? "" : ` ${shellQuoted(url)}`;
  const last = command === undefined ? "" : ` -- ${command.map(shellQuoted).join(" ")}`;
  return `${verb}${options}${first}${rest}${last}`;
}

const START = "plugboard ";

/** The lines of a text. A command at the end of one, as in `to sign in: plugboard login docs`, goes to the next line. */
export function commandsApart(text: string, given: Given): string[] {
  return asTyped(text, given)
    .split("\n")
    .flatMap((line) => {
      const isCommand = line.trimStart().startsWith(START);
      const at = isCommand ? line.indexOf(START) : line.lastIndexOf(`: ${START}`) + 2;
      if (at === 1) return [line];
      const words = line.slice(at + START.length);
      // It names its own configuration.
      const command = words.startsWith("--") ? line.slice(at) : offeredCommand(words, given);
      return isCommand ? [`  ${command}`] : [line.slice(0, at - 1), `  ${command}`];
    });
}

/** A typed server has no configuration in which something could be set. */
function asTyped(text: string, { typed }: Given): string {
  if (typed === undefined) return text;
  return text
    .replace(/set ([A-Z][\w ]*?) in its "env"/, (_, names: string) => {
      const options = names.split(/ and | or /).map((name) => `-e ${name}`);
      return `give ${options.join(names.includes(" or ") ? " or " : " and ")}`;
    })
    .replace(
      /set "(allow\w+)": true for this server/,
      (_, key: string) => `give ${exceptionOptions({ [key]: true }).join("")}`,
    )
    .replace("for this server", "for it in a configuration, into which plugboard add puts it");
}
