// `plugboard types`: writes TypeScript declarations of the tools.

import { canonicalName, type Tool } from "../../core/types/tool.ts";
import { plural } from "../../util/text.ts";
import type { CliContext } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import { writeGenerated } from "../generated-file.ts";
import { withBoard } from "../open.ts";
import { requireTools } from "../require-tools.ts";
import { untilStarted, whileStarting } from "../status/starting.ts";
import { requireReady } from "../typed/require-ready.ts";
import type { TypesRequest } from "./command.ts";
import { toolDeclarations } from "./declarations.ts";

export async function runTypes(command: TypesRequest, context: CliContext): Promise<number> {
  const { screen, options } = context;
  const tools = await toolsOf(command, context);
  const text = toolDeclarations(tools);
  if (command.output !== undefined) await writeGenerated(command.output, text, context);
  if (options.json) {
    const names = tools.map(canonicalName);
    screen.json({ tools: names, ...(command.output ? { file: command.output } : { text }) });
  } else if (command.output === undefined) screen.out(text);
  else screen.note(`${plural(tools.length, "tool")} in ${command.output}`);
  if (tools.length === 0) screen.note("there are no tools");
  return EXIT.ok;
}

/** The tools that a model or a program gets. Rejects if a server cannot be asked. */
async function toolsOf(
  { servers, refresh }: TypesRequest,
  context: CliContext,
): Promise<readonly Tool[]> {
  const found: Tool[] = [];
  for (const server of servers.length === 0 ? [undefined] : new Set(servers)) {
    const start = refresh ? "none" : "unknown";
    await withBoard(context, { start, server, keepAlive: true }, async ({ board, agent }) => {
      await (refresh
        ? whileStarting(board, context, board.refresh())
        : untilStarted(board, context, { limit: agent.startupWait }));
      requireReady(board, context.options);
      requireTools(board, context);
      const isWanted = ({ source }: Tool): boolean =>
        server === undefined || (source.kind === "mcp" && source.server === server);
      found.push(...board.tools().filter(isWanted));
    });
  }
  return found;
}
