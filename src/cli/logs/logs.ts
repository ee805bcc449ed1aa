// `plugboard logs`: what the servers of the running gateway have written, and with -f what they write from now on.

import { existsSync } from "node:fs";
import { type ConfigSource, placeOfSource } from "../../core/config/find.ts";
import { plugboardHome } from "../../core/config/home.ts";
import { gatewayFile } from "../../core/state/running-gateway.ts";
import { PlugboardError, unknownServer } from "../../core/types/errors.ts";
import type { ServerLine } from "../../core/types/server-log.ts";
import { ask } from "../../serve/attach/command/ask.ts";
import type { GatewayStatus } from "../../serve/gateway/monitoring/status.ts";
import { aborted } from "../../util/abort.ts";
import { oneLine, plainText } from "../../util/text.ts";
import { withLink } from "../attach/connect.ts";
import { noGatewayRuns, runningGateway } from "../attach/find-channel.ts";
import type { CliContext } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import { findSource } from "../find-source.ts";
import { readStatus } from "../status/running-gateway.ts";
import { localTime } from "../terminal/local-time.ts";
import type { LogsRequest } from "./command.ts";

export async function runLogs(
  { server, follow }: LogsRequest,
  context: CliContext,
): Promise<number> {
  const { screen, options, signal, commandName } = context;
  const source = findSource(context);
  const gateway = await runningGateway(source, context);
  if (gateway === undefined) throw noGateway(source, context);
  const print = (line: ServerLine): void => {
    if (options.json) screen.jsonLine({ ...line, at: new Date(line.at).toISOString() });
    else screen.lines([textOf(line, context)]);
  };
  return withLink(gateway, commandName, context, async (link) => {
    const early: ServerLine[] = [];
    let show = (line: ServerLine): void => void early.push(line);
    const lasting = { onLine: (line: ServerLine) => show(line), lasting: 1 };
    const lines = await ask(link, "gateway/logs", [server ?? ""], follow ? lasting : {});
    if (lines.length === 0 && server !== undefined) {
      requireServer(server, await readStatus(gateway, context));
    }
    [...lines, ...early].forEach(print);
    show = print;
    if (!follow) {
      if (lines.length === 0) screen.note("nothing has been written yet");
      return EXIT.ok;
    }
    if (screen.terminal.err.isTerminal) screen.note("Press Ctrl-C to stop.");
    const end = await Promise.race([aborted(signal), link.closed]);
    if (end === undefined) return EXIT.ok;
    throw new PlugboardError("SERVER_UNAVAILABLE", "the gateway has stopped", { quote: "" });
  });
}

/** `14:30:07 files | text`, and `14:30:07 files: text` for what the gateway says about it. */
function textOf({ at, server, level, stream, text }: ServerLine, { screen }: CliContext): string {
  const { paint } = screen.terminal.out;
  const tone = level === "error" ? "red" : level === "warn" ? "yellow" : undefined;
  const said = plainText(text).replaceAll("\n", " ");
  const time = paint("dim", localTime(at).slice(-8));
  const shown = tone === undefined ? said : paint(tone, said);
  return stream === undefined
    ? `${time} ${oneLine(server)}: ${shown}`
    : `${time} ${paint("dim", `${oneLine(server)} |`)} ${stream === "stderr" ? said : shown}`;
}

/** Throws UNKNOWN_SERVER. */
function requireServer(server: string, { agents }: GatewayStatus): void {
  const names = agents.flatMap(({ servers }) => servers.map(({ name }) => name));
  if (!names.includes(server)) throw unknownServer(server, [...new Set(names)]);
}

function noGateway(source: ConfigSource, { io }: CliContext): PlugboardError {
  const file = gatewayFile(plugboardHome(io.env, io.homedir), placeOfSource(source), "log");
  const earlier = existsSync(file) ? `; the log of the last one is ${file}` : "";
  return new PlugboardError(
    "SERVER_UNAVAILABLE",
    `${noGatewayRuns(source)}, and only a gateway keeps what its servers write`,
    {
      hint: `--verbose shows what servers write during a single command${earlier}; to start a gateway in the background: plugboard up -d`,
      quote: "",
    },
  );
}
