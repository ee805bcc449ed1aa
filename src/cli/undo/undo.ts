// `plugboard undo`: puts a configuration file back to what it was before a change, if nobody has changed it since, and says
// what that does not bring back.

import { rm } from "node:fs/promises";
import { resolve } from "node:path";
import {
  FILE_NAME,
  filesOf,
  type FileSource,
  ownFile,
  placeOf,
  withBase,
} from "../../core/config/find.ts";
import { plugboardHome } from "../../core/config/home.ts";
import { parseText } from "../../core/config/text/document.ts";
import { readTextFile, writeTextFile } from "../../core/config/text/text-file.ts";
import { readLaunches } from "../../core/config/trust/trust.ts";
import { TrustStore } from "../../core/config/trust/trust-store.ts";
import { hasSecretIn } from "../../core/config/written-secret.ts";
import { PlugboardError } from "../../core/types/errors.ts";
import { duration, inWords } from "../../util/text.ts";
import { visible } from "../../util/visible.ts";
import { secretsIn } from "../connect/preview.ts";
import type { CliContext } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import { findSource } from "../find-source.ts";
import { fileDiff, startsIn } from "../page/file-diff.ts";
import { removeUnusedBundles } from "../servers/bundles.ts";
import { leftLines, leftSecrets } from "../servers/left-secrets.ts";
import { alone, modeOf, untrustedLines, withoutMark } from "../servers/server-file.ts";
import { requireYes } from "../terminal/input.ts";
import { renderTable } from "../terminal/table.ts";
import { judgeFile } from "../trust/judge-file.ts";
import { needsTrust } from "../trust/needs-trust.ts";
import type { UndoRequest } from "./command.ts";
import { undoList } from "../servers/keep-change.ts";
import type { KeptChange } from "../servers/undo-list.ts";

export async function runUndo(request: UndoRequest, context: CliContext): Promise<number> {
  const changes = await changesOf(context);
  if (request.action === "list") return showList(changes, context);
  const change = changes[request.number - 1];
  if (change === undefined) throw nothingThere(changes.length, request.number);
  return undo(change, request.yes, context);
}

/** Of the file that `--config` names, or all. */
async function changesOf(context: CliContext): Promise<KeptChange[]> {
  const { io, options } = context;
  const all = await undoList(context).list();
  const { config } = options;
  if (config === undefined) return all;
  const place = placeOf(resolve(io.cwd, config));
  return all.filter(({ file }) => placeOf(file) === place);
}

function nothingThere(count: number, number: number): PlugboardError {
  const message =
    count === 0
      ? "there is no change to undo"
      : `there is no change ${number}, only ${count === 1 ? "one" : count}`;
  return new PlugboardError("INVALID_ARGUMENTS", message, {
    hint:
      count === 0
        ? "a change is kept when a command such as add or remove has written a configuration"
        : "to see the changes that can be undone: plugboard undo --list",
  });
}

async function undo(change: KeptChange, yes: boolean, context: CliContext): Promise<number> {
  const { screen, options } = context;
  const { file, what, before, after } = change;
  const source = sourceOf(file, context);
  const waiting = before === undefined ? undefined : await waitingIn(source, before, context);
  const starting = await startsIn(file, after, before ?? "{}");
  if (starting.length > 0 && waiting === undefined) {
    screen.note("This may start from now on:");
    for (const { name, lines } of starting) {
      const [first = "", ...rest] = lines;
      screen.note(`  ${visible(name)}: ${first}`);
      for (const line of rest) screen.note(`      ${line}`);
    }
  }
  if (!isInUseHere(file, context)) {
    screen.note(`This undoes "${visible(what)}" in ${visible(file)}.`);
    await requireYes("Undo it?", { yes, what: "undo it" }, context);
  }
  await alone(source, context, async () => {
    const now = await readTextFile(file);
    if (now.text !== before) {
      if (now.text !== after) throw await changedSince(change, now.text);
      if (before === undefined) await rm(now.target);
      else await writeTextFile(now, before, modeOf(source));
    }
    await narrowTrust(change, context);
    await undoList(context).remove(change);
  });
  await removeUnusedBundles({ path: file }, context);
  const secrets = leftSecrets(after, before ?? "");
  const ran = (await startsIn(file, before, after)).map(({ name }) => name);
  if (options.json) {
    screen.json({
      undone: what,
      file,
      ...(before === undefined && { removed: true }),
      trusted: waiting === undefined,
      ...(secrets.length > 0 && { secrets: secrets.map(({ text }) => text) }),
    });
    return EXIT.ok;
  }
  const path = visible(file);
  screen.lines([
    before === undefined
      ? `undid "${visible(what)}": ${path} was made for it, and is removed`
      : `undid "${visible(what)}": ${path} is what it was before`,
  ]);
  if (ran.length > 0) {
    const names = inWords(ran.map(visible));
    screen.note(`not undone: what ${names} may have done since, and what was sent there`);
  }
  if (change.command === "connect") {
    screen.note("the application's own file stays as it is; to put its servers back there:");
    screen.note("  plugboard connect <application> --undo");
  }
  for (const line of leftLines(secrets)) screen.note(line);
  if (waiting !== undefined) {
    for (const line of untrustedLines({ path: file, trust: { kind: waiting } }, context)) {
      screen.note(line);
    }
  }
  return EXIT.ok;
}

