// Runs one command in one terminal of the editor: creates the terminal, waits for the command, stops it on timeout or
// cancellation, and always releases the terminal.

import {
  type CreateTerminalRequest,
  methods,
  type WaitForTerminalExitResponse,
} from "@agentclientprotocol/sdk";
import { untilAborted } from "../../../util/abort.ts";
import { within } from "../../../util/clock.ts";
import { cancelled } from "../../../core/types/errors.ts";
import { objectIn } from "../../../core/types/json.ts";
import { answerOfEditor, type EditorContext, stringIn } from "./editor-tool.ts";

const { terminal } = methods.client;

const RUN = "run the command";
/** How long the editor may take to stop a command and return its output. */
const GRACE_MS = 5000;

export interface TerminalOptions {
  command: Omit<CreateTerminalRequest, "sessionId">;
  timeoutMs: number;
  /** Called when the terminal can be shown. */
  onOpen: (terminalId: string) => void;
}

export interface TerminalResult {
  end: { kind: "exited"; status: WaitForTerminalExitResponse } | { kind: "timeout" };
  /** Undefined if the editor did not return it. */
  output: { text: string; isCut: boolean } | undefined;
}

type TerminalContext = Pick<EditorContext, "sessionId" | "client" | "clock">;

/** Rejects with CANCELLED when the signal aborts, and with TOOL_FAILED if the editor cannot run the command. */
export async function runInTerminal(
  { command, timeoutMs, onOpen }: TerminalOptions,
  context: TerminalContext,
  signal: AbortSignal | undefined,
): Promise<TerminalResult> {
  const { sessionId, client } = context;
  // Without a signal: if the request were cancelled, a terminal created anyway would never be released.
  const opening = client.request(terminal.create, { sessionId, ...command }, undefined);
  let terminalId: string;
  try {
    const opened = untilAborted(opening, signal, cancelled);
    terminalId = stringIn(await answerOfEditor(RUN, opened, signal), "terminalId", RUN);
  } catch (error) {
    // If the editor still creates the terminal later, nobody else would release it.
    opening.then((late) => discard(stringIn(late, "terminalId", RUN), context)).catch(() => {});
    throw error;
  }
  try {
    onOpen(terminalId);
    const end = await waitForExit(terminalId, timeoutMs, context, signal);
    if (end.kind === "timeout") await tryRequest(terminal.kill, terminalId, context);
    const given = await tryRequest(terminal.output, terminalId, context);
    await tryRequest(terminal.release, terminalId, context);
    return { end, output: toOutput(given) };
  } catch (error) {
    await discard(terminalId, context);
    throw error;
  }
}

function toOutput(given: unknown): TerminalResult["output"] {
  const { output, truncated } = objectIn(given);
  return typeof output === "string" ? { text: output, isCut: truncated === true } : undefined;
}

async function waitForExit(
  terminalId: string,
  timeoutMs: number,
  { sessionId, client, clock }: TerminalContext,
  signal: AbortSignal | undefined,
): Promise<TerminalResult["end"]> {
  const late = new AbortController();
  const timer = clock.after(timeoutMs, () => late.abort());
  const either = AbortSignal.any(signal === undefined ? [late.signal] : [signal, late.signal]);
  try {
    const params = { sessionId, terminalId };
    const request = client.request(terminal.waitForExit, params, either);
    const status: unknown = await answerOfEditor("wait for the command", request, signal);
    return { kind: "exited", status: objectIn(status) };
  } catch (error) {
    if (late.signal.aborted && !signal?.aborted) return { kind: "timeout" };
    throw error;
  } finally {
    timer.cancel();
  }
}

/** Releasing a terminal should also stop its command, but not every editor does that. */
async function discard(terminalId: string, context: TerminalContext): Promise<void> {
  await tryRequest(terminal.kill, terminalId, context);
  await tryRequest(terminal.release, terminalId, context);
}

/** Undefined if the editor refuses, takes too long or is gone. */
function tryRequest(
  method: typeof terminal.kill | typeof terminal.output | typeof terminal.release,
  terminalId: string,
  { sessionId, client, clock }: TerminalContext,
): Promise<unknown> {
  const request = client.request(method, { sessionId, terminalId }, undefined);
  return within(
    clock,
    GRACE_MS,
    Promise.resolve<unknown>(request).catch(() => undefined),
  );
}
