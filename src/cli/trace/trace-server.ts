// Traces one server for a command: that of the gateway which runs, or one that the command starts; until the command is
// interrupted, or for the time of one call.

import { DEFAULT_AGENT } from "../../core/types/agent-config.ts";
import type { Board } from "../../core/types/board.ts";
import { PlugboardError } from "../../core/types/errors.ts";
import type { TraceListener, TraceOptions } from "../../core/types/trace.ts";
import type { RunningGateway } from "../../core/state/running-gateway.ts";
import { ask } from "../../serve/attach/command/ask.ts";
import { aborted } from "../../util/abort.ts";
import { oneLine, plainText, shellWord } from "../../util/text.ts";
import { withLink } from "../attach/connect.ts";
import { runningGateway } from "../attach/find-channel.ts";
import { makeCall } from "../call/call.ts";
import { resultText } from "../call/result.ts";
import type { CliContext } from "../context.ts";
import { EXIT, exitCodeOf } from "../exit-code.ts";
import { untilInterrupted } from "../lifetime.ts";
import { findSource } from "../find-source.ts";
import { withBoard } from "../open.ts";
import { readArguments } from "../read-arguments.ts";
import type { TracedCall } from "./command.ts";

export interface TraceServerOptions extends Pick<TraceOptions, "maxSize"> {
  /** Gets each entry. */
  listener: TraceListener;
  /** Called when the server of a gateway is traced. */
  onGateway?: (gateway: RunningGateway) => void;
  /** Called once the server has started, when there is no call to make and it is no server of a gateway. */
  onFollow?: () => void;
}

/** Its number on the link. */
const TRACE = 1;

/** Returns the exit code. */
export async function traceServer(
  command: TracedCall,
  context: CliContext,
  options: TraceServerOptions,
): Promise<number> {
  const { server, tool } = command;
  const { standalone, typed } = context.options;
  // Before anything starts: arguments that cannot be read must not start a server.
  const args = await readArguments(command.args, context);
  if (tool === undefined && server !== undefined && typed === undefined && !standalone) {
    const gateway = await runningGateway(findSource(context), context);
    if (gateway !== undefined) return followGateway(gateway, server, context, options);
  }
  const open = {
    start: "none",
    standalone: true,
    restarts: tool === undefined,
    ...(server !== undefined && { server }),
    ...(command.yes && { onApproval: () => "once" as const }),
  } as const;
  return withBoard(context, open, async ({ board, agent }) => {
    const name = agent.servers[0]?.name ?? "";
    const { listener, maxSize } = options;
    const end = board.trace(listener, { ...(maxSize !== undefined && { maxSize }) });
    try {
      if (tool === undefined) {
        await Promise.race([board.refresh(), aborted(context.signal)]);
        if (!context.signal.aborted) requireStarted(board, name);
        options.onFollow?.();
        await aborted(context.signal);
        return EXIT.ok;
      }
      await untilInterrupted(board.refresh(), context.signal);
      requireStarted(board, name);
      const { outcome } = await makeCall(board, `${name}/${tool}`, args, context);
      if (outcome.failure !== undefined) {
        const text = plainText(resultText(outcome)).trimEnd();
        context.screen.note(`${context.screen.terminal.err.paint("red", "plugboard:")} ${text}`);
      }
      return exitCodeOf(outcome);
    } finally {
      await end();
    }
  });
}

async function followGateway(
  gateway: RunningGateway,
  server: string,
  context: CliContext,
  { listener, maxSize, onGateway }: TraceServerOptions,
): Promise<number> {
  const { signal, commandName, options } = context;
  const { agent = DEFAULT_AGENT } = options;
  return withLink(gateway, commandName, context, async (link) => {
    await ask(link, "agent/attach", [agent]);
    await ask(link, "agent/trace", [server, maxSize ?? 0], { onEntry: listener, lasting: TRACE });
    onGateway?.(gateway);
    const end = await Promise.race([aborted(signal), link.closed]);
    if (end !== undefined) throw gatewayGone();
    await link.release(TRACE);
    return EXIT.ok;
  });
}

function gatewayGone(): PlugboardError {
  return new PlugboardError("SERVER_UNAVAILABLE", "the gateway has stopped", { quote: "" });
}

/** Throws why the server did not start. The trace has shown how. */
function requireStarted(board: Pick<Board, "status">, server: string): void {
  const state = board.status().find(({ name }) => name === server)?.state;
  const name = `'${oneLine(server)}'`;
  switch (state?.kind) {
    case undefined:
    case "ready":
    case "idle":
      return;
    case "failed":
    case "backoff":
      throw state.error;
    case "needs-auth":
      throw new PlugboardError("NEEDS_AUTH", `${name} did not let you in`, {
        server,
        hint: state.remedy,
      });
    case "disabled":
      throw new PlugboardError("SERVER_UNAVAILABLE", `${name} is disabled`, {
        server,
        hint: `to enable it: plugboard enable ${shellWord(server)}`,
      });
    default:
      throw new PlugboardError("SERVER_UNAVAILABLE", `${name} did not become ready`, { server });
  }
}
