// `plugboard reload`: checks the configuration, has a person approve what it starts where that is needed, and tells the
// gateway. Other commands that run with the file see the approval by themselves.

import { filesOf } from "../../core/config/find.ts";
import { loadConfig } from "../../core/config/load.ts";
import type { ReloadReport } from "../../core/types/board.ts";
import { PlugboardError } from "../../core/types/errors.ts";
import { ask } from "../../serve/attach/command/ask.ts";
import { visible } from "../../util/visible.ts";
import { withLink } from "../attach/connect.ts";
import { runningGateway } from "../attach/find-channel.ts";
import type { CliContext } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import { untilInterrupted } from "../lifetime.ts";
import { findSource } from "../find-source.ts";
import { judgeFile } from "../trust/judge-file.ts";
import { isFileYours } from "../trust/own-file.ts";
import { approveFile } from "../trust/trust.ts";
import type { ReloadRequest } from "./command.ts";

export async function runReload({ yes }: ReloadRequest, context: CliContext): Promise<number> {
  const { io, options, screen } = context;
  const source = findSource(context);
  if (source.kind !== "file") {
    throw new PlugboardError("CONFIG_INVALID", "there is no configuration to reload", {
      hint: "name a configuration with --config <file>",
    });
  }
  const { path, base } = source;
  await loadConfig(path, options.agent, { cwd: io.cwd, homedir: io.homedir, base });
  const gateway = await runningGateway(source, context);
  const askGateway = (): Promise<ReloadReport | undefined> =>
    gateway === undefined
      ? Promise.resolve(undefined)
      : withLink(gateway, "reload", context, async (link) => {
          const answer = ask(link, "gateway/reload", []);
          return (await untilInterrupted(answer, context.signal)) as ReloadReport;
        });
  const approve = async (): Promise<boolean> => {
    let wasAsked = false;
    for (const each of filesOf(source)) {
      if (await isFileYours(each.path, io)) continue;
      const judgement = await judgeFile(each.path === path ? source : each, io);
      wasAsked = (await approveFile(judgement, { file: each.path, yes }, context)) || wasAsked;
    }
    return wasAsked;
  };
  let isApproved = false;
  let report: ReloadReport | undefined;
  try {
    report = await askGateway();
    // Without a gateway, nobody knows which programs run. A person is asked only about programs that were not approved
    // before.
    if (gateway === undefined) isApproved = await approve();
  } catch (error) {
    if (!(error instanceof PlugboardError) || error.code !== "UNTRUSTED" || !gateway) throw error;
    isApproved = await approve();
    report = await askGateway();
  }
  if (options.json) {
    screen.json({ file: path, approved: isApproved, ...(gateway && { pid: gateway.pid }), report });
  } else screen.lines(reportLines(path, gateway?.pid, report, isApproved));
  return EXIT.ok;
}

function reportLines(
  file: string,
  pid: number | undefined,
  report: ReloadReport | undefined,
  isApproved: boolean,
): string[] {
  if (report === undefined) {
    const what = isApproved ? "is approved" : "is valid, and there is nothing to approve";
    return [
      `${visible(file)} ${what}; commands that run with it apply it within a second`,
      "No gateway runs with it.",
    ];
  }
  const { added, changed, removed, unchanged } = report;
  const line = (what: string, names: readonly string[]): string[] =>
    names.length === 0 ? [] : [`  ${what}: ${names.map(visible).join(", ")}`];
  return [
    `The gateway (pid ${pid}) runs with ${visible(file)} as it is now.`,
    ...line("added", added),
    ...line("started again", changed),
    ...line("removed", removed),
    ...line("unchanged", unchanged),
  ];
}
