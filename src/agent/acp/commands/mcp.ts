// `/mcp`: shows the state of the session's servers, and changes them.

import { cancelled, PlugboardError } from "../../../core/types/errors.ts";
import { type Diagnostic, isSuspicious } from "../../../core/types/diagnostic.ts";
import type { ServerConfig } from "../../../core/types/server-config.ts";
import type { ServerTarget } from "../../../core/types/server-definition.ts";
import type { ServerStatus } from "../../../core/types/server-status.ts";
import type { SessionBoard } from "../../../core/types/board.ts";
import { untilAborted } from "../../../util/abort.ts";
import { closest } from "../../../util/closest.ts";
import { oneLine, plural } from "../../../util/text.ts";
import { toTarget } from "../servers/mcp-servers.ts";
import { problemOf } from "../servers/server-watcher.ts";

const USAGE =
  "use /mcp, /mcp reconnect <server>, /mcp enable <server>, /mcp disable <server>, " +
  "/mcp add <name> <command or URL> … or /mcp remove <name>";

const ACTIONS: readonly string[] = ["reconnect", "enable", "disable", "add", "remove"];

export interface McpContext {
  readonly board: Pick<SessionBoard, "status" | "restart" | "setEnabled" | "add" | "remove">;
  readonly signal: AbortSignal;
  /** The tools that the session's model does not get, and why. */
  readonly leftOut: () => Promise<Diagnostic[]>;
  /** How the session's model gets its tools, if it does not get them all. */
  readonly toolSearch: () => Promise<string | undefined>;
  /** Says something in the agent's own words. */
  readonly say: (text: string) => void;
}

export async function runMcp(
  words: readonly string[],
  { board, say, signal, leftOut, toolSearch }: McpContext,
): Promise<void> {
  const [action = "status", server, ...rest] = words;
  // A cancelled command stops waiting; what it started goes on.
  const unlessCancelled = <Result>(work: Promise<Result>): Promise<Result> =>
    untilAborted(work, signal, cancelled);
  if (action === "status" && server === undefined) {
    const [missing, search] = await unlessCancelled(Promise.all([leftOut(), toolSearch()]));
    const servers = board.status();
    const found = servers.flatMap(({ diagnostics }) => diagnostics).filter(isSuspicious);
    const lines = [
      ...servers.map(statusLine),
      ...[...missing, ...found].map(leftOutLine),
      ...(search === undefined ? [] : [`- ${search}`]),
    ];
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
  const meant = ACTIONS.includes(action) ? undefined : closest(action, ACTIONS);
  throw new PlugboardError(
    "INVALID_ARGUMENTS",
    `/mcp ${oneLine(words.join(" "), 80)} is unknown or incomplete`,
    { hint: meant === undefined ? USAGE : `did you mean '/mcp ${meant}'?` },
  );
}

/** The server in a `/mcp add` line, whose credentials must not be kept in the history. */
export function targetsIn([action, , target, ...args]: readonly string[]): ServerTarget[] {
  if (action !== "add" || target === undefined) return [];
  const { url, command } = toConfig(target, args);
  return [toTarget(url === undefined ? { command, args } : { url })];
}

function toConfig(target: string, args: readonly string[]): ServerConfig {
  return /^https?:\/\//i.test(target) ? { url: target } : { command: target, args: [...args] };
}

function leftOutLine({ server, subject, message }: Diagnostic): string {
  const about = subject === undefined ? server : `${server}/${subject}`;
  return `- ${oneLine(about, 300)}: ${message}`;
}

function statusLine(status: ServerStatus): string {
  const problem = problemOf(status);
  const { kind } = status.state;
  if (problem !== undefined) return `- ${problem} [${kind}]`;
  const tools = kind === "ready" || status.tools > 0 ? `, ${plural(status.tools, "tool")}` : "";
  const where = status.transport === "acp" ? " (in the editor)" : "";
  return `- ${oneLine(status.name, 80)}${where}: ${kind}${tools}`;
}
