// The state of a server, as a word with a mark: a colour alone would tell some people nothing.

import type { VNode } from "preact";
import type { StateKind } from "../../serve/gateway/page/wire.ts";

type Tone = "good" | "bad" | "warn" | "quiet";

const SHOWN: Readonly<Record<StateKind, [mark: string, tone: Tone, word: string]>> = {
  ready: ["●", "good", "ready"],
  idle: ["○", "quiet", "starts when used"],
  starting: ["◐", "warn", "starting"],
  backoff: ["◐", "warn", "restarting"],
  "needs-auth": ["▲", "warn", "needs a sign-in"],
  untrusted: ["▲", "warn", "waits for your trust"],
  failed: ["✕", "bad", "failed"],
  stopping: ["○", "quiet", "stopping"],
  stopped: ["○", "quiet", "stopped"],
  disabled: ["○", "quiet", "disabled"],
};

export function State({ state }: { state: StateKind }): VNode {
  const [mark, tone, word] = SHOWN[state];
  return (
    <span class={`state ${tone}`}>
      <span aria-hidden="true">{mark}</span> {word}
    </span>
  );
}

/** Those that a person should look at come first. */
export function urgency(state: StateKind): number {
  return ["failed", "needs-auth", "untrusted", "backoff", "starting"].indexOf(state) >>> 0;
}
