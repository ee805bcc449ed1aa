// The board of a running gateway, for one call, in the shortest way: without the code that reads configurations, opens
// boards and starts servers, which takes longer to load than such a call takes. Where anything is out of the ordinary,
// the call goes the ordinary way.

import type { Link } from "../../serve/attach/link.ts";
import { ask } from "../../serve/attach/command/ask.ts";
import type { AgentFingerprint } from "../../core/config/fingerprint.ts";
import { DEFAULT_AGENT } from "../../core/types/agent-config.ts";
import type { AskApproval } from "../../core/types/approval.ts";
import type { OnElicitation } from "../../core/types/elicitation.ts";
import { PlugboardError } from "../../core/types/errors.ts";
import type { JsonObject } from "../../core/types/json.ts";
import { DEFAULT_TOOL_TIMEOUT_MS } from "../../core/types/server-definition.ts";
import { type CallOutcome, canonicalName, type Tool } from "../../core/types/tool.ts";
import { toGatewayFailure } from "../../core/tools/failure.ts";
import { withLink } from "../attach/connect.ts";
import { findChannel, type FoundChannel, isTrustedBy } from "../attach/find-channel.ts";
import { type CliContext, isVerbose } from "../context.ts";
import { findSource } from "../find-source.ts";
import { isAttended } from "../questions/attended.ts";
import type { CallBoard } from "./call.ts";
import type { CallRequest } from "./command.ts";

interface MeantCall extends Pick<CallRequest, "tool" | "timeout" | "yes"> {
  /** The first word after `tool`. If `tool` names a server, the word may name the tool. */
  word: string | undefined;
}

/** Its number on the link. */
const SESSION = 1;

/** `otherwise` is the ordinary way, for a call that has to go it; nothing has been called by then. */
export async function withRunningBoard(
  command: MeantCall,
  context: CliContext,
  use: (board: CallBoard) => Promise<number>,
  otherwise: () => Promise<number>,
): Promise<number> {
  const found =
    context.options.typed === undefined ? await findRunning(command, context) : undefined;
  if (found === undefined) return otherwise();
  let isOpen = false;
  try {
    return await withLink(found.gateway, context.commandName, context, async (link) => {
      const board = await openOn(link, found, command, context);
      isOpen = true;
      return use(board);
    });
  } catch (error) {
    // The ordinary way fails with the same error, and reports it. It also knows the tools of all servers.
    if (isOpen || !(error instanceof PlugboardError)) throw error;
    return otherwise();
  }
}

type Running = Pick<FoundChannel & { kind: "attach" }, "gateway"> & {
  agent: AgentFingerprint;
  name: string;
};

/** Undefined if none runs for the configuration, or this command must not use it as it is. */
async function findRunning(
  { tool, word }: MeantCall,
  context: CliContext,
): Promise<Running | undefined> {
  const { io, options } = context;
  const source = findSource(context);
  if (source.kind !== "file" || options.standalone) return undefined;
  // With --verbose, the logs of servers are shown too, which only the ordinary way does.
  if (isVerbose(options)) return undefined;
  const found = await findChannel(source, context);
  if (found.kind !== "attach") return undefined;
  // Where the server has no such tool, the ordinary way finds out what is meant.
  const name = word !== undefined && found.shares.has(tool) ? `${tool}/${word}` : tool;
  if (!isShared(name, found)) return undefined;
  const { gateway } = found;
  const agent = gateway.fingerprint.agents[options.agent ?? DEFAULT_AGENT];
  if (agent === undefined || agent.hasSessionServers) return undefined;
  return (await isTrustedBy(gateway, source, io)) ? { gateway, agent, name } : undefined;
}

/** Without its server, a name may mean a tool of any server. */
function isShared(tool: string, { shares, apart }: FoundChannel & { kind: "attach" }): boolean {
  const slash = tool.indexOf("/");
  return apart.size === 0 || (slash > 0 && shares.has(tool.slice(0, slash)));
}

/** The one tool that is called, as a board has it. */
async function openOn(
  link: Link,
  { agent, name }: Running,
  { timeout, yes }: MeantCall,
  context: CliContext,
): Promise<CallBoard> {
  const { io, options, signal } = context;
  const session = {
    cwd: agent.workspace ?? io.cwd,
    owner: options.owner,
    rateLimit: false,
    toolNames: agent.toolNames,
    defaultToolTimeout: DEFAULT_TOOL_TIMEOUT_MS,
    toolTimeout: timeout,
    onApproval: yes ? () => "once" : askApproval(context),
    onElicitation: isAttended(context) ? askElicitation(context) : undefined,
    lasting: SESSION,
  };
  await ask(link, "session/open", [options.agent ?? DEFAULT_AGENT], session);
  const { tool: found, isListed } = await ask(link, "session/find", [name], {
    signal,
    session: SESSION,
  });
  const tool: Tool = { ...found, execute: () => Promise.reject(new Error("not used here")) };
  const called = tool.source.kind === "mcp" ? canonicalName(tool) : `native/${tool.name}`;
  return {
    find: async () => tool,
    tools: () => (isListed ? [tool] : []),
    call: async (_: string, args: JsonObject = {}, given = {}) =>
      ask(link, "session/call", [called, args], {
        ...given,
        session: SESSION,
        patience: timeout,
      }).then(
        (outcome) => outcome as CallOutcome,
        (error: unknown) => toGatewayFailure(error),
      ),
    status: () => [],
  };
}

/** Loaded with the first question. */
function askApproval(context: CliContext): AskApproval {
  return async (...args) => {
    const { approvalPrompt } = await import("../questions/approve.ts");
    return approvalPrompt(context)(...args);
  };
}

function askElicitation(context: CliContext): OnElicitation {
  return async (request) => {
    const { elicitationPrompt } = await import("../questions/elicit.ts");
    return elicitationPrompt(context)?.(request) ?? { action: "cancel" };
  };
}
