// `plugboard remove`, `enable` and `disable`: changes one server in its file, and leaves the rest of the file alone.

import {
  type ServerText,
  withEnabled,
  withoutServer,
  writtenServer,
} from "../../core/config/server-text.ts";
import { isJsonObject, type JsonObject } from "../../core/types/json.ts";
import { MARK, withoutCredentials } from "../../core/board/without-credentials.ts";
import { canonicalJson } from "../../util/canonical-json.ts";
import { shellQuoted } from "../../util/text.ts";
import { visible } from "../../util/visible.ts";
import type { CliContext } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import { offeredCommand } from "../offered-command.ts";
import { serverLines } from "../trust/view.ts";
import type { ChangeRequest } from "./command.ts";
import {
  changeServerFile,
  findServer,
  requireOwn,
  type ServerFile,
  untrustedLines,
} from "./server-file.ts";

export async function runChange(
  { kind, name, scope }: ChangeRequest,
  context: CliContext,
): Promise<number> {
  const { screen, options } = context;
  const { file, server } = await findServer(name, scope, context);
  if (kind === "remove") requireOwn(name, file);
  const removed = kind === "remove" ? writtenServer(file, name) : undefined;
  const change = (servers: ServerText): string =>
    kind === "remove"
      ? withoutServer(servers, name)
      : withEnabled(servers, name, kind === "enable");
  const isChanged = change(file) !== file.text;
  if (kind === "enable" && isChanged) {
    screen.note("This may start from now on:");
    for (const line of serverLines(name, server)) screen.note(line);
  }
  const isTrusted = isChanged ? await changeServerFile(file, change, [name], context) : undefined;
  if (kind === "remove") {
    const { removeUnusedBundles } = await import("./bundles.ts");
    await removeUnusedBundles(file, context);
  }
  if (options.json) {
    screen.json({
      name,
      file: file.path,
      changed: isChanged,
      ...(isJsonObject(removed) && { server: withoutCredentials(removed) }),
      ...(isTrusted !== undefined && { trusted: isTrusted }),
    });
    return EXIT.ok;
  }
  screen.lines([outcome(kind, name, file, isChanged)]);
  if (kind === "remove") {
    if (isJsonObject(removed))
      for (const line of undoLines(name, removed, file, context)) screen.note(line);
    const left = await findServer(name, undefined, context).catch(() => undefined);
    if (left) screen.note(`another ${visible(name)} is still in ${visible(left.file.path)}`);
  }
  if (isTrusted === false) for (const line of untrustedLines(file, context)) screen.note(line);
  return EXIT.ok;
}

const SCOPES = { home: ["--scope", "user"], directory: ["--scope", "project"] } as const;

/** What was removed, as a command that adds it again, without its credentials: a screen is recorded, shared and looked at. */
function undoLines(
  name: string,
  removed: JsonObject,
  { source: { from } }: ServerFile,
  { options }: CliContext,
): string[] {
  const shown = withoutCredentials(removed);
  const isWhole = canonicalJson(shown) === canonicalJson(removed);
  const scope = from === "home" || from === "directory" ? SCOPES[from] : [];
  const words = ["add-json", ...scope, name, JSON.stringify(shown)].map(shellQuoted).join(" ");
  return [
    isWhole
      ? "to add it again:"
      : `to add it again, with its credentials in place of ${MARK}; they are not shown, and gone from the file:`,
    `  ${offeredCommand(words, options)}`,
  ];
}

function outcome(
  kind: ChangeRequest["kind"],
  name: string,
  { path }: ServerFile,
  isChanged: boolean,
): string {
  const [server, file] = [visible(name), visible(path)];
  if (!isChanged) return `${server} is ${kind}d already in ${file}`;
  return kind === "remove" ? `removed ${server} from ${file}` : `${kind}d ${server} in ${file}`;
}
