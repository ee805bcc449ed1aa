// Keeps pins in one file per server definition, which several processes may change, or in memory only. A second,
// small file beside them says that a definition was pinned, so that pins that are gone are missed.

import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { isJsonObject } from "../../model/json.ts";
import { type Logger, silentLogger } from "../../model/logger.ts";
import type {
  LostPins,
  Pin,
  PinnedServer,
  PinnedTool,
  SeenValue,
  ServerPins,
} from "../../model/pin.ts";
import { type Redact, toolWithoutSecrets } from "../../model/without-secrets.ts";
import { readJsonFile, writeJsonFile } from "../../state/json-file.ts";
import { withLock } from "../../state/lock.ts";
import { type Clock, systemClock } from "../../util/clock.ts";
import { hasErrorCode } from "../../util/error-code.ts";
import { makeDirectory } from "../../util/make-directory.ts";
import { textHash, toolHash } from "./hash.ts";
import { reasonOf } from "../../util/system-problem.ts";

const FORMAT = 1;
/** Holds the longest list of tools twice, with every character escaped. */
const MAX_BYTES = 256 * 1024 * 1024;

const MAX_RECORD_BYTES = 64 * 1024;

const SUFFIX = ".json";
/** How long a closing board waits for another process to release the file. */
const PATIENCE_MS = 5000;

/** What `ChangePins` returns to leave everything as it is, also pins that are lost. */
export const UNCHANGED = Symbol("unchanged");

/**
 * Returning undefined removes the pins; returning the same object leaves them as they are. `lost` is set if there
 * were pins that cannot be had any more.
 */
export type ChangePins = (
  pins: ServerPins | undefined,
  lost: LostPins | undefined,
) => ServerPins | undefined | typeof UNCHANGED;

export type StoredPins =
  | { kind: "none" }
  | { kind: "pinned"; pins: ServerPins }
  | { kind: "lost"; lost: LostPins };

export interface PinStoreOptions {
  /** Without it, pins live as long as the store. */
  stateDir?: string;
  /** Removes secrets from pins that an earlier version kept with them. Without it, such pins stay as they are. */
  redact?: Redact;
  clock?: Clock;
  logger?: Logger;
}

export class PinStore {
  readonly #directory: string | undefined;
  /** One file for each definition that was pinned. It is not in the directory of the pins: that may be deleted whole. */
  readonly #known: string;
  readonly #redact: Redact | undefined;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #memory = new Map<string, ServerPins>();

  constructor({
    stateDir,
    redact,
    clock = systemClock,
    logger = silentLogger,
  }: PinStoreOptions = {}) {
    this.#redact = redact;
    this.#directory = stateDir === undefined ? undefined : join(stateDir, "pins");
    this.#known = join(stateDir ?? "", "pinned");
    this.#clock = clock;
    this.#logger = logger;
  }

  /** The pins outlive this process, and other processes can change them. */
  get isPersistent(): boolean {
    return this.#directory !== undefined;
  }

