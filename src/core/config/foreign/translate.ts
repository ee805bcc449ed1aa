// Finds out which application a file belongs to, and says the same in our keys.

import { basename, dirname } from "node:path";
import { isJsonObject, type JsonObject, objectIn } from "../../types/json.ts";
import type { KeyPath } from "../issue.ts";
import { GUARD_KEYS, isKeyOfBlock, ROOT_KEYS, TOOL_KEYS } from "../schema/file-schema.ts";
import type { Application, FileContext } from "./application.ts";
import { APPLICATIONS } from "./applications.ts";
import { Draft } from "./draft.ts";

/** Keys of our own file that others have, too. */
const SHARED = new Set(["$schema", "mcpServers", "servers"]);

export interface Translated {
  application: Application;
  /** Only the block with the servers tells which application the file belongs to. */
  isGuess: boolean;
  draft: Draft;
}

/** A file is ours if it says something that only ours can say: whoever writes a rule relies on it. */
export interface Ours {
  application?: undefined;
  /** A block of ours in what would be a file of this application. */
  claim?: { path: KeyPath; beside: Application };
}

export function translate(
  value: unknown,
  around: Omit<FileContext, "folder" | "known" | "isGuess">,
): Translated | Ours {
  if (!isJsonObject(value)) return {};
  const path = around.file?.replaceAll("\\", "/");
  const isAtPlace = ({ pathEnd }: Application): boolean =>
    path !== undefined && pathEnd !== undefined && pathEnd.test(path);
  // By what only one application writes, else by the place of the file, else by the block that has the servers.
  const recognised = APPLICATIONS.find(({ recognise }) => recognise(value));
  const fitting = APPLICATIONS.filter(
    ({ block }) => block !== undefined && isJsonObject(value[block]),
  );
  const known = recognised ?? fitting.find(isAtPlace);
  const claimed = claimOf(value, known);
  if (claimed !== undefined) return known ? { claim: { path: claimed, beside: known } } : {};
  const application = known ?? fitting.at(-1);
  if (application === undefined) return {};
  const { keys, name } = application;
  const listsKeys = keys !== undefined && fitting.includes(application) && !isAtPlace(application);
  const whole: FileContext = {
    ...around,
    folder: projectOf(around),
    ...(known === undefined && { isGuess: true }),
    ...(listsKeys && { known: { keys, name } }),
  };
  const draft = new Draft(whole);
  application.translate(value, draft, whole);
  return { application, isGuess: known === undefined, draft };
}

export function applicationNames(): string[] {
  return APPLICATIONS.map(({ name }) => name);
}

/** Where the file says what only ours can say. */
function claimOf(value: JsonObject, application: Application | undefined): KeyPath | undefined {
  // With servers at the root, a file of an application that has its own elsewhere is not its own.
  const isMixed = application?.block === undefined && (value["mcpServers"] ?? value["servers"]);
  const shares = (isMixed ? undefined : application?.shares) ?? {};
  for (const [key, block] of Object.entries(value)) {
    if (GUARD_KEYS.has(key)) return [key];
    if (key === "tools") {
      // OpenClaw and others with servers elsewhere have lists of this name, which are read.
      const hasLists = application !== undefined && application.block === undefined;
      const rule = ruleIn(block, hasLists);
      if (rule !== undefined) return [key, rule];
    }
    if (!ROOT_KEYS.has(key) || SHARED.has(key)) continue;
    if (!Object.hasOwn(shares, key)) return [key];
    const own = Object.keys(objectIn(block)).find(
      (each) => isKeyOfBlock(key, each) && !shares[key]?.includes(each),
    );
    if (own !== undefined) return [key, own];
  }
  return claimOfAgent(value);
}

/** The agents of OpenClaw have rules for tools, and no other guard of ours. */
function claimOfAgent({ agents }: JsonObject): KeyPath | undefined {
  const { defaults, list } = objectIn(agents);
  const all: [KeyPath, unknown][] = [
    [["agents", "defaults"], defaults],
    ...(Array.isArray(list) ? (list as unknown[]) : []).map((agent, index): [KeyPath, unknown] => [
      ["agents", "list", index],
      agent,
    ]),
  ];
  for (const [path, agent] of all) {
    const { tools, ...settings } = objectIn(agent);
    const guard = Object.keys(settings).find((key) => GUARD_KEYS.has(key));
    if (guard !== undefined) return [...path, guard];
    const rule = ruleIn(tools, true);
    if (rule !== undefined) return [...path, "tools", rule];
  }
  return undefined;
}

/** A key of ours in a block `tools`. */
function ruleIn(tools: unknown, hasLists: boolean): string | undefined {
  return Object.keys(objectIn(tools)).find(
    (key) => TOOL_KEYS.has(key) && !(hasLists && (key === "allow" || key === "deny")),
  );
}

/** The directory above one such as `.vscode`, in which editors keep the files of a project. */
function projectOf({ file, cwd }: Pick<FileContext, "file" | "cwd">): string {
  if (file === undefined) return cwd;
  const directory = dirname(file);
  return /^\.[a-z]+$/.test(basename(directory)) ? dirname(directory) : directory;
}
