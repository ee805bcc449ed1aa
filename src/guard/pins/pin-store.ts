// Keeps pins in one file per server definition, which several processes may change, or in memory only.

import { readdir, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isJsonObject } from "../../model/json.ts";
import { type Logger, silentLogger } from "../../model/logger.ts";
import type { Pin, PinnedServer, PinnedTool, ServerPins, SeenValue } from "../../model/pin.ts";
import { type Redact, toolWithoutSecrets } from "../../model/without-secrets.ts";
import { readJsonFile, writeJsonFile } from "../../state/json-file.ts";
import { withLock } from "../../state/lock.ts";
import { type Clock, systemClock } from "../../util/clock.ts";
import { makeDirectory } from "../../util/make-directory.ts";
import { textHash, toolHash } from "./hash.ts";

const FORMAT = 1;
/** Holds the longest list of tools twice, with every character escaped. */
const MAX_BYTES = 256 * 1024 * 1024;

const SUFFIX = ".json";
/** How long a closing board waits for another process to release the file. */
const PATIENCE_MS = 5000;

/** Returning undefined removes the pins; returning the same object leaves them as they are. */
export type ChangePins = (pins: ServerPins | undefined) => ServerPins | undefined;

export interface PinStoreOptions {
  /** Without it, pins live as long as the store. */
  stateDir?: string;
  /** Removes secrets from pins that an earlier version kept with them. */
  redact?: Redact;
  clock?: Clock;
  logger?: Logger;
}

export class PinStore {
  readonly #directory: string | undefined;
  readonly #redact: Redact;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #memory = new Map<string, ServerPins>();

  constructor({
    stateDir,
    redact = (text) => text,
    clock = systemClock,
    logger = silentLogger,
  }: PinStoreOptions = {}) {
    this.#redact = redact;
    this.#directory = stateDir === undefined ? undefined : join(stateDir, "pins");
    this.#clock = clock;
    this.#logger = logger;
  }

  /** The pins outlive this process, and other processes can change them. */
  get isPersistent(): boolean {
    return this.#directory !== undefined;
  }

  async read(id: PinnedServer): Promise<ServerPins | undefined> {
    if (this.#directory === undefined) return this.#memory.get(fileName(id));
    const pins = await this.#readFile(join(this.#directory, fileName(id)));
    const clean = pins && withoutSecrets(pins, this.#redact);
    // If they cannot be written now, they are with the next change.
    if (clean !== pins) await this.update(id, (stored) => stored).catch(() => undefined);
    return clean;
  }

  /** Changes what is stored at that moment. Resolves to what is stored afterwards; rejects if it cannot be written. */
  async update(id: PinnedServer, change: ChangePins): Promise<ServerPins | undefined> {
    if (this.#directory === undefined) return this.#updateMemory(fileName(id), change);
    const path = join(this.#directory, fileName(id));
    await makeDirectory(dirname(path));
    const task = async (): Promise<ServerPins | undefined> => {
      const before = await this.#readFile(path);
      const after = change(before && withoutSecrets(before, this.#redact));
      if (after === undefined) await rm(path, { force: true });
      else if (after !== before) await writeJsonFile(path, toFile(after));
      return after;
    };
    return withLock(`${path}.lock`, this.#clock, task, PATIENCE_MS);
  }

  /** Ordered by name; several definitions of one name follow each other. */
  async list(): Promise<ServerPins[]> {
    const all = this.#directory === undefined ? [...this.#memory.values()] : await this.#readAll();
    return all.sort((a, b) => compareText(a.server, b.server) || compareText(a.key, b.key));
  }

  #updateMemory(name: string, change: ChangePins): ServerPins | undefined {
    const after = change(this.#memory.get(name));
    if (after === undefined) this.#memory.delete(name);
    else this.#memory.set(name, after);
    return after;
  }

  async #readAll(): Promise<ServerPins[]> {
    const directory = this.#directory ?? "";
    const names = await readdir(directory).catch(() => []);
    const files = names.filter((name) => name.endsWith(SUFFIX));
    const pins = await Promise.all(files.map((name) => this.#readFile(join(directory, name))));
    return pins.filter((each) => each !== undefined);
  }

  async #readFile(path: string): Promise<ServerPins | undefined> {
    const pins = fromFile(await readJsonFile(path, MAX_BYTES));
    if (pins !== undefined) return pins;
    const isThere = await stat(path).then(
      () => true,
      () => false,
    );
    if (isThere) {
      // The next listing counts as the first one, which is trusted. The user must know that.
      this.#logger.warn("pins cannot be read; the tools the server has now are pinned instead", {
        file: path,
      });
    }
    return undefined;
  }
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
function withoutSecrets(pins: ServerPins, redact: Redact): ServerPins {
  let isChanged = false;
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
  return isChanged || leftOut.size > 0 ? { ...pins, instructions, tools } : pins;
}

type Check<Value> = (value: unknown) => value is Value;

function toFile({ server, key, seenWith, instructions, tools }: ServerPins): object {
  // A list: the server chooses the names, and an object could not hold a tool called __proto__.
  return { format: FORMAT, server, key, seenWith, instructions, tools: [...tools] };
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