/** Whether the commands that are run here use the file. */
function isInUseHere(file: string, context: CliContext): boolean {
  const source = findSource(context);
  const used = source.kind === "file" ? filesOf(source) : [];
  const own = ownFile(context.io.env, context.io.homedir);
  return [own, ...used.map(({ path }) => path)].some((path) => placeOf(path) === placeOf(file));
}

/** As the file is found where nobody names it. */
function sourceOf(path: string, { io }: CliContext): FileSource {
  if (placeOf(path) === placeOf(ownFile(io.env, io.homedir))) {
    return { kind: "file", path, from: "home" };
  }
  if (!path.endsWith(FILE_NAME)) return { kind: "file", path, from: "flag" };
  return withBase({ kind: "file", path, from: "directory" }, io);
}

/**
 * What nobody needs any more is not trusted any more, and nothing becomes trusted: a server that comes back has not been
 * looked at since.
 */
async function narrowTrust({ file, before }: KeptChange, context: CliContext): Promise<void> {
  const { io, clock } = context;
  const store = new TrustStore(plugboardHome(io.env, io.homedir));
  const record = await store.find(file);
  if (record === undefined) return;
  if (before === undefined) {
    await store.revoke(file);
    return;
  }
  const { all } = await readLaunches(file, withoutMark(before));
  const there = new Set(all.map(({ label }) => label));
  const kept = [...record.approved].filter(
    ([label]) => there.has(label) || label.startsWith("setting "),
  );
  if (kept.length === record.approved.size) return;
  await store.approve(
    file,
    kept.map(([label, hash]) => ({ label, hash })),
    clock.now(),
  );
}

/** Undefined if nothing in it waits for a person. */
async function waitingIn(
  source: FileSource,
  text: string,
  { io }: CliContext,
): Promise<"renewed" | "untrusted" | undefined> {
  if (!needsTrust(source, io)) return undefined;
  const { trust, record } = await judgeFile(source, io, withoutMark(text));
  if (trust.kind === "trusted") return undefined;
  return record === undefined ? "untrusted" : "renewed";
}

/** Shows how, without credentials. */
async function changedSince(
  { file, what, after }: KeptChange,
  now: string | undefined,
): Promise<PlugboardError> {
  const [path, name] = [visible(file), visible(what)];
  if (now === undefined) {
    return refused(`${path} is gone, so "${name}" was not undone`);
  }
  const message = `${path} has changed since "${name}", so that was not undone`;
  const values = [after, now].map((text) => parseText(withoutMark(text)));
  if (values.some(({ kind }) => kind !== "document")) {
    return refused(`${message}; it is not valid any more, so the change is not shown`);
  }
  const secrets = values.flatMap((each) => (each.kind === "document" ? secretsIn(each.value) : []));
  const hidden = secrets
    .map((secret) => visible(JSON.stringify(secret).slice(1, -1)))
    .toSorted((a, b) => b.length - a.length);
  const signs = { added: "+", removed: "-", same: " ", gap: " " } as const;
  const lines = (await fileDiff(after, now)).map(({ kind, text }) => {
    const shown = hidden.reduce((rest, secret) => rest.replaceAll(secret, "…"), text);
    if (kind === "gap") return "  …";
    // A comment may have one, which is in no value.
    return `${signs[kind]} ${hasSecretIn(shown) ? "…" : shown}`;
  });
  return refused([`${message}:`, ...lines.map((line) => `  ${line}`)].join("\n"));
}

function refused(message: string): PlugboardError {
  return new PlugboardError("INVALID_ARGUMENTS", message, {
    hint: "make the file what it was after that change, and undo it then; to see all changes: plugboard undo --list",
  });
}

function showList(changes: readonly KeptChange[], context: CliContext): number {
  const { screen, options, clock } = context;
  if (options.json) {
    screen.json(
      changes.map(({ at, what, command, file }, index) => ({
        number: index + 1,
        at: new Date(at).toISOString(),
        what,
        ...(command === "up" && { by: "page" }),
        file,
      })),
    );
    return EXIT.ok;
  }
  if (changes.length === 0) {
    screen.note("there is no change to undo");
    return EXIT.ok;
  }
  const { paint, width } = screen.terminal.out;
  const columns = [
    { align: "right" as const },
    { title: "when" },
    { title: "what", min: 16 },
    { title: "file", min: 16 },
  ];
  const rows = changes.map(({ at, what, command, file }, index) => ({
    cells: [
      String(index + 1),
      clock.now() - at < 1000 ? "now" : `${duration(clock.now() - at)} ago`,
      { text: command === "up" ? `${what} (in the page)` : what, tone: "bold" as const },
      { text: file, tone: "dim" as const },
    ],
  }));
  screen.lines(renderTable(columns, rows, { width, paint }));
  return EXIT.ok;
}
