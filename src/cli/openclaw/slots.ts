// Which slots OpenClaw gets: as many as are asked for, each with a free port and a token of its own. What is there stays as
// it is, because sessions may use it.

import type { randomBytes } from "node:crypto";
import { createServer } from "node:net";
import { PlugboardError } from "../../core/types/errors.ts";
import { slotName } from "../../openclaw/config-entries.ts";
import type { Slot, SlotFile } from "../../openclaw/slots.ts";

export interface SlotWish {
  count?: number;
  basePort?: number;
}

/** The slots that exist: Plugboard's own list, and the slots in OpenClaw's file. */
export interface KnownSlots {
  file: SlotFile | undefined;
  configured: readonly Slot[];
}

const DEFAULT_COUNT = 8;
const DEFAULT_BASE_PORT = 7600;
/** How far apart the ranges are that are tried, and how many. */
const RANGE = 100;
const MOST_RANGES = 20;
const TOKEN_BYTES = 32;
/**
 * The form of a token that Plugboard has made. Others on the machine could guess a token that somebody has typed, or
 * copied from an example.
 */
const TOKEN = /^[\w-]{43}$/;
const LAST_PORT = 65_535;

/** Rejects with INVALID_ARGUMENTS where a port is taken. */
export async function chooseSlots(
  { count, basePort }: SlotWish,
  { file, configured }: KnownSlots,
  random: typeof randomBytes,
): Promise<SlotFile> {
  const known = new Map([...configured, ...(file?.slots ?? [])].map((slot) => [slot.name, slot]));
  const size = count ?? (known.size || DEFAULT_COUNT);
  const first = known.get(slotName(1));
  const base = basePort ?? file?.basePort ?? (first === undefined ? undefined : first.port - 1);
  const chosen = base ?? (await freeBase(size));
  const slots = Array.from({ length: size }, (_, index): Slot => {
    const name = slotName(index + 1);
    const before = known.get(name)?.token ?? "";
    const token = TOKEN.test(before) ? before : random(TOKEN_BYTES).toString("base64url");
    return { name, port: chosen + index + 1, token };
  });
  const added = slots.filter(({ name, port }) => known.get(name)?.port !== port);
  for (const { port } of added) if (!(await isFree(port))) throw portTaken(port, size);
  return { version: 1, basePort: chosen, slots, ...(file?.gateway && { gateway: file.gateway }) };
}

/** The slots that a session uses now: the front of that session listens on the port of its slot. */
export async function slotsInUse(slots: readonly Slot[]): Promise<Slot[]> {
  const free = await Promise.all(slots.map(({ port }) => isFree(port)));
  return slots.filter((_, index) => free[index] === false);
}

async function freeBase(size: number): Promise<number> {
  for (let range = 0; range < MOST_RANGES; range++) {
    const base = DEFAULT_BASE_PORT + range * RANGE;
    const ports = Array.from({ length: size }, (_, index) => base + index + 1);
    if ((await Promise.all(ports.map(isFree))).every(Boolean)) return base;
  }
  throw portTaken(DEFAULT_BASE_PORT + 1, size);
}

function isFree(port: number): Promise<boolean> {
  if (port > LAST_PORT) return Promise.resolve(false);
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen({ port, host: "127.0.0.1", exclusive: true }, () =>
      server.close(() => resolve(true)),
    );
  });
}

function portTaken(port: number, size: number): PlugboardError {
  const message =
    port > LAST_PORT
      ? `there is no port ${port}, which slot ${size} would have`
      : `port ${port}, which a slot would have, is taken`;
  return new PlugboardError("INVALID_ARGUMENTS", message, {
    hint: `name a port followed by ${size} free ones: --base-port <port>`,
  });
}
