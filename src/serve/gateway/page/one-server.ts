// What the page of one server shows besides what it knows of every server.

import { memoryOfTree } from "../../../core/process/tree-memory.ts";
import type { Board } from "../../../core/types/board.ts";
import { diagnosticText } from "../../../core/types/diagnostic.ts";
import { unknownServer } from "../../../core/types/errors.ts";
import type { ServerHistory } from "../monitoring/server-history.ts";
import type { PageRequests, Role } from "./wire.ts";

export interface OneServerOptions {
  agent: string;
  board: Pick<Board, "status" | "instructions" | "tools" | "resources" | "prompts">;
  history: Pick<ServerHistory, "of">;
}

/** Rejects with UNKNOWN_SERVER. */
export async function showServer(
  name: string,
  role: Role,
  { agent, board, history }: OneServerOptions,
): Promise<PageRequests["servers/show"]["gives"]> {
  const all = board.status();
  const status = all.find((each) => each.name === name);
  if (status === undefined) {
    throw unknownServer(
      name,
      all.map((each) => each.name),
    );
  }
  const { pid, identity, diagnostics } = status;
  const memory = pid === undefined ? undefined : await memoryOfTree(pid);
  const instructions = board.instructions().find(({ server }) => server === name)?.text;
  const isOwner = role === "owner";
  return {
    past: history
      .of(agent, name)
      .map(({ at, state, why }) => ({ at, state, ...(isOwner && why !== undefined && { why }) })),
    ...(memory !== undefined && { memory }),
    ...(identity !== undefined && {
      identity: {
        era: identity.era,
        protocolVersion: identity.protocolVersion,
        capabilities: identity.capabilities ?? [],
        ...(identity.name !== undefined && { name: identity.name }),
        ...(identity.version !== undefined && { version: identity.version }),
      },
    }),
    ...(instructions !== undefined && { instructions }),
    // A note may quote what the server has written.
    ...(isOwner && {
      notes: diagnostics.map(diagnosticText),
    }),
  };
}
