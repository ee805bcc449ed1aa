// `plugboard remove`, `enable` and `disable`: changes one server in its file, and leaves the rest of the file alone.

import {
  type ServerText,
  withEnabled,
  withoutServer,
  writtenServer,
} from "../../core/config/server-text.ts";
import { isJsonObject } from "../../core/types/json.ts";
import type { ServerConfig } from "../../core/types/server-config.ts";
import { withoutCredentials } from "../../core/board/without-credentials.ts";
import { oneLine } from "../../util/text.ts";
import { visible } from "../../util/visible.ts";
import type { CliContext } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import { findSource } from "../find-source.ts";
import { offeredCommand } from "../offered-command.ts";
import { requireYes } from "../terminal/input.ts";
import { serverLines } from "../trust/view.ts";
import { boardClients, clientNames } from "./board-clients.ts";
import type { ChangeRequest } from "./command.ts";
import { leftLines, leftSecrets, signInLines } from "./left-secrets.ts";
import {
  changeServerFile,
  findServer,
  requireOwn,
  type ServerFile,
  untrustedLines,
} from "./server-file.ts";

export async function runChange(request: ChangeRequest, context: CliContext): Promise<number> {
  const { kind, name, scope } = request;
  const { screen, options } = context;
  const { file, server } = await findServer(name, scope, context);
  if (kind === "remove") requireOwn(name, file);
  const removed = kind === "remove" ? writtenServer(file, name) : undefined;
  const change = (servers: ServerText): string =>
    kind === "remove"
      ? withoutServer(servers, name)
      : withEnabled(servers, name, kind === "enable");
  const after = change(file);
  const isChanged = after !== file.text;
  if (kind === "enable" && isChanged) {
    screen.note("This may start from now on:");
    // The command line stays as it is: what looks like a credential there may be what runs.
    const launched: ServerConfig = server;
    const { args } = launched;
    const shown = { ...withoutCredentials(launched), ...(args && { args }) };
    for (const line of serverLines(name, shown)) screen.note(line);
  }
  if (request.kind === "remove") await requireUnused(request, file, context);
  const signedIn = kind === "remove" ? await signInLines(name, file, context) : [];
  const about = { names: [name], what: `${kind} ${oneLine(name, 100)}` };
  const isTrusted = isChanged ? await changeServerFile(file, change, about, context) : undefined;
  if (kind === "remove") {
    const { removeUnusedBundles } = await import("./bundles.ts");
    await removeUnusedBundles(file, context);
  }
  const left = kind === "remove" ? leftSecrets(file.text, after) : [];
  if (options.json) {
    screen.json({
      name,
      file: file.path,
      changed: isChanged,
      ...(isJsonObject(removed) && { server: withoutCredentials(removed) }),
      ...(left.length > 0 && { secrets: left.map(({ text }) => text) }),
      ...(isTrusted !== undefined && { trusted: isTrusted }),
    });
    return EXIT.ok;
  }
  screen.lines([outcome(kind, name, file, isChanged)]);
  if (kind === "remove") {
    screen.note("to get it back as it was, with all that is in it:");
    screen.note(`  ${offeredCommand("undo", options)}`);
    for (const line of [...leftLines(left), ...signedIn]) screen.note(line);
    const other = await findServer(name, undefined, context).catch(() => undefined);
    if (other) screen.note(`another ${visible(name)} is still in ${visible(other.file.path)}`);
  }
  if (isTrusted === false) for (const line of untrustedLines(file, context)) screen.note(line);
  return EXIT.ok;
}

/** Asks whether to take the server from those who use it now. Rejects with NOT_APPROVED. */
async function requireUnused(
  { name, yes }: Extract<ChangeRequest, { kind: "remove" }>,
  { source }: ServerFile,
  context: CliContext,
): Promise<void> {
  if (yes) return;
  const inUse = findSource(context);
  const sources = inUse.kind === "file" && inUse.path !== source.path ? [inUse, source] : [source];
  const found = await Promise.all(sources.map((each) => boardClients(each, context)));
  const clients = [...new Set(found.flat())];
  if (clients.length === 0) return;
  const use = clients.length === 1 ? "uses" : "use";
  context.screen.note(
    `${clientNames(clients)} ${use} the running gateway, and would lose ${visible(name)}`,
  );
  await requireYes("Remove it?", { yes, what: "remove it" }, context);
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
