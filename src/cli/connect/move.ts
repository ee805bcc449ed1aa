// Moves the servers in an application's own file onto the board, so that they are in one place: they are added to our file
// here, and whoever puts the board into the application's file takes them out of it.

import { isDeepStrictEqual } from "node:util";
import type { ConfigSource } from "../../core/config/find.ts";
import type { KeyPath } from "../../core/config/issue.ts";
import { type OtherFile, readOtherFile } from "../../core/config/other-files.ts";
import { writtenServers } from "../../core/config/server-text.ts";
import type { TextFile } from "../../core/config/text/text-file.ts";
import { PlugboardError } from "../../core/types/errors.ts";
import { isJsonObject, valueIn } from "../../core/types/json.ts";
import { visible } from "../../util/visible.ts";
import type { CliContext } from "../context.ts";
import { runImport } from "../import/import.ts";
import { type Candidate, planImport } from "../import/plan.ts";
import type { Scope } from "../servers/command.ts";
import { openServerFile } from "../servers/server-file.ts";
import { askYesNo, canAsk } from "../terminal/input.ts";
import type { ConnectedApplication, Entry } from "../../install/applications/applications.ts";
import type { ConnectOptions } from "./command.ts";

export interface Move {
  application: ConnectedApplication;
  file: TextFile;
  /** What is in the file. */
  value: unknown;
  /** Our entries, wherever they are or would be. */
  entries: readonly Entry[];
  /** The configuration that the board in the application has. */
  source: ConfigSource;
}

export interface Moved {
  /** The places of the servers that are on the board now, and can be taken out. */
  paths: KeyPath[];
  /** Names of those that are not taken out, because the board has another one of the name. */
  staying: string[];
  /** Names of those that have just been written to our file. */
  added: string[];
}

const NOTHING: Moved = { paths: [], staying: [], added: [] };

/** Rejects with NOT_APPROVED. */
export async function moveServers(
  { application, file, value, entries, source }: Move,
  { move, yes }: Pick<ConnectOptions, "move" | "yes">,
  context: CliContext,
): Promise<Moved> {
  const { json } = context.options;
  if (move && json) {
    throw new PlugboardError("INVALID_ARGUMENTS", "--move and --json cannot be given together", {
      hint: "move the servers first, or use plugboard import --json",
    });
  }
  const mayAsk = move === false && !yes && !json && canAsk(context);
  const container = entries.find(({ as }) => as === "server")?.path.slice(0, -1);
  if (container === undefined || !(move === true || mayAsk)) return NOTHING;
  const read = await serversOf(file, context);
  const isOurs = (path: KeyPath): boolean =>
    entries.some((own) => isDeepStrictEqual(own.path, path));
  // As in the application, a server of this directory hides one for all directories.
  const ofDirectory = application.ofDirectory?.(value, context.io.cwd);
  const containers = [...(ofDirectory === undefined ? [] : [ofDirectory]), container];
  const places = new Map(
    [...(read?.servers.keys() ?? [])].flatMap((name): [string, KeyPath][] => {
      const path = containers
        .map((each) => [...each, name])
        .find((each) => isJsonObject(valueIn(value, each)));
      return path === undefined || isOurs(path) ? [] : [[name, path]];
    }),
  );
  const names = [...places.keys()];
  if (read === undefined || names.length === 0) return NOTHING;
  const scope = scopeOf(source);
  const planned = async (): Promise<Candidate[]> => {
    const target = await openServerFile(scope, context);
    const existing = { ...target.inherited, ...writtenServers(target) };
    return planImport([read], { existing, references: false, names });
  };
  if (!move) {
    const isAllHere = (await planned()).every(({ standing }) => standing.kind === "present");
    const list = names.map(visible).join(", ");
    const these = names.length === 1 ? "it" : `these ${names.length}`;
    const question = isAllHere
      ? `Plugboard has ${list}. Remove ${these} from ${application.name}'s file?`
      : `Add ${list} to Plugboard, and remove ${these} from ${application.name}'s file?`;
    if (!(await askYesNo(question, context))) return NOTHING;
  }
  const added = (await planned()).flatMap(({ name, standing }) =>
    standing.kind === "new" ? [name] : [],
  );
  if (added.length > 0) {
    const request = { names, from: [file.file], scope, write: true, references: false };
    await runImport({ ...request, force: false, yes, check: false }, context);
  }
  const moved: Moved = { paths: [], staying: [], added };
  for (const { name, standing } of await planned()) {
    const path = places.get(name);
    if (path === undefined || standing.kind !== "present") {
      moved.staying.push(name);
      continue;
    }
    moved.paths.push(path);
    if (ofDirectory !== undefined && isDeepStrictEqual(path.slice(0, -1), ofDirectory)) {
      context.screen.note(
        `${visible(name)} was for this directory alone, and is on the board wherever you use it`,
      );
    }
  }
  for (const name of moved.staying) {
    context.screen.note(
      `${visible(name)} stays in ${application.name}'s file, because the board has another one of this name; rename or remove one of the two, or the model sees tools of both`,
    );
  }
  return moved;
}

/** Where the servers of the board are. */
function scopeOf(source: ConfigSource): Scope | undefined {
  if (source.kind === "demo" || source.from === "home") return "user";
  return source.from === "directory" ? "project" : undefined;
}

/** Undefined for a file without servers. */
export async function serversOf(
  file: TextFile,
  { io: { cwd, homedir } }: Pick<CliContext, "io">,
): Promise<OtherFile | undefined> {
  if (file.text === undefined) return undefined;
  return readOtherFile(file.file, { cwd, homedir }).catch((error: unknown) => {
    // A file without servers is nobody's.
    if (error instanceof PlugboardError) return undefined;
    throw error;
  });
}
