// One command in one terminal of the editor's: made, waited for, ended when its time is up or nobody wants
// it any more, and given back however it went.

import {
  type CreateTerminalRequest,
  methods,
  type WaitForTerminalExitResponse,
} from "@agentclientprotocol/sdk";
import { untilAborted } from "../../../util/abort.ts";
import { within } from "../../../util/clock.ts";
import { cancelled } from "../../../model/errors.ts";
import { isJsonObject } from "../../../model/json.ts";
import { type EditorContext, ofEditor, textIn } from "./editor-tool.ts";

const { terminal } = methods.client;

const RUN = "run the command";
/** How long an editor may take to end a command and give its output. */
const GRACE_MS = 5000;

export interface TerminalOptions {
  command: Omit<CreateTerminalRequest, "sessionId">;
  timeoutMs: number;
  /** It is there to be seen from now on. */
  onOpen: (terminalId: string) => void;
}

export interface Ran {
  end: { kind: "exited"; status: WaitForTerminalExitResponse } | { kind: "timeout" };
  /** Undefined where the editor did not give it. */
  output: { text: string; isCut: boolean } | undefined;
}

type Context = Pick<EditorContext, "sessionId" | "peer" | "clock">;

/** Rejects with CANCELLED when the signal aborts, with TOOL_FAILED where the editor has no such terminal. */
export async function runInTerminal(
  { command, timeoutMs, onOpen }: TerminalOptions,
  context: Context,
  signal: AbortSignal | undefined,
): Promise<Ran> {
  const { sessionId, peer } = context;
  const opening = openTerminal(command, context);
  let terminalId: string;
  try {
    const opened = untilAborted(opening, signal, cancelled);
    terminalId = textIn(await ofEditor(RUN, opened, signal), "terminalId", RUN);
  } catch (error) {
    // An answer that comes after all brings a terminal that nobody else would give back.
    opening.then((late) => discard(textIn(late, "terminalId", RUN), context)).catch(() => {});
    throw error;
  }
  const about = { sessionId, terminalId };
  try {
    onOpen(terminalId);
    const how = await waitForExit(terminalId, timeoutMs, context, signal);
    if (how.kind === "timeout") await quiet(peer.request(terminal.kill, about, undefined), context);
    const given = await quiet(peer.request(terminal.output, about, undefined), context);
    const output = toOutput(given);
    await quiet(peer.request(terminal.release, about, undefined), context);
    return { end: how, output };
  } catch (error) {
    await discard(terminalId, context);
    throw error;
  }
}

/** Without a signal: a request that is given up would leave the terminal with nobody. */
function openTerminal(
  command: TerminalOptions["command"],
  { sessionId, peer }: Context,
): Promise<unknown> {
  return peer.request(terminal.create, { sessionId, ...command }, undefined);
}

function toOutput(given: unknown): Ran["output"] {
  const { output, truncated } = isJsonObject(given) ? given : {};
  return typeof output === "string" ? { text: output, isCut: truncated === true } : undefined;
}

async function waitForExit(
  terminalId: string,
  timeoutMs: number,
  { sessionId, peer, clock }: Context,
  signal: AbortSignal | undefined,
): Promise<Ran["end"]> {
  const late = new AbortController();
  const timer = clock.after(timeoutMs, () => late.abort());
  const given = signal === undefined ? [late.signal] : [signal, late.signal];
  const either = AbortSignal.any(given);
  try {
    const params = { sessionId, terminalId };
    const request = peer.request(terminal.waitForExit, params, either);
    const status: unknown = await ofEditor("wait for the command", request, signal);
    return { kind: "exited", status: isJsonObject(status) ? status : {} };
  } catch (error) {
    if (late.signal.aborted && !signal?.aborted) return { kind: "timeout" };
    throw error;
  } finally {
    timer.cancel();
  }
}

/** A terminal that is released should end what runs in it; not every editor takes that to mean the command. */
async function discard(terminalId: string, context: Context): Promise<void> {
  const about = { sessionId: context.sessionId, terminalId };
  await quiet(context.peer.request(terminal.kill, about, undefined), context);
  await quiet(context.peer.request(terminal.release, about, undefined), context);
}

/** Undefined where the editor refuses, takes too long or is gone. */
function quiet<Result>(request: Promise<Result>, { clock }: Context): Promise<Result | undefined> {
  return within(
    clock,
    GRACE_MS,
    request.catch(() => undefined),
  );
}
