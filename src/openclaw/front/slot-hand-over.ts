// How the board of a session reaches OpenClaw, which takes no `mcpServers`: the session gets a slot of OpenClaw's
// configuration for itself, and the board is served at the address of the slot.
//
// Whoever listens on a slot's port has the slot: two fronts cannot, and a crash frees it. The record of a slot names the
// session that has it switched on, or had it last. A front that finds one switched on has taken over from a front that
// crashed, and switches the slot off for that session before it serves anything there: otherwise the old session would reach
// the new one's board.
//
// OpenClaw ends its MCP session at a slot long after the slot was switched off, and loses a prompt if nobody answers. So
// OpenClaw is asked to end it before the port is given up; while it does not, the port stays open. A session gets the slot
// that it had last, where its next front answers what the one before could not.

import { RequestError } from "@agentclientprotocol/sdk";
import type { SessionEndpoint } from "../../serve/endpoint/session-endpoint.ts";
import type { FixedAddress } from "../../serve/endpoint/session-endpoints.ts";
import { PlugboardError } from "../../core/types/errors.ts";
import { isJsonObject, type JsonObject, objectIn, valueIn } from "../../core/types/json.ts";
import type { Logger } from "../../core/types/logger.ts";
import type { GatewayClient } from "../gateway-client.ts";
import { closeConnections, findLabel, findSession, switchOff, switchOn } from "../session-slot.ts";
import {
  readSlotRecord,
  recordFile,
  readSlots,
  type Slot,
  slotPath,
  type SlotRecord,
  slotUrl,
  writeSlotRecord,
} from "../slots.ts";
import { type Clock, type Timer, within } from "../../util/clock.ts";
import { deferred } from "../../util/deferred.ts";
import { errorCode } from "../../util/error-code.ts";
import { errorMessage } from "../../util/error-message.ts";
import type { HandOver, HandOverRequest, Prepared } from "../../agent/front/hand-over.ts";

export interface SlotHandOverOptions {
  endpoints: {
    reserve(fixed: FixedAddress): Promise<SessionEndpoint>;
    close(): Promise<void>;
  };
  gateway: GatewayClient;
  /** Plugboard's own directory, with the slots in it. */
  home: string;
  /** The words behind `openclaw acp`: a session may be named there for all. */
  args: readonly string[];
  newId: () => string;
  clock: Clock;
  logger: Logger;
}

/** How long the end of a session waits for the gateway. The record is there for the rest. */
const RELEASE_MS = 5000;

/** OpenClaw connects to the servers of a session in its first turn, which takes long on a busy machine. */
const CONNECT_MS = 60_000;

/** How often the gateway is looked for while a session has a slot, and when it is given up: it may be restarting. */
const LOOK_MS = 15_000;
const GONE_MS = 60_000;

const SETUP = "plugboard openclaw setup";
const NOT_CONNECTED =
  "because OpenClaw does not know the slot of this session, or could not reach it. See the log of its gateway; " +
  `'${SETUP}' shows what is missing. If you have only sent commands so far, such as /status, all is well.`;

/** Slots of sessions that have ended, by name: OpenClaw has not ended its MCP session there. */
type Held = Map<string, SessionEndpoint>;

type Context = SlotHandOverOptions & { held: Held };

export function slotHandOver(options: SlotHandOverOptions): HandOver {
  const context: Context = { ...options, held: new Map() };
  return {
    lateConnection: { withinMs: CONNECT_MS, hint: NOT_CONNECTED },
    prepare: (request) => SlotSession.prepare(request, context),
    close: async () => {
      await options.endpoints.close();
      await options.gateway.close();
    },
  };
}

/** A slot in the hands of one session. */
class SlotSession implements Prepared {
  readonly endpoint: SessionEndpoint;
  readonly #options: Context;
  readonly #claim: Claim;
  readonly #params: JsonObject;
  /** OpenClaw's own key of the session; unknown for a new one until OpenClaw has given it an id. */
  #key: string | undefined;
  #switched: Promise<void> | undefined;
  /** The key in the slot's record, which is there as long as the slot may be on. */
  #recorded: string | undefined;
  #released: Promise<void> | undefined;
  readonly #gone = deferred();
  #look: Timer | undefined;

