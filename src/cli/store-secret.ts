// Puts credentials away, so that a configuration has only references to them: into the provider that somebody names, or
// else into the one that is configured or that this machine has.

import { AgentSecrets } from "../core/board/agent-secrets.ts";
import type { AgentConfig } from "../core/types/agent-config.ts";
import { PlugboardError, toPlugboardError } from "../core/types/errors.ts";
import {
  SECRET_STORES,
  type SecretReference,
  type SecretSettings,
  type SecretStoreName,
  secretUnavailable,
} from "../core/types/secret-provider.ts";
import type { CliContext } from "./context.ts";

/** The settings that decide where secrets are. */
export type SecretSettingsOf = Pick<AgentConfig, "secrets" | "networkProxy">;

/** In words. */
export const WHERE: Readonly<Record<SecretStoreName, string>> = {
  gcp: "Google Cloud's Secret Manager",
  aws: "AWS Secrets Manager",
  vault: "Vault",
  azure: "Azure Key Vault",
  keyring: "the keyring of this machine",
  file: "a file that only you can read",
};

type Context = Pick<CliContext, "io" | "clock" | "logger" | "signal">;

interface StoreOptions {
  /** The configuration that the reference is for: its settings decide where a provider is. */
  agent?: SecretSettingsOf;
  /** Replace another value that has this name. */
  replaces?: boolean;
}

/** One provider, ready to take values. */
export interface SecretStore {
  readonly provider: SecretStoreName;
  /** The reference for a name: what will be written. */
  place: (name: string) => SecretReference;
  /**
   * Puts the value there and reads it back. Rejects with SECRET_UNAVAILABLE if one of the two fails, and with
   * INVALID_ARGUMENTS if there is another value of this name.
   */
  put: (name: string, value: string, replaces: boolean) => Promise<SecretReference>;
}

/** Puts one value away and gives the reference to write. Without `to`, where it fits. */
export async function storeSecret(
  name: string,
  value: string,
  to: SecretStoreName | undefined,
  context: Context,
  { agent = {}, replaces = false }: StoreOptions = {},
): Promise<SecretReference> {
  return withStore(to, agent, context, (store) => store.put(name, value, replaces));
}

export async function withStore<Result>(
  to: SecretStoreName | undefined,
  agent: SecretSettingsOf,
  context: Context,
  use: (store: SecretStore) => Promise<Result>,
): Promise<Result> {
  return withSecrets(agent, context, async (secrets) => {
    const provider = to ?? (await fitting(agent.secrets ?? {}, secrets));
    const place = await secrets.placer(provider);
    return use({
      provider,
      place,
      put: (name, value, replaces) =>
        put({ provider, name, place: place(name), value, replaces }, secrets, context),
    });
  });
}

/** The providers of a configuration, closed afterwards. */
export async function withSecrets<Result>(
  { secrets: settings, networkProxy: proxy }: SecretSettingsOf,
  { io, clock, logger }: Context,
  use: (secrets: AgentSecrets) => Promise<Result>,
): Promise<Result> {
  const { env } = io;
  const secrets = new AgentSecrets({ settings, proxy, env, clock, logger });
  try {
    return await use(secrets);
  } finally {
    await secrets.close();
  }
}

/** What a value is called where it is put: `github-GITHUB_TOKEN`. */
export function secretName(server: string, key: string): string {
  const name = `${server}-${key}`.replace(/[^A-Za-z0-9_.-]+/g, "-").replace(/^[^A-Za-z0-9]+/, "");
  return name === "" ? "secret" : name;
}

async function fitting(settings: SecretSettings, secrets: AgentSecrets): Promise<SecretStoreName> {
  const configured = SECRET_STORES.find((name) =>
    name === "azure" ? settings.azure?.vault !== undefined : settings[name] !== undefined,
  );
  if (configured !== undefined) return configured;
  return (await secrets.isUsable("keyring")) ? "keyring" : "file";
}

interface Put {
  provider: SecretStoreName;
  name: string;
  place: SecretReference;
  value: string;
  replaces: boolean;
}

async function put(
  { provider, name, place, value, replaces }: Put,
  secrets: AgentSecrets,
  { signal }: Context,
): Promise<SecretReference> {
  const read = (reference: SecretReference): Promise<string> =>
    secrets.resolve({ reference, key: name, signal });
  const known = await read(place).catch(() => undefined);
  if (known === value) return place;
  if (known !== undefined && !replaces) {
    throw new PlugboardError("INVALID_ARGUMENTS", `${place.text} has another value already`, {
      hint: "give the new one another name with --name, or replace the old one with --force",
    });
  }
  const stored = await secrets.store(provider, name, value).catch((cause: unknown) => {
    const { message, hint, permanent } = toPlugboardError(cause, "SECRET_UNAVAILABLE");
    const told = `the value cannot be put into ${provider}: ${message}; the configuration has not changed`;
    throw secretUnavailable(told, { hint, permanent, cause });
  });
  const found = await read(stored).catch((cause: unknown) => {
    const { message, hint, permanent } = toPlugboardError(cause, "SECRET_UNAVAILABLE");
    const told = `the value is in ${provider} now, but cannot be read back, so the configuration has not changed: ${message}`;
    throw secretUnavailable(told, { hint, permanent, cause });
  });
  if (found === value) return stored;
  throw secretUnavailable(
    `${stored.text} gives another value than was put there, so the configuration has not changed`,
    { hint: "a value with a newline at its end cannot be kept there" },
  );
}
