// The bearer tokens of the gateway. The default token is a file that its owner can read; of a token with a name, only
// the hash is kept. Files are read again when they change, so that a running gateway knows what the command line did.

import { readFileSync, statSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { PlugboardError } from "../../types/errors.ts";
import { isJsonObject, objectIn, tryParseJson } from "../../types/json.ts";
import {
  DEFAULT_TOKEN,
  type GatewayToken,
  type NewToken,
  type TokenStore,
} from "../../types/shared-state.ts";
import type { Clock } from "../../../util/clock.ts";
import { hasErrorCode } from "../../../util/error-code.ts";
import { readRegularFile } from "../../../util/regular-file.ts";
import { readJsonFile, writeJsonFile } from "../json-file.ts";
import { KnownTokens } from "../known-tokens.ts";
import { withLock } from "../lock.ts";
import { EVERYBODY, type SignOuts, signOutsIn, untilIn, withSignOut } from "../sign-outs.ts";
import {
  checkRoom,
  findToken,
  isStoredToken,
  isTokenText,
  newToken,
  newTokenText,
  type StoredToken,
  tokenHash,
  unknownToken,
  withoutHash,
} from "../stored-token.ts";

const FORMAT = 1;
const MAX_BYTES = 4 * 1024 * 1024;
/** How often a running gateway looks whether the files have changed. */
const LOOK_EVERY = 500;
const FILE_MODE = 0o600;
const NOBODY_KNOWS: SignOuts = new Map([[EVERYBODY, Infinity]]);

export interface TokenFilesOptions {
  stateDir: string;
  clock: Clock;
  random: (bytes: number) => Buffer;
}

export class TokenFiles implements TokenStore {
  readonly #options: TokenFilesOptions;
  readonly #files: { token: string; named: string; used: string; signOuts: string };
  #versions = "";
  #signOuts: { known: SignOuts; version: string; lastLook: number } = {
    known: new Map(),
    version: "-",
    lastLook: -Infinity,
  };
  #lastLook = -Infinity;
  readonly #known: KnownTokens;

  constructor(options: TokenFilesOptions) {
    const directory = join(options.stateDir, "gateway");
    this.#options = options;
    this.#files = {
      token: join(directory, "token"),
      named: join(directory, "tokens.json"),
      used: join(directory, "tokens-used.json"),
      signOuts: join(directory, "sign-outs.json"),
    };
    this.#known = new KnownTokens(options.clock, (used) => this.#storeUses(used));
  }

  get defaultFile(): string {
    return this.#files.token;
  }

  /** The default token, made if there is none. Rejects if its file cannot be written or holds something else. */
  async ensureDefault(): Promise<string> {
    const { token: file } = this.#files;
    // Two gateways may start at once, and the other may not have written its token yet.
    return withLock(`${file}.lock`, this.#options.clock, async () => {
      const made = newTokenText(this.#options.random);
      try {
        await writeFile(file, `${made}\n`, { flag: "wx", mode: FILE_MODE });
        return made;
      } catch (error) {
        if (!hasErrorCode(error, "EEXIST")) throw error;
      }
      const kept = await readRegularFile(file).catch((error: unknown) => {
        if (hasErrorCode(error, "ENOTREGULAR")) return "";
        throw error;
      });
      if (isTokenText(kept.trim())) return kept.trim();
      throw new PlugboardError("CONFIG_INVALID", `${file} does not hold a token`, {
        hint: "remove the file; the gateway then makes a new token when it starts",
      });
    });
  }

  find(text: string): GatewayToken | undefined {
    this.#look();
    return this.#known.find(text);
  }

  current(id: string): GatewayToken | undefined {
    this.#look();
    return this.#known.current(id);
  }

  async list(): Promise<GatewayToken[]> {
    const used = await readJsonFile(this.#files.used, MAX_BYTES);
    const lastUse = objectIn(used);
    const found = readDefault(this.#files.token);
    const all = [...(found === undefined ? [] : [found]), ...readNamed(this.#files.named)];
    return all.map(withoutHash).map((token) => {
      const lastUsedAt = lastUse[token.id];
      return typeof lastUsedAt === "number" ? { ...token, lastUsedAt } : token;
    });
  }

  async add(given: NewToken): Promise<{ token: GatewayToken; text: string }> {
    const { token, text, hash } = newToken(given, this.#options);
    await this.#change((tokens) => {
      checkRoom(given.name, tokens);
      return [...tokens, { ...token, hash }];
    });
    return { token, text };
  }

  async revoke(nameOrId: string): Promise<GatewayToken> {
    if (nameOrId === DEFAULT_TOKEN) {
      const found = readDefault(this.#files.token);
      if (found === undefined) throw unknownToken(nameOrId, []);
      await rm(this.#files.token, { force: true });
      return withoutHash(found);
    }
    let revoked: StoredToken | undefined;
    await this.#change((tokens) => {
      const found = findToken(nameOrId, tokens);
      revoked = found;
      return tokens.filter((each) => each !== found);
    });
    if (revoked === undefined) throw unknownToken(nameOrId, []);
    return withoutHash(revoked);
  }

  async signOut(caller = EVERYBODY): Promise<void> {
    const { signOuts: file } = this.#files;
    const { clock } = this.#options;
    await withLock(`${file}.lock`, clock, async () => {
      const known = readSignOuts(file);
      if (known === undefined) {
        throw new PlugboardError("CONFIG_INVALID", `${file} is damaged`, {
          hint: "restore it; or remove it, and then run: plugboard tokens signout --all",
        });
      }
      const signOuts = withSignOut(known, caller, clock.now());
      await writeJsonFile(file, { format: FORMAT, signOuts: Object.fromEntries(signOuts) });
    });
  }

  signedOutUntil(caller: string): number {
    const now = this.#options.clock.monotonic();
    if (now - this.#signOuts.lastLook >= LOOK_EVERY) this.#lookAtSignOuts(now);
    return untilIn(this.#signOuts.known, caller);
  }

  close(): Promise<void> {
    return this.#known.close();
  }

  async #change(to: (tokens: StoredToken[]) => StoredToken[]): Promise<void> {
    const { named } = this.#files;
    await withLock(`${named}.lock`, this.#options.clock, async () => {
      const text = readText(named);
      if (text !== undefined && !Array.isArray(tokensIn(text))) {
        throw new PlugboardError("CONFIG_INVALID", `${named} is damaged`, {
          hint: "restore it, or remove it: then every named token is gone",
        });
      }
      const tokens = to(readNamed(named));
      await writeJsonFile(named, { format: FORMAT, tokens });
    });
  }

  /** Synchronous, since it runs in the middle of a request. The files are small and local. */
  #look(): void {
    const now = this.#options.clock.monotonic();
    if (now - this.#lastLook < LOOK_EVERY) return;
    this.#lastLook = now;
    const { token, named } = this.#files;
    const versions = `${versionOf(token)} ${versionOf(named)}`;
    if (versions === this.#versions) return;
    const found = readDefault(token);
    this.#known.replace([...readNamed(named), ...(found === undefined ? [] : [found])]);
    this.#versions = versions;
  }

  #lookAtSignOuts(lastLook: number): void {
    const { signOuts: file } = this.#files;
    const version = versionOf(file);
    const isSame = version === this.#signOuts.version;
    // Whoever damages the file lets nobody in again.
    const known = isSame ? this.#signOuts.known : (readSignOuts(file) ?? NOBODY_KNOWS);
    this.#signOuts = { known, version, lastLook };
  }

  #storeUses(used: ReadonlyMap<string, number>): Promise<void> {
    const { used: file, named } = this.#files;
    return withLock(`${file}.lock`, this.#options.clock, async () => {
      const earlier = await readJsonFile(file, MAX_BYTES);
      const known = new Set([DEFAULT_TOKEN, ...readNamed(named).map(({ id }) => id)]);
      const all = { ...objectIn(earlier), ...Object.fromEntries(used) };
      const kept = Object.entries(all).filter(([id]) => known.has(id));
      await writeJsonFile(file, Object.fromEntries(kept));
    });
  }
}

