// Secrets that somebody types for a server's entry in the page: they go into the store, and the entry gets references to
// them.

import { withoutCredentials } from "../../core/board/without-credentials.ts";
import { isJsonObject, type JsonObject, objectIn } from "../../core/types/json.ts";
import { escaped, type ServerConfig } from "../../core/types/server-config.ts";
import type { AddInput } from "../../serve/gateway/page/wire.ts";
import type { CliContext } from "../context.ts";
import { secretSettings, type ServerFile } from "../servers/server-file.ts";
import { secretName, storeSecret, WHERE, withStore } from "../store-secret.ts";

export interface PlacedSecret {
  key: string;
  value: string;
  /** What it is called where it is stored. */
  stored: string;
  /** The reference. */
  text: string;
  where: string;
}

/** Where the values would go. Nothing is stored. */
export async function placeSecrets(
  name: string,
  typed: Readonly<Record<string, string>>,
  file: ServerFile,
  context: CliContext,
): Promise<PlacedSecret[]> {
  const given = Object.entries(typed).filter(([, value]) => value !== "");
  if (given.length === 0) return [];
  const settings = await secretSettings(file, context);
  return withStore(undefined, settings, context, async ({ place, provider }) =>
    given.map(([key, value]) => {
      const stored = secretName(name, key);
      return { key, value, stored, text: place(stored).text, where: WHERE[provider] };
    }),
  );
}

/** For a person, before it happens. */
export function storedLine({ text, where }: PlacedSecret): string {
  return `the value that you typed is stored in ${where}, as ${text}`;
}

export async function storeAll(
  secrets: readonly PlacedSecret[],
  file: ServerFile,
  context: CliContext,
): Promise<void> {
  if (secrets.length === 0) return;
  const agent = await secretSettings(file, context);
  for (const { stored, value } of secrets) {
    await storeSecret(stored, value, undefined, context, { agent, replaces: true });
  }
}

/** The entry with references to them, as variables or, where the server is reached by an address, as headers. */
export function withStored(server: ServerConfig, secrets: readonly PlacedSecret[]): ServerConfig {
  if (secrets.length === 0) return server;
  const given = Object.fromEntries(secrets.map(({ key, text }) => [key, text]));
  const block = server.url === undefined ? "env" : "headers";
  return { ...server, [block]: { ...server[block], ...given } };
}

/** Credentials of an edited entry that are not in the file yet. */
export function typedCredentials(entry: JsonObject, written: unknown): Record<string, string> {
  const known = objectIn(written);
  const block = entry["url"] === undefined ? "env" : "headers";
  const before = isJsonObject(known[block]) ? known[block] : {};
  const { inputs } = credentialsApart({ [block]: entry[block] });
  return Object.fromEntries(
    inputs.flatMap(({ key, default: value }) =>
      value === undefined || before[key] === value ? [] : [[key, value]],
    ),
  );
}

/** Takes out what is for the store: what an example has in a credential's place is to be typed. */
export function credentialsApart(server: JsonObject): { rest: JsonObject; inputs: AddInput[] } {
  const inputs: AddInput[] = [];
  const rest = { ...server };
  for (const block of ["env", "headers"] as const) {
    const given = rest[block];
    if (!isJsonObject(given)) continue;
    const kept = Object.entries(given).filter(([key, value]) => {
      if (typeof value !== "string" || isReference(value)) return true;
      const isExample = value === "" || EXAMPLE.test(value);
      if (!isCredential(block, key, isExample ? A_KEY : value)) return true;
      const filled = isExample ? {} : { default: value };
      inputs.push({ key, isRequired: true, isSecret: true, format: "string", ...filled });
      return false;
    });
    if (kept.length > 0) rest[block] = Object.fromEntries(kept);
    else delete rest[block];
  }
  return { rest, inputs };
}

function isCredential(block: "env" | "headers", key: string, value: string): boolean {
  const shown = withoutCredentials({ [block]: { [key]: value } })[block];
  return isJsonObject(shown) && shown[key] !== value;
}

/** What no other value looks like: then the name alone decides. */
const A_KEY = "A1b2C3d4E5f6G7h8J9k0";

/** What documentation writes where a key belongs. */
const EXAMPLE = /^(?:Bearer )?(?:<.*>|\[.*\]|\.{3,}|…|x{3,}|your[-_ ].*)$/i;

function isReference(value: string): boolean {
  return /\$\{[^}]*\}|^(?:secret|op):\/\//i.test(value);
}

/** For the trial: nothing is stored before the server has answered. */
export function withValues(server: ServerConfig, secrets: readonly PlacedSecret[]): ServerConfig {
  const filled = (value: unknown): unknown => {
    if (typeof value === "string") {
      return secrets.reduce(
        (rest, { text, value: own }) => rest.replaceAll(text, () => escaped(own)),
        value,
      );
    }
    if (Array.isArray(value)) return value.map(filled);
    if (!isJsonObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, filled(each)]));
  };
  return filled(server) as ServerConfig;
}
