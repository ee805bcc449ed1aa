// `plugboard secrets move`: puts a credential of a server away, and writes a reference in its place.

import { replaceCredentials } from "../../core/board/without-credentials.ts";
import { PinReview } from "../../core/board/pins.ts";
import { formatPath, type KeyPath } from "../../core/config/issue.ts";
import { agentIdsIn, loadConfig } from "../../core/config/load.ts";
import { writtenOut } from "../../core/config/schema/references.ts";
import { type ServerText, withServerValue, writtenServer } from "../../core/config/server-text.ts";
import { PlugboardError } from "../../core/types/errors.ts";
import { isJsonObject, type JsonObject, objectIn } from "../../core/types/json.ts";
import type { SecretStoreName } from "../../core/types/secret-provider.ts";
import { inText } from "../../core/types/secret-reference.ts";
import type { ServerDefinition } from "../../core/types/server-definition.ts";
import { closest } from "../../util/closest.ts";
import { oneLine } from "../../util/text.ts";
import { visible } from "../../util/visible.ts";
import type { CliContext } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import {
  changeServerFile,
  findServer,
  secretSettings,
  type ServerFile,
  untrustedLines,
  withoutMark,
} from "../servers/server-file.ts";
import { withPinStores } from "../shared-state.ts";
import { requireYes } from "../terminal/input.ts";
import type { MoveSecret } from "./command.ts";
import { secretName, type SecretStore, WHERE, withStore } from "../store-secret.ts";

/** Where a credential stands in a server, and what it is. */
interface Credential {
  path: KeyPath;
  /** In a word or two. */
  what: string;
  value: string;
  /** The whole text with a reference in place of the value. */
  referred: (reference: string) => string;
}

export async function runMove(command: MoveSecret, context: CliContext): Promise<number> {
  const { server: name, key, to } = command;
  const { file } = await findServer(name, command.scope, context);
  const agent = await secretSettings(file, context);
  const credential = findCredential(key, name, file);
  const { path, referred } = credential;
  const wanted = command.name ?? secretName(name, credential.what);
  requireName(wanted);
  return withStore(to, agent, context, async (store) => {
    const { text: place } = store.place(wanted);
    const lines = previewLines(credential, { name, file, place, store: store.provider });
    for (const line of lines) context.screen.note(line);
    await requireYes("Move it?", { yes: command.yes, what: "move it" }, context);
    const { text: reference } = await store.put(wanted, credential.value, command.force);
    await carryPins(file, name, withServerValue(file, name, path, referred(reference)), context);
    const isTrusted = await write(file, name, credential, reference, context);
    return report({ name, file, credential, reference, store, isTrusted }, context);
  });
}

/** The one place where the file is changed. */
function write(
  file: ServerFile,
  name: string,
  { path, referred }: Credential,
  reference: string,
  context: CliContext,
): Promise<boolean> {
  const change = (servers: ServerText): string =>
    withServerValue(servers, name, path, referred(reference));
  // The credential must not come back into the file, so this is not kept for an undo.
  return changeServerFile(file, change, { names: [name] }, context);
}

/**
 * The same server is started as before, so what was held back stays held back. Done before the file is written: a server
 * that starts in between would be pinned as it is.
 */
async function carryPins(
  { path, text }: ServerFile,
  name: string,
  changed: string,
  context: CliContext,
): Promise<void> {
  const { cwd, homedir } = context.io;
  const changes: [before: ServerDefinition, after: ServerDefinition][] = [];
  for (const id of [undefined, ...(await agentIdsIn(path, { cwd }))]) {
    const [before, after] = await Promise.all(
      [text, changed].map(async (each) => {
        const agent = await loadConfig(path, id, { cwd, homedir, text: withoutMark(each) });
        return agent.servers.find((server) => server.name === name);
      }),
    );
    if (before !== undefined && after !== undefined) changes.push([before, after]);
  }
  if (changes.length === 0) return;
  await withPinStores(context, async (stores) => {
    const review = new PinReview(...stores);
    for (const [before, after] of changes) await review.carryOver(before, after);
  });
}

/** What can stand in every reference. */
function requireName(name: string): void {
  if (/^[A-Za-z0-9][\w./@+-]{0,199}$/.test(name)) return;
  throw new PlugboardError(
    "INVALID_ARGUMENTS",
    `'${oneLine(name, 60)}' is not a name for a secret; expected letters, digits and . / @ + - _`,
    { hint: "give another one with --name" },
  );
}