  static async prepare(
    { kind, params, sessionId }: HandOverRequest,
    options: Context,
  ): Promise<SlotSession> {
    // Whatever is wrong with the gateway is known before a slot is taken and servers are started.
    await options.gateway.hello();
    const named = await namedKey(params, options);
    const key = named ?? (await keyOf(kind, sessionId, options.gateway));
    return new SlotSession(await claimSlot(key, options), params, key, options);
  }

  private constructor(claim: Claim, params: JsonObject, key: string | undefined, options: Context) {
    // The port stays ours until the slot is off, whoever closes the endpoint first.
    this.endpoint = closedBy(claim.endpoint, () => this.release());
    this.#claim = claim;
    this.#params = params;
    this.#key = key;
    this.#options = options;
  }

  async params(): Promise<JsonObject> {
    if (this.#key !== undefined) await this.#switchOn(this.#key);
    const { _meta: given, ...params } = this.#params;
    const meta = {
      ...(isJsonObject(given) && given),
      ...(this.#key !== undefined && { sessionKey: this.#key }),
    };
    return { ...params, mcpServers: [], ...(Object.keys(meta).length > 0 && { _meta: meta }) };
  }

  async opened(sessionId: string): Promise<void> {
    await this.#switchOn(this.#key ?? ownKey(sessionId));
  }

  get gone(): Promise<void> {
    return this.#gone.promise;
  }

  release(): Promise<void> {
    this.#look?.cancel();
    return (this.#released ??= this.#release());
  }

  /** Nobody calls the tools of a session whose gateway is gone. */
  #watchGateway(seen = this.#options.clock.monotonic()): void {
    const { clock, gateway } = this.#options;
    this.#look = clock.later(LOOK_MS, () => {
      void gateway.isThere().then((isThere) => {
        const now = clock.monotonic();
        if (this.#released !== undefined) return;
        if (!isThere && now - seen >= GONE_MS) this.#gone.resolve();
        else this.#watchGateway(isThere ? now : seen);
      });
    });
  }

  /** Idempotent, unless it has failed. */
  async #switchOn(key: string): Promise<void> {
    const switched = (this.#switched ??= this.#switch(key));
    try {
      await switched;
    } catch (error) {
      if (this.#switched === switched) this.#switched = undefined;
      throw error;
    }
  }

  async #switch(key: string): Promise<void> {
    if (this.#released !== undefined) {
      throw new PlugboardError("CONNECTION_CLOSED", "the session was closed before it was open");
    }
    const { gateway, home, clock, newId } = this.#options;
    const { slot } = this.#claim;
    this.#key = key;
    this.#recorded = key;
    // Before it is on, so that a crash in between leaves nothing that nobody knows of.
    await writeSlotRecord(home, slot, await recordOf(key, true, { gateway, clock }));
    this.#key = await switchOn(gateway, key, slot.name, `session-${newId()}`);
    this.#watchGateway();
  }

  async #release(): Promise<void> {
    const { clock, logger, held } = this.#options;
    const { slot, endpoint } = this.#claim;
    await endpoint.end();
    const late = new AbortController();
    const clearing = this.#clear(late.signal).then(
      () => "cleared",
      (error: unknown) => errorMessage(error),
    );
    const outcome = (await within(clock, RELEASE_MS, clearing)) ?? "the gateway does not answer";
    if (outcome !== "cleared") {
      late.abort();
      const message = "a slot of OpenClaw stays switched on; whoever uses it next switches it off";
      logger.warn(message, { slot: slot.name, session: this.#key, reason: outcome });
    } else if (endpoint.isHeld) {
      held.set(slot.name, endpoint);
      void endpoint.letGo.then(() => giveUp(slot, held, endpoint));
      return;
    }
    // Only now may another front have the port.
    await endpoint.close();
  }

  async #clear(late: AbortSignal): Promise<void> {
    // Whether it is on is certain only when the gateway has answered.
    await this.#switched?.catch(() => {});
    if (this.#recorded === undefined) return;
    const key = this.#key ?? this.#recorded;
    await clearSlot(this.#claim, key, this.#options, late);
    if (!this.#claim.endpoint.isHeld || late.aborted) return;
    await closeConnections(this.#options.gateway, key).catch((error: unknown) => {
      const { name } = this.#claim.slot;
      this.#options.logger.debug("OpenClaw keeps its connection to a slot", { slot: name, error });
    });
  }
}

/** Frees the slot of a session that has ended. */
async function giveUp({ name }: Slot, held: Held, endpoint = held.get(name)): Promise<void> {
  if (endpoint === undefined) return;
  if (held.get(name) === endpoint) held.delete(name);
  await endpoint.close();
}

function closedBy(endpoint: SessionEndpoint, close: () => Promise<void>): SessionEndpoint {
  return {
    close,
    connected: endpoint.connected,
    get http() {
      return endpoint.http;
    },
    get stdio() {
      return endpoint.stdio;
    },
    get isConnected() {
      return endpoint.isConnected;
    },
    get isHeld() {
      return endpoint.isHeld;
    },
    letGo: endpoint.letGo,
    end: () => endpoint.end(),
    serve: (...args) => endpoint.serve(...args),
    sayWaiting: (...args) => endpoint.sayWaiting(...args),
  };
}

interface Claim {
  slot: Slot;
  /** The names of all slots. */
  names: readonly string[];
  endpoint: SessionEndpoint;
}

/** `key` is that of the session, if it has one already. */
async function claimSlot(key: string | undefined, options: Context): Promise<Claim> {
  const { home, gateway } = options;
  const file = await readSlots(home);
  const slots = file?.slots ?? [];
  if (slots.length === 0) {
    throw new PlugboardError("CONFIG_INVALID", "no slots are set up in OpenClaw's configuration", {
      hint: `set them up with '${SETUP}'`,
    });
  }
  const names = slots.map(({ name }) => name);
  const configured = await configuredServers(gateway);
  for (const slot of await inOrder(slots, key, options)) {
    // oxlint-disable-next-line no-await-in-loop -- the first slot that is free
    const endpoint = await claimIfFree({ slot, names }, options);
    if (endpoint === undefined) continue;
    try {
      checkConfigured(slot, configured, gateway.url);
      return { slot, names, endpoint };
    } catch (error) {
      // oxlint-disable-next-line no-await-in-loop -- the last one
      await endpoint.close();
      throw error;
    }
  }
  const more = slots.length * 2;
  throw new PlugboardError(
    "SERVER_UNAVAILABLE",
    `all ${slots.length} slots of OpenClaw are in use, one for each open session`,
    { hint: `close a session, or set up more: '${SETUP} --slots ${more}'` },
  );
}

/**
 * The slot that the session had last, then those that nobody has had or that a crash has left on, then the one that was
 * used longest ago.
 */
async function inOrder(
  slots: readonly Slot[],
  key: string | undefined,
  { home, gateway }: Context,
): Promise<Slot[]> {
  const { id } = await gateway.hello();
  const rank = (record: SlotRecord | undefined): number => {
    if (record?.gateway === id && isSameKey(record.sessionKey, key)) return -1;
    return record?.isOn === false ? record.since + 1 : 0;
  };
  const ranked = slots.map(async (slot) => ({
    slot,
    rank: rank(await readSlotRecord(home, slot)),
  }));
  return (await Promise.all(ranked))
    .toSorted((one, other) => one.rank - other.rank)
    .map(({ slot }) => slot);
}

/** A record may have a key as it was before OpenClaw had put the agent before it. */
function isSameKey(recorded: string, key: string | undefined): boolean {
  return key === recorded || key?.endsWith(`:${recorded}`) === true;
}

/** Undefined if another session has it. */
async function claimIfFree(
  { slot, names }: Omit<Claim, "endpoint">,
  options: Context,
): Promise<SessionEndpoint | undefined> {
  await giveUp(slot, options.held);
  const endpoint = await reserve(slot, options);
  const stale = endpoint && (await readSlotRecord(options.home, slot));
  if (endpoint === undefined || stale?.isOn !== true) return endpoint;
  let isOurs = false;
  try {
    isOurs = stale.gateway === (await options.gateway.hello()).id;
    if (isOurs) await clearSlot({ slot, names }, stale.sessionKey, options);
  } finally {
    // What the old session has asked here meanwhile must not get an answer from the new one's board.
    await endpoint.close();
  }
  if (isOurs) return reserve(slot, options);
  // Another OpenClaw with the same slots, and only a front of that one can clear it.
  options.logger.warn(
    `the slot ${slot.name} is left to a session of another OpenClaw; if that one is gone, delete ${recordFile(options.home, slot)}`,
    { gateway: stale.gateway },
  );
  return undefined;
}

async function reserve(
  slot: Slot,
  { endpoints }: SlotHandOverOptions,
): Promise<SessionEndpoint | undefined> {
  try {
    return await endpoints.reserve({ port: slot.port, path: slotPath(slot), token: slot.token });
  } catch (error) {
    const code = error instanceof Error ? errorCode(error.cause) : undefined;
    if (code === "EADDRINUSE") return undefined;
    throw error;
  }
}

async function clearSlot(
  { slot, names }: Omit<Claim, "endpoint">,
  key: string,
  { gateway, home, clock }: SlotHandOverOptions,
  late?: AbortSignal,
): Promise<void> {
  await switchOff(gateway, key, slot.name, names);
  const record = await recordOf(key, false, { gateway, clock });
  // By then the record may be that of another front.
  if (late?.aborted !== true) await writeSlotRecord(home, slot, record);
}

async function recordOf(
  sessionKey: string,
  isOn: boolean,
  { gateway, clock }: Pick<SlotHandOverOptions, "gateway" | "clock">,
): Promise<SlotRecord> {
  const { id } = await gateway.hello();
  return { version: 1, sessionKey, gateway: id, since: clock.now(), isOn };
}

/** Undefined if the gateway does not say. */
async function configuredServers(gateway: GatewayClient): Promise<JsonObject | undefined> {
  const answer = await gateway.call("config.get", {});
  const config = answer.kind === "result" ? answer.result["config"] : undefined;
  return isJsonObject(config) ? objectIn(valueIn(config, ["mcp", "servers"])) : undefined;
}

/** A slot that OpenClaw does not know would be a session without tools. */
function checkConfigured(slot: Slot, servers: JsonObject | undefined, gateway: string): void {
  if (servers === undefined || valueIn(servers, [slot.name, "url"]) === slotUrl(slot)) return;
  throw new PlugboardError(
    "CONFIG_INVALID",
    `the OpenClaw at ${gateway} has no server '${slot.name}' at ${slotUrl(slot)} in its configuration`,
    { hint: `write the slots into it with '${SETUP}'` },
  );
}

/** The session that the client, or the command line of the agent, has named. */
async function namedKey(
  params: JsonObject,
  { gateway, args }: SlotHandOverOptions,
): Promise<string | undefined> {
  const given = (key: string): string | undefined => {
    const value = valueIn(params, ["_meta", key]);
    return typeof value === "string" && value !== "" ? value : undefined;
  };
  const label = given("sessionLabel");
  if (label !== undefined) return findLabel(gateway, label);
  const key = given("sessionKey");
  if (key !== undefined) return key;
  const labelForAll = optionIn(args, "--session-label");
  if (labelForAll !== undefined) return findLabel(gateway, labelForAll);
  return optionIn(args, "--session");
}

function optionIn(args: readonly string[], name: string): string | undefined {
  const index = args.indexOf(name);
  if (index !== -1) return args[index + 1];
  return args.find((arg) => arg.startsWith(`${name}=`))?.slice(name.length + 1);
}

/** The key that OpenClaw gives to a session of this id. */
function ownKey(sessionId: string): string {
  return `acp-bridge:${sessionId}`;
}

const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** The key of a session that there is already. A list of OpenClaw's sessions has the keys themselves as ids. */
async function keyOf(
  kind: HandOverRequest["kind"],
  sessionId: string | undefined,
  gateway: GatewayClient,
): Promise<string | undefined> {
  if (sessionId === undefined || kind === "new" || kind === "fork") return undefined;
  const keys = UUID.test(sessionId) ? [ownKey(sessionId), sessionId] : [sessionId];
  const [first = sessionId] = keys;
  for (const key of keys) {
    // oxlint-disable-next-line no-await-in-loop -- the second only if the first is none
    const session = await findSession(gateway, key);
    if (session !== undefined) return session.key;
  }
  // OpenClaw loads a session that nobody has used yet, but resumes none.
  if (kind === "load" && UUID.test(sessionId)) return first;
  throw RequestError.sessionNotFound(sessionId);
}
