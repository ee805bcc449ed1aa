// Reads a configuration file, whoever's it is: our own, in its long or its short form, or another application's, which
// is translated into our keys first. What is wrong is reported at its place in the file, in the words of the file.

import { basename, resolve } from "node:path";
import { isJsonObject, type JsonObject, valueIn } from "../types/json.ts";
import type { OfferInput } from "../types/server-offer.ts";
import { inWords } from "../../util/text.ts";
import { FILE_NAME } from "./find.ts";
import type { Application } from "./foreign/application.ts";
import { atKey, type Issue, type IssueSource, type KeyPath, quote } from "./issue.ts";
import { DEFAULT_SERVERS, ROOT_KEYS } from "./schema/file-schema.ts";
import type { ConfigDocument } from "./text/document.ts";
import { readDocument } from "./text/read.ts";

export interface ConfigFile {
  /** In our long form; not yet checked. */
  value: unknown;
  /** Mistakes in the text, and in the translation of another application's file. */
  issues: Issue[];
  warnings: Issue[];
  /** What nobody needs to know until they ask: keys that were ignored, and how a file was read. */
  notes: Issue[];
  /** Why servers of another application's file were left out, by name. */
  leftOut?: ReadonlyMap<string, Issue>;
  /** What another application asks its user for: its servers refer to each by its variable. */
  inputs?: readonly OfferInput[];
  /** Takes an issue in the value to where the user wrote it. */
  asWritten: (issue: Issue) => Issue;
  source: IssueSource;
  /** Whose it is, where it is another application's. */
  application?: Application;
  /** Set if the file has servers for several directories. `value` then has the servers of the working directory. */
  isOfDirectory?: true;
}

/**
 * Rejects with CONFIG_INVALID for a file that cannot be read or has an unknown syntax. A caller that has read the file
 * passes its content as `text`.
 */
export async function readConfigFile(
  file: string,
  { cwd = process.cwd(), text }: { cwd?: string; text?: string | undefined } = {},
): Promise<ConfigFile> {
  const document = await readDocument(file, text);
  const source: IssueSource = { file, locate: document.locate };
  if (basename(file) === FILE_NAME) return ofPlugboard(document, source);
  return interpret(document, source, cwd);
}

/** The same for the content of a file. It has no place, and so no positions. */
export function readConfigContent(
  value: unknown,
  { cwd = process.cwd() }: { cwd?: string } = {},
): Promise<ConfigFile> {
  return interpret({ value, issues: [] }, {}, cwd);
}

async function interpret(
  document: Pick<ConfigDocument, "value" | "issues">,
  source: IssueSource,
  cwd: string,
): Promise<ConfigFile> {
  // Most files are ours.
  const { applicationNames, translate } = await import("./foreign/translate.ts");
  const { file } = source;
  const translated = translate(document.value, {
    file,
    cwd: resolve(cwd),
    platform: process.platform,
  });
  if (translated.application === undefined) {
    const own = ofPlugboard(document, source);
    const { claim } = translated;
    const more = [
      ...(isNobodys(document.value) ? [unknownFile(applicationNames())] : []),
      ...(claim && hasOthers(document.value) ? [mixedFile(claim.path, claim.beside.name)] : []),
    ];
    return { ...own, issues: [...own.issues, ...more] };
  }
  const { application, isGuess, draft } = translated;
  const { value, warnings, notes, issues, leftOut, inputs } = draft;
  return {
    value,
    issues: [...document.issues, ...issues],
    warnings,
    leftOut,
    inputs,
    notes: [
      {
        ...atKey([], `is read ${isGuess ? "like" : "as"} a file of ${application.name}`),
        remedy: "you need to do nothing: Plugboard uses its servers as they are",
      },
      ...notes,
    ],
    asWritten: (issue) => ({ ...issue, path: draft.written(issue.path) }),
    source,
    application,
    ...(draft.isOfDirectory && { isOfDirectory: true }),
  };
}

/** Our own file may have its servers at the root, under the names that other applications use. */
function ofPlugboard(
  { value, issues }: Pick<ConfigDocument, "value" | "issues">,
  source: IssueSource,
): ConfigFile {
  const own = { issues, warnings: [], notes: [], source };
  const [short, another] = ["mcpServers", "servers"].filter(
    (key) => isJsonObject(value) && Object.hasOwn(value, key),
  );
  if (short === undefined || !isJsonObject(value)) {
    return { ...own, value, asWritten: (issue) => issue };
  }
  const rest = Object.fromEntries(
    Object.entries(value).filter(([key]) => key !== short && key !== another),
  );
  const conflicts =
    another === undefined
      ? []
      : [atKey([another], `means the same as ${quote(short)}; expected only one of them`)];
  if (valueIn(rest, DEFAULT_SERVERS) !== undefined) {
    const message = `means the same as ${DEFAULT_SERVERS.join(".")}; expected only one of them`;
    const conflict = atKey([short], message);
    return {
      ...own,
      value: rest,
      issues: [...issues, conflict, ...conflicts],
      asWritten: (issue) => issue,
    };
  }
  return {
    ...own,
    value: withServers(rest, value[short]),
    issues: [...issues, ...conflicts],
    asWritten: (issue) => ({ ...issue, path: shortPath(issue.path, short) }),
  };
}

function withServers(root: JsonObject, servers: unknown): JsonObject {
  const agents = objectIn(root, "agents");
  const defaults = objectIn(agents, "defaults");
  const mcp = objectIn(defaults, "mcp");
  // A value that is not an object stays, so that the schema refuses it.
  if ([agents, defaults, mcp].includes(undefined)) return root;
  return {
    ...root,
    agents: { ...agents, defaults: { ...defaults, mcp: { ...mcp, servers } } },
  };
}

/** Empty where the key is absent; undefined for anything but an object. */
function objectIn(object: JsonObject | undefined, key: string): JsonObject | undefined {
  const value = object?.[key];
  if (value === undefined) return {};
  return isJsonObject(value) ? value : undefined;
}

function shortPath(path: KeyPath, short: string): KeyPath {
  const isInside = DEFAULT_SERVERS.every((step, index) => path[index] === step);
  return isInside ? [short, ...path.slice(DEFAULT_SERVERS.length)] : path;
}

function isNobodys(value: unknown): boolean {
  if (!isJsonObject(value)) return false;
  const keys = Object.keys(value);
  return keys.length > 0 && !keys.some((key) => ROOT_KEYS.has(key));
}

function hasOthers(value: unknown): boolean {
  return isJsonObject(value) && Object.keys(value).some((key) => !ROOT_KEYS.has(key));
}

/** Keys of both are in one file: those of the other application are refused, so that none of ours is ignored. */
function mixedFile(path: KeyPath, name: string): Issue {
  const message = `is a key of Plugboard's own file, so this is not read as a file of ${name}; put it into a file of its own, or take it out`;
  return atKey(path, message);
}

function unknownFile(applications: readonly string[]): Issue {
  return atKey(
    [],
    `has no servers that Plugboard can find; expected "mcpServers", or a file of ${inWords(applications, "or")}`,
  );
}