function findCredential(key: string, name: string, file: ServerFile): Credential {
  const written = writtenServer(file, name);
  if (written === undefined) {
    throw new PlugboardError(
      "INVALID_ARGUMENTS",
      `'${oneLine(name, 100)}' is in the defaults, which all agents have`,
      { server: name, hint: "leave out --agent to move a value of it for all" },
    );
  }
  const server: JsonObject = objectIn(written);
  const all = valuesOf(server);
  const found = all.find(({ path }) => isMeant(path, key));
  if (found === undefined)
    throw noSuchKey(
      key,
      name,
      all.map(({ path }) => formatPath(path)),
    );
  const { path, text } = found;
  // What does not look like a credential is moved as a whole: whoever asks for it knows that it is one.
  let part = { value: text, what: String(path.at(-1)), isInText: false };
  replaceCredentials(server, (value, { path: at, what, isInText }) => {
    if (formatPath(at) === formatPath(path)) part = { value, what, isInText };
    return value;
  });
  const { value, what, isInText } = part;
  return {
    path,
    what,
    value: plainValue(value, path, name),
    referred: (reference) => text.replace(value, () => (isInText ? inText(reference) : reference)),
  };
}

/** The values that can be moved. `args` and `url` are left out: they belong in `env` and `headers` first. */
function valuesOf(server: JsonObject): { path: KeyPath; text: string }[] {
  const blocks: readonly [string, readonly string[] | undefined][] = [
    ["env", undefined],
    ["headers", undefined],
    ["auth", ["token", "key"]],
    ["oauth", ["clientSecret", "privateKey"]],
  ];
  return blocks.flatMap(([block, keys]) => {
    const values = server[block];
    if (!isJsonObject(values)) return [];
    return Object.entries(values).flatMap(([key, text]) =>
      typeof text === "string" && (keys?.includes(key) ?? true)
        ? [{ path: [block, key], text }]
        : [],
    );
  });
}

function isMeant([block, name]: KeyPath, key: string): boolean {
  const isSame = (text: string): boolean =>
    block === "headers" ? text.toLowerCase() === String(name).toLowerCase() : text === name;
  return isSame(key) || (key.startsWith(`${block}.`) && isSame(key.slice(`${block}.`.length)));
}

function noSuchKey(key: string, server: string, keys: readonly string[]): PlugboardError {
  const isArgument = /^(?:args\b|url\b|-)/.test(key);
  const meant = closest(key, [...keys, ...keys.map((each) => each.slice(each.indexOf(".") + 1))]);
  const there = keys.length === 0 ? "it has none that can be moved" : `it has ${keys.join(", ")}`;
  return new PlugboardError(
    "INVALID_ARGUMENTS",
    `the server '${oneLine(server, 100)}' has no value '${oneLine(key, 100)}' in the file; ${there}`,
    {
      server,
      hint: isArgument
        ? "a value in args or url cannot be moved; put it into env or headers first, if the server takes it from there"
        : meant && `did you mean '${meant}'?`,
    },
  );
}

/** Throws for a value that is not written out. */
function plainValue(value: string, path: KeyPath, server: string): string {
  const plain = writtenOut(value);
  if (plain !== undefined && plain !== "") return plain;
  const why = value === "" ? "is empty" : "is not written out: it is, or has in it, a reference";
  throw new PlugboardError(
    "INVALID_ARGUMENTS",
    `${formatPath(path)} of '${oneLine(server, 100)}' ${why}, so there is nothing to move`,
    { server },
  );
}

interface Preview {
  name: string;
  file: ServerFile;
  place: string;
  store: SecretStoreName;
}

function previewLines(
  { path, referred }: Credential,
  { name, file, place, store }: Preview,
): string[] {
  return [
    `This would change in ${visible(file.path)}:`,
    `  ${visible(name)}: ${visible(formatPath(path))} becomes ${visible(referred(place))}`,
    `The value would be put into ${WHERE[store]}.`,
  ];
}

interface Moved {
  name: string;
  file: ServerFile;
  credential: Credential;
  reference: string;
  store: SecretStore;
  isTrusted: boolean;
}

function report(
  { name, file, credential, reference, store, isTrusted }: Moved,
  context: CliContext,
): number {
  const { screen, options } = context;
  const key = formatPath(credential.path);
  if (options.json) {
    const { provider } = store;
    screen.json({ server: name, key, reference, provider, file: file.path, trusted: isTrusted });
    return EXIT.ok;
  }
  screen.lines([`moved ${visible(key)} of ${visible(name)} to ${visible(reference)}`]);
  screen.note("The old value may still be in copies and in the history of the file.");
  if (!isTrusted) for (const line of untrustedLines(file, context)) screen.note(line);
  return EXIT.ok;
}
