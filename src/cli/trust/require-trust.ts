// Refuses a configuration file found in the working directory until a person has approved what it starts.

import { basename, dirname } from "node:path";
import type { FileSource } from "../../core/config/find.ts";
import {
  changesSettings,
  type Launch,
  type Launches,
  type Trust,
} from "../../core/config/trust/trust.ts";
import { PlugboardError } from "../../core/types/errors.ts";
import { otherWriters } from "../../core/state/state-directory.ts";
import { shellQuoted } from "../../util/text.ts";
import { visible } from "../../util/visible.ts";
import type { CliContext } from "../context.ts";
import { judgeFile, type Judgement, waitingFor } from "./judge-file.ts";
import { changeLines, launchLines, otherLines } from "./view.ts";

/** Rejects with UNTRUSTED if nothing of the file may be used. `text` is what was loaded from it. */
export async function requireTrust(
  source: FileSource,
  text: string,
  context: Pick<CliContext, "io" | "argv" | "options">,
): Promise<Judgement> {
  const judgement = await judgeFile(source, context.io, text);
  if (waitingFor(judgement, context.options.agent) !== "all") return judgement;
  throw untrusted(source, judgement, context);
}

/** Shows what the file would start. */
export function untrusted(
  source: FileSource,
  { launches, trust }: Judgement,
  context: Pick<CliContext, "io" | "argv">,
): PlugboardError {
  const { path: file, from } = source;
  const writers = from === "home" ? otherWriters(file, context.io.env) : undefined;
  const lines = [
    `${headline(file, trust)}, so nothing was started.`,
    ...(writers ? ["It needs your trust, because other users can write to it."] : []),
    ...trustDetails(launches, trust),
  ];
  return new PlugboardError("UNTRUSTED", lines.join("\n"), {
    hint: `${writers ? `to make it yours alone:\n  ${writers.remedy}\n` : ""}${trustRemedy(source, context)}`,
  });
}

/** What a person is told whose own servers are used without those of the project. */
export function leftOutLines(
  source: FileSource,
  { launches, trust }: Judgement,
  context: Pick<CliContext, "io" | "argv">,
): string[] {
  return [
    `plugboard: ${headline(source.path, trust)}, so only your own servers are used.`,
    ...trustDetails(launches, trust),
    ...trustRemedy(source, context).split("\n"),
  ];
}

/** What a person is told while some servers of a file wait for approval, and all others are used. */
export function partlyUsedLines({ path }: FileSource, { launches, trust }: Judgement): string[] {
  return [
    `plugboard: ${headline(path, trust)}, so what is new in it is not used.`,
    ...trustDetails(launches, trust),
    "if you trust it:",
    "  plugboard trust",
  ];
}

/** `argv` is the command line, which is offered again. */
function trustRemedy(
  { path: file }: FileSource,
  { io, argv }: Pick<CliContext, "io" | "argv">,
): string {
  const path = dirname(file) === io.cwd ? basename(file) : file;
  const once = ["--config", path, ...argv].map(shellQuoted);
  return `if you trust it:\n  plugboard trust\nto use it just once:\n  plugboard ${once.join(" ")}`;
}

export function headline(file: string, trust: Trust): string {
  const why = trust.kind === "changed" ? "has changed since it was trusted" : "is not trusted yet";
  return `${visible(file)} ${why}`;
}

/**
 * What there is to decide about: the changes since it was trusted, and what would start. Where only servers have changed,
 * those; where a setting has, everything, since each server may depend on it.
 */
export function trustDetails({ all, others, looser }: Launches, trust: Trust): string[] {
  const also = [
    ...(others.length === 0 ? [] : ["It would also set:", ...otherLines(others)]),
    ...(looser.length === 0 ? [] : [`Looser than by default: ${looser.map(visible).join(", ")}`]),
  ];
  if (all.length === 0) {
    const what = also.length === 0 ? ["It has settings that would apply here."] : also;
    return [...changeLines(trust), "It starts nothing.", ...what];
  }
  const servers = changedServers(all, trust);
  const shown = servers ?? all;
  const what = shown.length === 0 ? [] : ["It would start or use:", ...launchLines(shown)];
  return [...changeLines(trust), ...what, ...(servers === undefined ? also : [])];
}

/** Undefined where the file is new, or more than servers has changed. */
function changedServers(all: readonly Launch[], trust: Trust): Launch[] | undefined {
  if (trust.kind !== "changed" || changesSettings(trust)) return undefined;
  const labels = new Set([...trust.added, ...trust.changed]);
  return all.filter(({ label }) => labels.has(label));
}
