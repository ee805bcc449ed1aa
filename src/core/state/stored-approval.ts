// The answers "always", wherever they are stored.

import type { StoredApproval } from "../types/approval.ts";
import { isJsonObject } from "../types/json.ts";
import type { ApprovalKey } from "../types/shared-state.ts";

export function storedKey({ agent, config, tool, hash, caller }: ApprovalKey): string {
  return JSON.stringify([agent, config ?? "", tool, hash, caller ?? ""]);
}

export function isApproval(value: unknown): value is StoredApproval {
  return (
    isJsonObject(value) &&
    typeof value.agent === "string" &&
    (value.config === undefined || typeof value.config === "string") &&
    typeof value.tool === "string" &&
    typeof value.hash === "string" &&
    (value.caller === undefined || typeof value.caller === "string") &&
    typeof value.at === "number"
  );
}
