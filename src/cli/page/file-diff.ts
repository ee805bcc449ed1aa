// How a configuration file would differ after a change: its lines, and what it would start that it did not start before.

import { withoutCredentials } from "../../core/board/without-credentials.ts";
import { type Launch, readLaunches } from "../../core/config/trust/trust.ts";
import type { DiffLine, StartedServer } from "../../serve/gateway/page/wire.ts";
import { visible } from "../../util/visible.ts";
import { launchLines } from "../trust/view.ts";

/** This many lines are shown around each change. */
const AROUND = 3;

/** Undefined stands for no file. */
export async function fileDiff(before: string | undefined, after: string): Promise<DiffLine[]> {
  const { diffLines } = await import("diff");
  const lines = diffLines(before ?? "", after).flatMap(({ value, added, removed }): DiffLine[] => {
    const kind = added ? "added" : removed ? "removed" : "same";
    const own = value.split(/\r\n|\n|\r/);
    if (own.at(-1) === "") own.pop();
    return own.map((text) => ({ kind, text: visible(text) }));
  });
  const isNear = (at: number): boolean =>
    lines.slice(Math.max(0, at - AROUND), at + AROUND + 1).some(({ kind }) => kind !== "same");
  return lines.flatMap((line, at): DiffLine[] => {
    if (isNear(at)) return [line];
    return at === 0 || isNear(at - 1) ? [{ kind: "gap", text: "" }] : [];
  });
}

/** Both texts have to be valid. */
export async function startsIn(
  path: string,
  before: string | undefined,
  after: string,
): Promise<StartedServer[]> {
  const known = new Set(before === undefined ? [] : (await launchesOf(path, before)).map(key));
  const added = (await launchesOf(path, after)).filter((launch) => !known.has(key(launch)));
  return added.map((launch) => ({ name: launch.name, lines: linesOf(launch) }));
}

function key({ label, hash }: Launch): string {
  return `${label} ${hash}`;
}

async function launchesOf(path: string, text: string): Promise<Launch[]> {
  return (await readLaunches(path, text.replace(/^\uFEFF/, ""))).all;
}

/** Without the name, which stands above them, and without credentials. */
function linesOf(launch: Launch): string[] {
  const [first = "", ...rest] = launchLines([withoutValues(launch)]);
  const name = `  ${visible(launch.name)}: `;
  return [first.slice(name.length), ...rest.map((line) => line.trim())];
}

/**
 * Credentials are hidden where they stand. The command line stays as it is: what looks like a credential there may be what
 * runs.
 */
function withoutValues(launch: Launch): Launch {
  if (launch.kind !== "server") return launch;
  const { server } = launch;
  const { args } = server;
  return { ...launch, server: { ...withoutCredentials(server), ...(args && { args }) } };
}
