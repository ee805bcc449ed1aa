// Calls that wait for a person's approval, and the answers, wherever they are stored.

import { createHash } from "node:crypto";
import type { ApprovalAnswer } from "../types/approval.ts";
import { isJsonObject } from "../types/json.ts";
import type { PendingAnswer, PendingApproval } from "../types/shared-state.ts";

/** It is shown as it is, since people type it. */
const ID = /^[\w-]{1,64}$/;
const ANSWERS: readonly unknown[] = ["once", "always", "refuse"] satisfies ApprovalAnswer[];

/** What an answer is bound to. */
export function pendingDigest({
  id,
  caller,
  agent,
  request,
  argsHash,
  createdAt,
  expiresAt,
}: PendingApproval): string {
  const bound = [id, caller.id, agent, request.tool, request.hash, argsHash, createdAt, expiresAt];
  return createHash("sha256").update(JSON.stringify(bound)).digest("hex");
}

export function isPendingAnswer(value: unknown): value is PendingAnswer {
  if (isJsonObject(value)) return typeof value.refuse === "string";
  return ANSWERS.includes(value);
}

/** Another version of ours may have written it, or whoever can write where it is stored. */
export function isPendingApproval(value: unknown): value is PendingApproval {
  if (!isJsonObject(value)) return false;
  const { id, caller, agent, request, argsHash, createdAt, expiresAt } = value;
  return (
    typeof id === "string" &&
    ID.test(id) &&
    isJsonObject(caller) &&
    typeof caller.id === "string" &&
    typeof caller.label === "string" &&
    typeof agent === "string" &&
    typeof argsHash === "string" &&
    typeof createdAt === "number" &&
    typeof expiresAt === "number" &&
    isJsonObject(request) &&
    typeof request.tool === "string" &&
    typeof request.hash === "string" &&
    typeof request.reason === "string" &&
    isJsonObject(request.args) &&
    isJsonObject(request.hints)
  );
}
