// What a change of a configuration leaves stored: secrets that it referred to, where nothing in it does any more, and the
// sign-in to a server.

import { readSignIns } from "../../core/board/sign-in-state.ts";
import { plugboardHome } from "../../core/config/home.ts";
import { loadConfig } from "../../core/config/load.ts";
import { referencesIn } from "../../core/config/schema/references.ts";
import { parseText } from "../../core/config/text/document.ts";
import { openFileState } from "../../core/state/files/open.ts";
import { SECRET_STORES, type SecretReference } from "../../core/types/secret-provider.ts";
import { shellQuoted } from "../../util/text.ts";
import { someString } from "../../util/value-strings.ts";
import { visible } from "../../util/visible.ts";
import type { CliContext } from "../context.ts";
import { offeredCommand } from "../offered-command.ts";
import { WHERE } from "../store-secret.ts";
import type { ServerFile } from "./server-file.ts";

export interface LeftSecret {
  /** The reference, as it was written. */
  text: string;
  /** Where it is, in words. */
  where: string;
}

/** Only those of the stores that a value can be put into. */
export function leftSecrets(before: string, after: string): LeftSecret[] {
  const left = new Map<string, LeftSecret>();
  for (const reference of referencesOf(before)) {
    const { provider, text } = reference;
    const store = SECRET_STORES.find((each) => each === provider);
    if (store === undefined || after.includes(text)) continue;
    const where = store === "file" ? visible(reference.path) : WHERE[store];
    left.set(text, { text, where });
  }
  return [...left.values()];
}

function referencesOf(text: string): SecretReference[] {
  const document = parseText(text);
  const found: SecretReference[] = [];
  if (document.kind !== "document") return found;
  someString(document.value, (each) => {
    found.push(...referencesIn(each));
    return false;
  });
  return found;
}

export function leftLines(secrets: readonly LeftSecret[]): string[] {
  return secrets.map(
    ({ text, where }) => `a secret stays in ${where}, where you can delete it: ${visible(text)}`,
  );
}

/** Says how to end the sign-in to the server, which is still in the file. Empty if there is none on this machine. */
export async function signInLines(
  name: string,
  { path, source: { base } }: Pick<ServerFile, "path" | "source">,
  { io, options, clock }: CliContext,
): Promise<string[]> {
  const { env, cwd, homedir } = io;
  try {
    const { servers } = await loadConfig(path, options.agent, { cwd, homedir, base });
    const { grants } = openFileState(plugboardHome(env, homedir), { clock });
    const own = servers.filter((each) => each.name === name);
    const states = await readSignIns(own, { grants, env, clock });
    if (states.every(({ kind }) => kind === "missing")) return [];
    const words = ["undo", "logout"].map((word) => offeredCommand(word, options));
    return [
      `you stay signed in to ${visible(name)}; to sign out:`,
      `  ${words[0]} && ${words[1]} ${shellQuoted(name)}`,
    ];
  } catch {
    // The change itself says what is wrong with the file.
    return [];
  }
}
