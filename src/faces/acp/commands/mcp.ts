// `/mcp`: how the session's servers fare, and changes to them.

import { cancelled, PlugboardError } from "../../../model/errors.ts";
import type { ServerConfig } from "../../../model/server-config.ts";
import type { ServerStatus } from "../../../model/server-status.ts";
import { untilAborted } from "../../../util/abort.ts";
import { oneLine, plural } from "../../../util/text.ts";
import { secretsOf } from "../servers/secrets.ts";
import { trouble } from "../servers/server-watcher.ts";
import { listLine } from "./list-line.ts";
import type { Turn } from "../responder/responder.ts";

const USAGE =
  "/mcp shows the servers; /mcp reconnect, enable or disable <server>; " +
  "/mcp add <name> <command or URL> …; /mcp remove <name>";

export async function runMcp(
  words: readonly string[],
  { board, say, signal }: Pick<Turn, "board" | "say" | "signal">,
): Promise<void> {
  const [action = "status", server, ...rest] = words;
  // What was begun goes on: nobody has to wait for it.
  const unlessCancelled = <Result>(work: Promise<Result>): Promise<Result> =>
    untilAborted(work, signal, cancelled);
  if (action === "status" && server === undefined) {
    const lines = board.status().map(statusLine);
    return say(lines.length === 0 ? "There are no servers." : lines.join("\n"));
  }
  if (server !== undefined) {
    if (action === "reconnect")
      return say(statusLine(await unlessCancelled(board.restart(server))));
    if (action === "enable" || action === "disable") {
      const changed = board.setEnabled(server, action === "enable");
      return say(statusLine(await unlessCancelled(changed)));
    }
    if (action === "remove") {
      await unlessCancelled(board.remove(server));
      return say(`${oneLine(server, 80)} was removed from this session.`);
    }
    const [target, ...args] = rest;
    if (action === "add" && target !== undefined) {
      const added = board.add(server, toConfig(target, args));
      return say(statusLine(await unlessCancelled(added)));
    }
  }
  throw new PlugboardError(
    "INVALID_ARGUMENTS",
    `/mcp does not know "${oneLine(words.join(" "), 80)}"`,
    { hint: USAGE },
  );
}

/** What a line that adds a server has in it that must not be kept. */
export function secretsIn([action, , target, ...args]: readonly string[]): string[] {
  if (action !== "add" || target === undefined) return [];
  const { url, command } = toConfig(target, args);
  return secretsOf([url === undefined ? { command, args } : { url }]);
}

function toConfig(target: string, args: readonly string[]): ServerConfig {
  return /^https?:\/\//i.test(target) ? { url: target } : { command: target, args: [...args] };
}

function statusLine(status: ServerStatus): string {
  const problem = trouble(status);
  const { kind } = status.state;
  if (problem !== undefined) return `- ${problem} [${kind}]`;
  const tools = kind === "ready" || status.tools > 0 ? `, ${plural(status.tools, "tool")}` : "";
  return listLine(status.name, `${kind}${tools}`);
}