/** Named tokens are always replaced as a whole file; the default token may be edited in place. */
function versionOf(file: string): string {
  try {
    const found = statSync(file, { throwIfNoEntry: false, bigint: true });
    return found === undefined ? "-" : [found.ino, found.mtimeNs, found.size].join(":");
  } catch {
    return "?";
  }
}

function readText(file: string): string | undefined {
  try {
    const found = statSync(file, { throwIfNoEntry: false });
    if (found === undefined || !found.isFile() || found.size > MAX_BYTES) return undefined;
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}

function readDefault(file: string): StoredToken | undefined {
  const text = readText(file)?.trim();
  if (text === undefined || !isTokenText(text)) return undefined;
  const createdAt = Math.round(statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0);
  return { id: DEFAULT_TOKEN, name: DEFAULT_TOKEN, createdAt, hash: tokenHash(text) };
}

/** Entries that are not tokens are left out: whoever damages the file takes access away and gives none. */
function readNamed(file: string): StoredToken[] {
  const tokens = tokensIn(readText(file) ?? "");
  return Array.isArray(tokens) ? tokens.filter(isStoredToken) : [];
}

/** Undefined if the file is not one of ours, or cannot be read. */
function readSignOuts(file: string): SignOuts | undefined {
  if (versionOf(file) === "-") return new Map();
  const value = tryParseJson(readText(file) ?? "");
  const isOurs = isJsonObject(value) && value.format === FORMAT && isJsonObject(value.signOuts);
  return isOurs ? signOutsIn(objectIn(value.signOuts)) : undefined;
}

function tokensIn(text: string): unknown {
  const value = tryParseJson(text);
  return isJsonObject(value) && value.format === FORMAT ? value.tokens : undefined;
}
