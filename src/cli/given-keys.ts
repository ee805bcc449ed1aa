// The keys for models that a person gives: each is kept in the keyring of this machine where that works, and else in a
// file of ours.

import { parseReference } from "../core/config/schema/references.ts";
import { PlugboardError } from "../core/types/errors.ts";
import type { GivenKey } from "../core/types/model-keys.ts";
import { reasonOf } from "../util/system-problem.ts";
import { plugboardHome } from "../core/config/home.ts";
import { ModelKeyFile } from "../core/state/model-key-file.ts";
import type { CliContext } from "./context.ts";
import { storeSecret, withSecrets } from "./store-secret.ts";

type Context = Pick<CliContext, "io" | "clock" | "logger" | "signal">;

/** What `plugboard acp --sign-in model` keeps. */
export function modelKeys({ io, clock }: Pick<CliContext, "io" | "clock">): ModelKeyFile {
  return new ModelKeyFile(plugboardHome(io.env, io.homedir), clock);
}

/** Gives the keys themselves, to be redacted; each is got from the keyring once. One that cannot be had is left out. */
export function keyReader(context: Context): () => Promise<string[]> {
  const known = new Map<string, string>();
  return async () => {
    const given = [...(await modelKeys(context).read()).values()];
    const values = given.map(async (each): Promise<string[]> => {
      if (each.kind === "key") return [each.key];
      const id = `${each.since} ${each.reference}`;
      const reference = parseReference(each.reference);
      if (reference === undefined) return [];
      const value =
        known.get(id) ??
        (await withSecrets({}, context, (secrets) =>
          secrets.resolve({ reference, key: "apiKey" }),
        ).catch(() => undefined));
      if (value === undefined) return [];
      known.set(id, value);
      return [value];
    });
    return (await Promise.all(values)).flat();
  };
}

/** Says where it is kept, to be put behind "the key is". */
export async function keepKey(provider: string, key: string, context: Context): Promise<string> {
  const keys = modelKeys(context);
  const before = (await keys.read()).get(provider);
  const reference = await intoKeyring(provider, key, context);
  if (reference === undefined) {
    await keys.store(provider, { kind: "key", key });
    if (before !== undefined) await removeFromKeyring([before], context);
    return `stored in ${keys.path}, which only you can read`;
  }
  await keys.store(provider, { kind: "reference", reference, since: context.clock.now() });
  return `stored in the keyring of this machine (${reference})`;
}

/**
 * Without a provider it forgets all keys. Resolves to the providers whose key was there. Rejects with SYSTEM_ERROR if one
 * is forgotten here, and still in the keyring.
 */
export async function forgetKeys(
  provider: string | undefined,
  context: Context,
): Promise<string[]> {
  const forgotten = await modelKeys(context).forget(provider);
  const left = await removeFromKeyring([...forgotten.values()], context);
  const [first] = left;
  if (first === undefined) return [...forgotten.keys()];
  const places = left.map(({ reference }) => reference).join(" and ");
  throw new PlugboardError(
    "SYSTEM_ERROR",
    `the key is not used any more, but it is still in the keyring (${places}): ${first.reason}`,
    { hint: "remove it with the program for the keyring of your system" },
  );
}

/** Whose settings apply does not matter: the keys are the person's, and not of a configuration. */
async function intoKeyring(
  provider: string,
  key: string,
  context: Context,
): Promise<string | undefined> {
  const isUsable = await withSecrets({}, context, (secrets) => secrets.isUsable("keyring"));
  if (!isUsable) return undefined;
  try {
    const name = `model-${provider}`;
    const stored = await storeSecret(name, key, "keyring", context, { replaces: true });
    return stored.text;
  } catch (error) {
    if (error instanceof PlugboardError && error.code === "CANCELLED") throw error;
    // One that can be read may still refuse to be written to.
    context.logger.warn(`the keyring did not take the key: ${reasonOf(error)}`);
    return undefined;
  }
}

interface Left {
  reference: string;
  reason: string;
}

/** Resolves to the keys that could not be removed. */
async function removeFromKeyring(keys: readonly GivenKey[], context: Context): Promise<Left[]> {
  const references = keys.flatMap((given) => (given.kind === "reference" ? [given.reference] : []));
  if (references.length === 0) return [];
  return withSecrets({}, context, async (secrets) => {
    const tried = references.map(async (text): Promise<Left[]> => {
      const reference = parseReference(text);
      if (reference === undefined) return [];
      return secrets.remove(reference).then(
        () => [],
        (error: unknown) => [{ reference: text, reason: reasonOf(error) }],
      );
    });
    return (await Promise.all(tried)).flat();
  });
}