  async read(id: PinnedServer): Promise<StoredPins> {
    const name = fileName(id);
    if (this.#directory === undefined) return asStored(this.#memory.get(name));
    const stored = await this.#readStored(this.#directory, name, id);
    if (stored.kind !== "pinned") return stored;
    // Older versions did not keep a record of what was pinned.
    if ((await this.#record(name)) === "absent") {
      await this.#writeRecord(name, id).catch((error: unknown) =>
        this.#logger.warn("pins could not be recorded", { reason: reasonOf(error) }),
      );
    }
    const clean = withoutSecrets(stored.pins, this.#redact);
    // If they cannot be written now, they are with the next change.
    if (clean !== stored.pins) await this.update(id, (pins) => pins).catch(() => undefined);
    return { kind: "pinned", pins: clean };
  }

  /** Changes what is stored at that moment. Resolves to what is stored afterwards; rejects if it cannot be written. */
  async update(id: PinnedServer, change: ChangePins): Promise<ServerPins | undefined> {
    const name = fileName(id);
    if (this.#directory === undefined) return this.#updateMemory(name, change);
    const directory = this.#directory;
    const path = join(directory, name);
    await makeDirectory(directory);
    const task = async (): Promise<ServerPins | undefined> => {
      const stored = await this.#readStored(directory, name, id);
      const before = stored.kind === "pinned" ? stored.pins : undefined;
      const clean = before && withoutSecrets(before, this.#redact);
      const after = change(clean, stored.kind === "lost" ? stored.lost : undefined);
      if (after === UNCHANGED) return clean;
      if (after === undefined) {
        // In this order: pins without a record are only older ones, a record without pins means that they are lost.
        await rm(join(this.#known, name), { force: true });
        await rm(path, { force: true });
      } else if (after !== before) {
        await writeJsonFile(path, toFile(after));
        if (before === undefined) await this.#writeRecord(name, id);
      }
      return after;
    };
    return withLock(`${path}.lock`, this.#clock, task, PATIENCE_MS);
  }

  /** Ordered by name; several definitions of one name follow each other. */
  async list(): Promise<ServerPins[]> {
    const all = this.#directory === undefined ? [...this.#memory.values()] : await this.#readAll();
    return all.sort((a, b) => compareText(a.server, b.server) || compareText(a.key, b.key));
  }

  /** The definitions that were pinned and whose pins are missing or cannot be read. */
  async lost(): Promise<LostPins[]> {
    const directory = this.#directory;
    if (directory === undefined) return [];
    const records = await Promise.all(
      (await jsonFiles(this.#known)).map(async (name) => {
        const id = await readJsonFile(join(this.#known, name), MAX_RECORD_BYTES);
        return isPinnedServer(id) && fileName(id) === name ? id : undefined;
      }),
    );
    const known = records.filter((each) => each !== undefined);
    const stored = await Promise.all(
      known.map((id) => this.#readStored(directory, fileName(id), id)),
    );
    return stored
      .flatMap((each) => (each.kind === "lost" ? [each.lost] : []))
      .sort((a, b) => compareText(a.server, b.server) || compareText(a.key, b.key));
  }

  #updateMemory(name: string, change: ChangePins): ServerPins | undefined {
    const before = this.#memory.get(name);
    const after = change(before, undefined);
    if (after === UNCHANGED) return before;
    if (after === undefined) this.#memory.delete(name);
    else this.#memory.set(name, after);
    return after;
  }

  async #readAll(): Promise<ServerPins[]> {
    const directory = this.#directory ?? "";
    const names = await jsonFiles(directory);
    const pins = await Promise.all(names.map((name) => readPins(join(directory, name))));
    return pins.filter((each) => each !== undefined);
  }

  async #readStored(directory: string, name: string, id: PinnedServer): Promise<StoredPins> {
    const path = join(directory, name);
    const pins = await readPins(path);
    if (pins !== undefined) return asStored(pins);
    const lost = (why: LostPins["why"]): StoredPins => ({
      kind: "lost",
      lost: { server: id.server, key: id.key, file: path, why },
    });
    if ((await presence(path)) !== "absent") return lost("unreadable");
    return (await this.#record(name)) === "absent" ? { kind: "none" } : lost("missing");
  }

  #record(name: string): Promise<"there" | "absent"> {
    return presence(join(this.#known, name));
  }

  async #writeRecord(name: string, { server, key }: PinnedServer): Promise<void> {
    await writeJsonFile(join(this.#known, name), { server, key });
  }
}

function asStored(pins: ServerPins | undefined): StoredPins {
  return pins === undefined ? { kind: "none" } : { kind: "pinned", pins };
}

async function readPins(path: string): Promise<ServerPins | undefined> {
  return fromFile(await readJsonFile(path, MAX_BYTES));
}

async function jsonFiles(directory: string): Promise<string[]> {
  const names = await readdir(directory).catch(() => []);
  return names.filter((name) => name.endsWith(SUFFIX));
}

/** A file that cannot be looked at counts as there. */
function presence(path: string): Promise<"there" | "absent"> {
  return stat(path).then(
    () => "there",
    (error: unknown) => (hasErrorCode(error, "ENOENT", "ENOTDIR") ? "absent" : "there"),
  );
}

function isPinnedServer(value: unknown): value is PinnedServer {
  return (
    isJsonObject(value) && typeof value["server"] === "string" && typeof value["key"] === "string"
  );
}

function fileName({ server, key }: PinnedServer): string {
  const readable = server.replace(/[^A-Za-z0-9_-]+/g, "_").slice(0, 40);
  return `${readable}-${textHash(JSON.stringify([server, key])).slice(0, 16)}${SUFFIX}`;
}

function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** The same pins if they have no secrets. A tool that is left out when it is listed has no pin either. */
function withoutSecrets(given: ServerPins, redact: Redact | undefined): ServerPins {
  if (redact === undefined) return given;
  const { mayHoldSecrets = false, ...pins } = given;
  let isChanged = mayHoldSecrets;
  const clean = <Value>(
    pin: Pin<Value>,
    cleanValue: (value: Value) => Value,
    hashOf: (value: Value) => string,
  ): Pin<Value> => {
    const seen = (sight: SeenValue<Value>): SeenValue<Value> => {
      const value = cleanValue(sight.value);
      if (value === sight.value) return sight;
      isChanged = true;
      return { ...sight, value, hash: hashOf(value) };
    };
    switch (pin.kind) {
      case "pinned":
        return { ...pin, approved: seen(pin.approved) };
      case "changed":
        return { ...pin, approved: seen(pin.approved), pending: seen(pin.pending) };
      case "new":
        return { ...pin, pending: seen(pin.pending) };
    }
  };
  const leftOut = new Set<string>();
  const tools = new Map<string, Pin<PinnedTool>>();
  for (const [name, pin] of pins.tools) {
    const cleanTool = (tool: PinnedTool): PinnedTool => {
      const told = toolWithoutSecrets(tool, redact);
      if (typeof told !== "string") return told;
      leftOut.add(name);
      return tool;
    };
    const cleaned = clean(pin, cleanTool, toolHash);
    if (!leftOut.has(name)) tools.set(name, cleaned);
  }
  const instructions = clean(pins.instructions, redact, textHash);
  return isChanged || leftOut.size > 0 ? { ...pins, instructions, tools } : given;
}

type Check<Value> = (value: unknown) => value is Value;

function toFile(pins: ServerPins): object {
  const { server, key, seenWith, instructions, tools, mayHoldSecrets = false } = pins;
  return {
    format: FORMAT,
    server,
    key,
    redacted: !mayHoldSecrets,
    seenWith,
    instructions,
    // A list: the server chooses the names, and an object could not hold a tool called __proto__.
    tools: [...tools],
  };
}

function fromFile(content: unknown): ServerPins | undefined {
  if (!isJsonObject(content) || content["format"] !== FORMAT) return undefined;
  const { server, key, seenWith, instructions, tools } = content;
  if (typeof server !== "string" || typeof key !== "string") return undefined;
  if (!isPin(instructions, isText) || !Array.isArray(tools) || !tools.every(isNamedPin)) {
    return undefined;
  }
  return {
    server,
    key,
    ...(content["redacted"] !== true && { mayHoldSecrets: true }),
    ...(Array.isArray(seenWith) && { seenWith: seenWith.filter(isText) }),
    instructions,
    tools: new Map(tools),
  };
}

function isNamedPin(entry: unknown): entry is [string, Pin<PinnedTool>] {
  return Array.isArray(entry) && typeof entry[0] === "string" && isPin(entry[1], isTool);
}

function isPin<Value>(pin: unknown, isValue: Check<Value>): pin is Pin<Value> {
  if (!isJsonObject(pin) || typeof pin["firstSeen"] !== "number") return false;
  const { kind, approved, pending } = pin;
  switch (kind) {
    case "pinned":
      return isSeenValue(approved, isValue);
    case "changed":
      return isSeenValue(approved, isValue) && isSeenValue(pending, isValue);
    case "new":
      return isSeenValue(pending, isValue);
    default:
      return false;
  }
}

function isSeenValue<Value>(sight: unknown, isValue: Check<Value>): sight is SeenValue<Value> {
  return (
    isJsonObject(sight) &&
    typeof sight["hash"] === "string" &&
    typeof sight["seen"] === "number" &&
    isValue(sight["value"])
  );
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function isTool(value: unknown): value is PinnedTool {
  return (
    isJsonObject(value) && typeof value["name"] === "string" && isJsonObject(value["inputSchema"])
  );
}
