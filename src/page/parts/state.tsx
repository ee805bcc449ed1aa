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

/** Nobody has to do anything where each person has the server for themselves. */
const PER_USER = {
  "sign-in": ["○", "quiet", "each person signs in"],
  exchange: ["○", "quiet", "each caller has their own"],
} as const;

interface StateProps {
  state: StateKind;
  perUser?: keyof typeof PER_USER;
}

export function State({ state, perUser }: StateProps): VNode {
  const isCalm = state === "needs-auth" && perUser !== undefined;
  const [mark, tone, word] = isCalm ? PER_USER[perUser] : SHOWN[state];
  return (
    <span class={`state ${tone}`}>
      <span aria-hidden="true">{mark}</span> {word}
    </span>
  );
}

/** Those that a person should look at come first. */
export function urgency({ state, perUser }: StateProps): number {
  if (perUser !== undefined && state === "needs-auth") return urgency({ state: "ready" });
  return ["failed", "needs-auth", "untrusted", "backoff", "starting"].indexOf(state) >>> 0;
}
