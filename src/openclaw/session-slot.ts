// Switches a slot on and off for one session of OpenClaw, through the session's `toolOverrides`. What else is in them,
// stays: a person may have switched servers of their own for this session.

import { PlugboardError } from "../core/types/errors.ts";
import { isJsonObject, type JsonObject, objectIn, valueIn } from "../core/types/json.ts";
import type { GatewayClient } from "./gateway-client.ts";
import type { GatewayAnswer } from "./gateway-connection.ts";
import { SHARED_ENTRY } from "./slots.ts";

/** A session as the gateway knows it. */
export interface GatewaySession {
  /** The full key: `agent:main:acp-bridge:…`. */
  key: string;
  overrides: JsonObject | undefined;
}

type Gateway = Pick<GatewayClient, "call">;

/** Somebody else may change the same session between our look at it and our change. */
const ATTEMPTS = 4;

/** Undefined if the gateway has no session of that key. */
export async function findSession(
  gateway: Gateway,
  key: string,
): Promise<GatewaySession | undefined> {
  const { session } = resultOf(await gateway.call("sessions.describe", { key }));
  if (!isJsonObject(session)) return undefined;
  const { key: full, toolOverrides } = session;
  return {
    key: typeof full === "string" ? full : key,
    overrides: isJsonObject(toolOverrides) ? toolOverrides : undefined,
  };
}

/** The key of the session with a label. Rejects if there is none. */
export async function findLabel(gateway: Gateway, label: string): Promise<string> {
  const { key } = resultOf(await gateway.call("sessions.resolve", { label }));
  if (typeof key === "string") return key;
  throw new PlugboardError("SERVER_ERROR", "OpenClaw has found no session with that label");
}

/**
 * The session's tools are those of the slot from its next turn on, beside OpenClaw's own. Makes the session if it is not
 * there yet. Returns its full key.
 *
 * `mark` is different each time. OpenClaw keeps the tools and the connection of a session as long as its servers are
 * configured the same, so a session that gets the same slot for another board would still see the tools of the first
 * one. So a tool of that name is denied. There is no such tool, but for OpenClaw it is another configuration.
 */
export async function switchOn(
  gateway: Gateway,
  key: string,
  slot: string,
  mark: string,
): Promise<string> {
  const full = await change(gateway, key, "make", ({ servers, denied }) => ({
    // The servers of the shared entry are on the session's own board already.
    servers: { ...servers, [slot]: true, [SHARED_ENTRY]: false },
    denied: { ...denied, [slot]: [mark] },
  }));
  return full ?? key;
}

/**
 * Idempotent, and of no effect for a session that is gone. `slots` are all the names: the shared entry is back with the
 * last of them.
 */
export async function switchOff(
  gateway: Gateway,
  key: string,
  slot: string,
  slots: readonly string[],
): Promise<void> {
  await change(gateway, key, "leave", ({ servers: before, denied: all }) => {
    const { [slot]: server, ...servers } = before;
    const { [slot]: mark, ...denied } = all;
    if (server === undefined && mark === undefined) return undefined;
    if (!slots.some((each) => servers[each] === true)) delete servers[SHARED_ENTRY];
    return { servers, denied };
  });
}

/**
 * OpenClaw keeps a session's connection to a slot until its next turn, and loses that turn's prompt if the slot does not
 * answer by then. It also closes them when a session is stopped, which has no other effect on one that does nothing.
 */
export async function closeConnections(gateway: Gateway, key: string): Promise<void> {
  const { session } = resultOf(await gateway.call("sessions.describe", { key }));
  if (!isJsonObject(session) || isBusy(session)) return;
  resultOf(await gateway.call("sessions.abort", { key, clearQueued: true }));
}

function isBusy({
  status,
  hasActiveRun,
  hasActiveSubagentRun,
  childSessions,
}: JsonObject): boolean {
  if (status === "running" || hasActiveRun === true || hasActiveSubagentRun === true) return true;
  // Agents that it has started would be stopped with it.
  return Array.isArray(childSessions) && childSessions.length > 0;
}

/** The settings that give a session its servers: which servers are on, and which tools of a server are off. */
interface Switches {
  servers: JsonObject;
  denied: JsonObject;
}

/** Compares and sets. `edit` returns undefined if there is nothing to change. */
async function change(
  gateway: Gateway,
  key: string,
  missing: "make" | "leave",
  edit: (now: Switches) => Switches | undefined,
): Promise<string | undefined> {
  for (let attempt = 1; ; attempt += 1) {
    // oxlint-disable-next-line no-await-in-loop -- each attempt starts from what is there now
    const session = await findSession(gateway, key);
    // A patch would make the session.
    if (session === undefined && missing === "leave") return undefined;
    const { mcpServers, mcpToolsDeny, ...others } = session?.overrides ?? {};
    const next = edit({ servers: objectIn(mcpServers), denied: objectIn(mcpToolsDeny) });
    if (next === undefined) return session?.key;
    const overrides = {
      ...others,
      ...(Object.keys(next.servers).length > 0 && { mcpServers: next.servers }),
      ...(Object.keys(next.denied).length > 0 && { mcpToolsDeny: next.denied }),
    };
    // oxlint-disable-next-line no-await-in-loop -- as above
    const answer = await gateway.call("sessions.patch", {
      key: session?.key ?? key,
      toolOverrides: Object.keys(overrides).length > 0 ? overrides : null,
      expectedToolOverrides: session?.overrides ?? null,
    });
    if (answer.kind === "refused" && answer.reason === "session-changed" && attempt < ATTEMPTS) {
      continue;
    }
    const full = valueIn(resultOf(answer), ["key"]);
    return typeof full === "string" ? full : key;
  }
}

function resultOf(answer: GatewayAnswer): JsonObject {
  if (answer.kind === "refused") throw answer.error;
  return answer.result;
}
