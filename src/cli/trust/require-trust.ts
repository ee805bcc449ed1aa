// Refuses a configuration file found in the working directory until a person has approved what it starts.

import { basename, dirname } from "node:path";
import type { FileSource } from "../../core/config/find.ts";
import type { Launches, Trust } from "../../core/config/trust/trust.ts";
import { PlugboardError } from "../../core/types/errors.ts";
import { otherWriters } from "../../core/state/state-directory.ts";
import { shellQuoted } from "../../util/text.ts";
import { visible } from "../../util/visible.ts";
import type { CliContext } from "../context.ts";
import { judgeFile, type Judgement } from "./judge-file.ts";
import { changeLines, launchLines } from "./view.ts";

/** Rejects with UNTRUSTED and a message that shows what the file would start. `text` is what was loaded from it. */
export async function requireTrust(
  source: FileSource,
  text: string,
  context: Pick<CliContext, "io" | "argv">,
): Promise<void> {
  const { path: file, from } = source;
  const { io } = context;
  const judgement = await judgeFile(source, io, text);
  if (judgement.trust.kind === "trusted") return;
  const writers = from === "home" ? otherWriters(file, io.env) : undefined;
  const lines = [
    `${headline(file, judgement.trust)}, so nothing was started.`,
    ...(writers ? ["It needs your trust, because other users can write to it."] : []),
    ...trustDetails(judgement.launches, judgement.trust),
  ];
  throw new PlugboardError("UNTRUSTED", lines.join("\n"), {
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

/** What there is to decide about: the changes since it was trusted, and everything it would start. */
export function trustDetails({ all }: Launches, trust: Trust): string[] {
  if (all.length === 0) {
    return [...changeLines(trust), "It starts nothing, and has settings that would apply here."];
  }
  return [...changeLines(trust), "It would start or use:", ...launchLines(all)];
}
