// Tells where the configuration does not say which calls need approval, and the line that says it.

import { join } from "node:path";
import type { AgentConfig } from "../core/types/agent-config.ts";
import { visible } from "../util/visible.ts";

export interface ApprovalUnset {
  message: string;
  /** Without a full stop, as the end of a sentence. */
  remedy: string;
}

/** Undefined where something is said, even if it is `never`. `home` is the directory of a file that is not there yet. */
export function approvalUnset(
  { guard, servers, file }: Pick<AgentConfig, "guard" | "servers" | "file">,
  home: string,
): ApprovalUnset | undefined {
  const isSet =
    guard?.approval !== undefined ||
    servers.some((each) => each.enabled && each.guard?.approval !== undefined);
  if (isSet) return undefined;
  return {
    message:
      'no "approval" is configured, so behind `plugboard acp -- <agent>` an agent that does not ask you itself runs its calls unasked',
    remedy: `to be asked, put "tools": { "approval": "ask" } into agents.defaults of ${visible(file ?? join(home, "plugboard.json"))}; if you want no questions, put "never" there`,
  };
}
