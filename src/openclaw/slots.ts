// Slots: the disabled `mcp.servers` entries that `plugboard openclaw setup` writes into OpenClaw's configuration, and
// which session uses which of them. Both are files below `$PLUGBOARD_HOME/openclaw`.

import { join } from "node:path";
import { isJsonObject } from "../core/types/json.ts";
import { PlugboardError } from "../core/types/errors.ts";
import { readJsonFile, writeJsonFile } from "../core/state/json-file.ts";
import { pathExists } from "../util/path-exists.ts";

export interface Slot {
  /** The key in `mcp.servers`. */
  name: string;
  port: number;
  /** What OpenClaw sends as `Authorization: Bearer`. */
  token: string;
}

export interface SlotFile {
  version: 1;
  /** Slot k listens on this port + k. */
  basePort: number;
  slots: Slot[];
  gateway?: { url?: string };
}

/** The session that has a slot switched on, or had it last: it gets the same one again. */
export interface SlotRecord {
  version: 1;
  /** OpenClaw's key of the session. */
  sessionKey: string;
  /** Whose session it is, if there are several OpenClaws with the same slots: `GatewayHello.id`. */
  gateway: string;
  /** Milliseconds since the epoch. */
  since: number;
  /** False if the slot was switched off. A front that crashes leaves it on, and the next one clears it. */
  isOn: boolean;
}

/** The entry for the simple route, where all agents share one gateway. A session with a slot switches it off. */
export const SHARED_ENTRY = "plugboard";

const MOST_BYTES = 1024 * 1024;
const MOST_SLOTS = 1000;
/** OpenClaw cuts the names of servers after 30 characters. */
const NAME = /^[a-z][a-z0-9-]{0,29}$/;

export function slotsFile(home: string): string {
  return join(home, "openclaw", "slots.json");
}

/** Where a slot's endpoint is on its port. */
export function slotPath({ name }: Pick<Slot, "name">): string {
  return `/mcp/${name}`;
}

export function slotUrl(slot: Pick<Slot, "name" | "port">): string {
  return `http://127.0.0.1:${slot.port}${slotPath(slot)}`;
}

/** Undefined if there is no file. Rejects with CONFIG_INVALID if it is not one that `setup` has written. */
export async function readSlots(home: string): Promise<SlotFile | undefined> {
  const path = slotsFile(home);
  const found = readSlotFile(await readJsonFile(path, MOST_BYTES));
  if (found !== undefined) return found;
  if (!(await pathExists(path))) return undefined;
  throw new PlugboardError("CONFIG_INVALID", `${path} is not a list of slots`, {
    hint: "write it again with 'plugboard openclaw setup'",
  });
}

export async function writeSlots(home: string, file: SlotFile): Promise<void> {
  await writeJsonFile(slotsFile(home), file);
}

export async function readSlotRecord(home: string, slot: Slot): Promise<SlotRecord | undefined> {
  const value = await readJsonFile(recordFile(home, slot), MOST_BYTES);
  if (!isJsonObject(value) || value["version"] !== 1) return undefined;
  const { sessionKey, gateway, since, isOn } = value;
  if (typeof sessionKey !== "string" || sessionKey === "") return undefined;
  if (typeof gateway !== "string") return undefined;
  return {
    version: 1,
    sessionKey,
    gateway,
    since: typeof since === "number" ? since : 0,
    isOn: isOn !== false,
  };
}

export async function writeSlotRecord(home: string, slot: Slot, record: SlotRecord): Promise<void> {
  await writeJsonFile(recordFile(home, slot), record);
}

/** Where the record of a slot is. */
export function recordFile(home: string, { name }: Slot): string {
  return join(home, "openclaw", "slots", `${name}.json`);
}

function readSlotFile(value: unknown): SlotFile | undefined {
  if (!isJsonObject(value) || value["version"] !== 1) return undefined;
  const { basePort, slots, gateway } = value;
  if (!isPort(basePort) || !Array.isArray(slots) || slots.length > MOST_SLOTS) return undefined;
  const read = slots.flatMap((slot: unknown) => readSlot(slot) ?? []);
  if (read.length !== slots.length || !areUnique(read)) return undefined;
  const url = isJsonObject(gateway) ? gateway["url"] : undefined;
  return {
    version: 1,
    basePort,
    slots: read,
    ...(typeof url === "string" && { gateway: { url } }),
  };
}

function readSlot(value: unknown): Slot | undefined {
  if (!isJsonObject(value)) return undefined;
  const { name, port, token } = value;
  if (typeof name !== "string" || !NAME.test(name) || name === SHARED_ENTRY) return undefined;
  if (!isPort(port) || typeof token !== "string" || token === "") return undefined;
  return { name, port, token };
}

function areUnique(slots: readonly Slot[]): boolean {
  return (["name", "port"] as const).every(
    (key) => new Set(slots.map((slot) => slot[key])).size === slots.length,
  );
}

function isPort(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value > 0 && value < 65_536;
}
