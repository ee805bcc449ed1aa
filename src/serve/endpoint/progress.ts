// The progress of a call, as its client asked for it. While the tool itself says nothing, a heartbeat of ours keeps the
// client from giving up on a long call.

import type { ToolUpdate, UpdateListener } from "../../core/types/tool.ts";
import type { Clock, Timer } from "../../util/clock.ts";
import type { Exchange } from "./client.ts";
import { notification } from "./message.ts";
import { metaOf } from "./protocol.ts";

/** Half of the shortest timeout that common clients have. */
const HEARTBEAT_MS = 15_000;
/** Every message of progress has it. With a longer one, a call with much to report would keep the host busy. */
const LONGEST_TOKEN = 1000;
/** Progress must grow. A heartbeat counts for so little that the tool's own figures soon pass it. */
const HEARTBEAT_STEP = 0.001;

/** Undefined if the client did not ask for progress. */
export function reportProgress(
  { request, send }: Exchange,
  clock: Clock,
): { onUpdate: UpdateListener; waiting: (message: string) => void; stop: () => void } | undefined {
  const token = metaOf(request.params)["progressToken"];
  const isToken =
    typeof token === "string" ? token.length <= LONGEST_TOKEN : Number.isFinite(token);
  if (!isToken) return undefined;
  let last = 0;
  let waitsFor: string | undefined;
  let timer: Timer;

  const report = (progress: number, total?: number, message?: string): void => {
    last = progress > last ? progress : last + HEARTBEAT_STEP;
    const said = {
      total,
      message,
    };
    send(notification("notifications/progress", { progressToken: token, progress: last, ...said }));
    timer.cancel();
    arm();
  };
  const arm = (): void => {
    timer = clock.later(HEARTBEAT_MS, () => report(last, undefined, waitsFor));
  };
  arm();
  return {
    onUpdate: (update: ToolUpdate) => {
      const { progress, content } = update;
      const [first] = content;
      const text = first?.type === "text" ? first.text : undefined;
      report(progress?.progress ?? last, progress?.total, progress?.message ?? text);
    },
    waiting: (message) => {
      waitsFor = message;
      report(last, undefined, message);
    },
    stop: () => timer.cancel(),
  };
}
