// Runs one call of a native tool. It ends when the tool has answered, when its time is over, or with the caller's signal:
// what the tool does afterwards reaches nobody.

import { cancelled, PlugboardError } from "../types/errors.ts";
import type { GuardedCall } from "../types/guard.ts";
import type { NativeTool, NativeToolResult, ToolUpdate } from "../types/tool.ts";
import { abortSignalOf } from "../../util/abort.ts";
import type { Clock, Timer } from "../../util/clock.ts";
import { duration } from "../../util/text.ts";

export interface NativeCallOptions {
  clock: Clock;
  /** Milliseconds without an update; `false` for a tool that ends by itself, with the signal too. */
  timeout: number | false;
  /** Milliseconds that updates may extend it to. */
  ceiling: number;
}

/** Rejects with CANCELLED or TIMEOUT, or with what the tool throws. */
export async function runNative(
  tool: Pick<NativeTool, "name" | "execute">,
  { callId, args, signal, onUpdate }: Pick<GuardedCall, "callId" | "args" | "signal" | "onUpdate">,
  { clock, timeout, ceiling }: NativeCallOptions,
): Promise<NativeToolResult> {
  if (signal?.aborted) throw cancelled(signal);
  if (timeout === false) {
    return tool.execute(callId, args, signal && abortSignalOf(signal), onUpdate);
  }
  const over = new AbortController();
  let giveUp: (error: PlugboardError) => void = () => {};
  const givenUp = new Promise<never>((_, reject) => {
    giveUp = reject;
  });
  const end = (error: PlugboardError, reason: unknown): void => {
    giveUp(error);
    over.abort(reason);
  };

  const latest = clock.monotonic() + Math.max(timeout, ceiling);
  let deadline = clock.monotonic() + timeout;
  let timer: Timer | undefined;
  // Updates leave the timer alone, so it may fire too early; then it is set again for the rest.
  const wait = (): void => {
    const left = deadline - clock.monotonic();
    // Timers may fire a fraction of a millisecond early.
    if (left > 1) timer = clock.later(left, wait);
    else end(tooLate(tool, timeout), new DOMException("the tool took too long", "TimeoutError"));
  };
  const tell = (update: ToolUpdate): void => {
    if (over.signal.aborted) return;
    deadline = Math.min(clock.monotonic() + timeout, latest);
    onUpdate?.(update);
  };

  const onAbort = (): void => end(cancelled(signal), signal?.reason);
  signal?.addEventListener("abort", onAbort, { once: true });
  wait();
  try {
    const running = (async () => tool.execute(callId, args, over.signal, tell))();
    return await Promise.race([running, givenUp]);
  } finally {
    timer?.cancel();
    signal?.removeEventListener("abort", onAbort);
  }
}

function tooLate({ name }: Pick<NativeTool, "name">, timeout: number): PlugboardError {
  const message = `'${name}' did not end within ${duration(timeout)}, and may have taken effect`;
  return new PlugboardError("TIMEOUT", message);
}
