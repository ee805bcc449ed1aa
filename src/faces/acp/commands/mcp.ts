// `/mcp`: how the session's servers fare, and changes to them.

import { PlugboardError } from "../../../model/errors.ts";
import type { ServerConfig } from "../../../model/server-config.ts";
import type { ServerStatus } from "../../../model/server-status.ts";
import { oneLine, plural } from "../../../util/text.ts";
import { trouble } from "../servers/health.ts";
import { listLine } from "./list-line.ts";
import type { Turn } from "../ports.ts";

const USAGE =
  "/mcp shows the servers; /mcp reconnect, enable or disable <server>; " +
  "/mcp add <name> <command or URL> …; /mcp remove <name>";

export async function runMcp(
  words: readonly string[],
  { board, say }: Pick<Turn, "board" | "say">,
): Promise<void> {
  const [action = "status", server, ...rest] = words;
  if (action === "status" && server === undefined) {
    const lines = board.status().map(statusLine);
    return say(lines.length === 0 ? "There are no servers." : lines.join("\n"));
  }
  if (server !== undefined) {
    if (action === "reconnect") return say(statusLine(await board.restart(server)));
    if (action === "enable" || action === "disable") {
      return say(statusLine(await board.setEnabled(server, action === "enable")));
    }
    if (action === "remove") {
      await board.remove(server);
      return say(`${oneLine(server, 80)} was removed from this session.`);
    }
    const [target, ...args] = rest;
    if (action === "add" && target !== undefined) {
      return say(statusLine(await board.add(server, toConfig(target, args))));
    }
  }
  throw new PlugboardError(
    "INVALID_ARGUMENTS",
    `/mcp does not know "${oneLine(words.join(" "), 80)}"`,
    { hint: USAGE },
  );
}

function toConfig(target: string, args: readonly string[]): ServerConfig {
  return /^https?:\/\//i.test(target) ? { url: target } : { command: target, args: [...args] };
}

function statusLine(status: ServerStatus): string {
  const problem = trouble(status);
  const { kind } = status.state;
  return problem === undefined
    ? listLine(status.name, `${kind}, ${plural(status.tools, "tool")}`)
    : `- ${problem} [${kind}]`;
}
