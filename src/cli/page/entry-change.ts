// A change of one server's entry in its file, planned: shown with its diff, and written only if the file is still the same.

import type { FileSource } from "../../core/config/find.ts";
import type { ServerText } from "../../core/config/server-text.ts";
import { loadConfig } from "../../core/config/load.ts";
import { PlugboardError } from "../../core/types/errors.ts";
import type { PlannedChange } from "../../serve/gateway/page/changes.ts";
import type { ChangeShown } from "../../serve/gateway/page/wire.ts";
import { visible } from "../../util/visible.ts";
import type { CliContext } from "../context.ts";
import type { LiveConfig } from "../live-config.ts";
import { changeServerFile, type ServerFile, withEditorSchema } from "../servers/server-file.ts";
import { judgeFile } from "../trust/judge-file.ts";
import { isFileYours } from "../trust/own-file.ts";
import { fileDiff, startsIn } from "./file-diff.ts";

export interface EntryChange {
  summary: string;
  agent: string;
  server: string;
  tool?: string;
  warnings?: readonly string[];
  /** What becomes of the file's text. */
  change: (servers: ServerText) => string;
  /** What has to be the same when it is confirmed, besides the file. */
  basis?: unknown;
  /** Before the file is written. */
  before?: () => Promise<void>;
  /** Once it is written. */
  after?: () => Promise<void>;
}

/** `context` is that of the agent whose server it is. Rejects with CONFIG_INVALID for what the file could not hold. */
export async function planEntryChange(
  given: EntryChange,
  file: ServerFile,
  live: LiveConfig,
  context: CliContext,
): Promise<PlannedChange> {
  const { summary, agent, server, tool, warnings = [], change } = given;
  const { path, source, original } = file;
  const { cwd, homedir } = context.io;
  const after = change(await withEditorSchema(file, source, context));
  const { base } = source;
  const text = after.replace(/^\uFEFF/, "");
  await loadConfig(path, context.options.agent, { cwd, homedir, text, base });
  const shown: ChangeShown = {
    summary,
    about: { file: path, agent, server, ...(tool !== undefined && { tool }) },
    starts: await startsIn(path, original.text, after),
    diff: await fileDiff(original.text, after),
    warnings: [...warnings],
  };
  if (after === original.text) {
    throw new PlugboardError("INVALID_ARGUMENTS", `${visible(path)} says so already`);
  }
  return {
    shown,
    basis: [original.text ?? null, after, given.basis ?? null],
    apply: async () => {
      await given.before?.();
      const isTrusted = await changeServerFile(
        file,
        (servers) => {
          if (servers.original.text !== original.text) throw changedMeanwhile(path);
          return change(servers);
        },
        { names: [server], what: summary },
        context,
      );
      const isUsed = isTrusted || isNamed(source);
      if (isUsed) await trustWhatWasShown(file, text, context);
      await given.after?.();
      await live.reload();
      return isUsed ? undefined : `${visible(path)} is not trusted, so nothing in it starts`;
    },
  };
}

/** Naming a file approves it. */
function isNamed({ from }: FileSource): boolean {
  return from === "flag" || from === "environment";
}

/**
 * A file that needed no trust is used as it was when the gateway started, and a later edit of it waits. This one does not:
 * the person who has confirmed it has read it. Nothing else in the file waits then, or it could not have been confirmed.
 */
async function trustWhatWasShown(
  { path, source, trust }: ServerFile,
  text: string,
  { io, clock }: CliContext,
): Promise<void> {
  if (trust.kind !== "unneeded" && !isNamed(source)) return;
  if (await isFileYours(path, io)) return;
  const { store, launches } = await judgeFile(source, io, text);
  await store.approve(path, launches.all, clock.now());
}

function changedMeanwhile(path: string): PlugboardError {
  return new PlugboardError("INVALID_ARGUMENTS", `${visible(path)} has changed meanwhile`, {
    hint: "look at the change again",
  });
}
