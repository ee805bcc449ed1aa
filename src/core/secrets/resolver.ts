// Gets the values of references from their providers: each distinct reference once for all who need it at a time, all in
// parallel, each within a limit. A value is kept for half a minute, in memory, unless it is in a file or a variable.

import { cancelled, PlugboardError, toPlugboardError } from "../types/errors.ts";
import {
  type ProviderSurroundings,
  type SecretContext,
  SECRET_PROVIDERS,
  type SecretProvider,
  type SecretReference,
  type SecretSettings,
  secretUnavailable,
} from "../types/secret-provider.ts";
import { allowManyListeners, untilAborted } from "../../util/abort.ts";
import type { Clock, Timer } from "../../util/clock.ts";
import { closest } from "../../util/closest.ts";
import { errorMessage } from "../../util/error-message.ts";
import { duration, oneLine } from "../../util/text.ts";
import { PROVIDERS } from "./providers.ts";

const TIMEOUT_MS = 10_000;
const KEPT_MS = 30_000;
/** A file may be replaced at any time, and reading it anew costs nothing. */
const READ_ANEW: ReadonlySet<string> = new Set(["env", "file"]);
/** No credential is longer, and the rest of it would not be redacted (redaction/redactor.ts). */
const LONGEST = 32 * 1024;

export interface SecretResolverOptions {
  settings: SecretSettings;
  /** Providers of a program's own. They win over ours of the same name, and are closed with the rest. */
  given: readonly SecretProvider[];
  surroundings: ProviderSurroundings;
  /** Called with every value, before anybody gets it. `place` is where it is from, if another one may follow. */
  onValue: (value: string, place?: string) => void;
}

type Waiter = Partial<SecretContext>;

interface Kept {
  value: string;
  expiry: Timer;
}

export class SecretResolver {
  readonly #options: SecretResolverOptions;
  readonly #clock: Clock;
  readonly #given: ReadonlyMap<string, SecretProvider>;
  readonly #closing = new AbortController();
  #settings: SecretSettings;
  readonly #open = new Map<string, Promise<SecretProvider>>();
  readonly #asking = new Map<string, Promise<string>>();
  readonly #kept = new Map<string, Kept>();

  constructor(options: SecretResolverOptions) {
    this.#options = options;
    this.#clock = options.surroundings.clock;
    this.#settings = options.settings;
    this.#given = new Map(options.given.map((provider) => [provider.name, provider]));
  }

  /** The names of all providers that a reference may have. */
  get names(): string[] {
    return [...new Set([...SECRET_PROVIDERS, ...this.#given.keys()])];
  }

  /** Rejects with SECRET_UNAVAILABLE. Its message says why and names neither the reference nor its place. */
  async resolve(reference: SecretReference, { baseDir, signal }: Waiter = {}): Promise<string> {
    const key = this.#keyOf(reference, baseDir);
    const kept = this.#kept.get(key);
    if (kept !== undefined) return kept.value;
    const asking = this.#asking.get(key) ?? this.#ask(key, reference, baseDir);
    // A server may need many at once.
    if (signal !== undefined) allowManyListeners(signal);
    // If one caller gives up waiting, the others still get the value.
    return untilAborted(asking, signal, cancelled);
  }

  /** The next one who needs the secret gets it from its provider. With `value`, only if it is this one that is kept. */
  forget(reference: SecretReference, baseDir?: string, value?: string): void {
    const key = this.#keyOf(reference, baseDir);
    if (value === undefined || this.#kept.get(key)?.value === value) this.#drop(key);
  }

  /** Says which reference `store` will give for a name. Rejects with UNSUPPORTED if the provider only reads. */
  async placer(provider: string): Promise<(name: string) => SecretReference> {
    const { place } = await this.#provider(provider);
    if (place === undefined) throw readsOnly(provider);
    return place;
  }

  /** Whether a value can be put there, as far as that can be found out without one. */
  async isUsable(provider: string): Promise<boolean> {
    const { store, isUsable } = await this.#provider(provider);
    if (store === undefined) return false;
    if (isUsable === undefined) return true;
    return this.#inTime((signal) => isUsable({ signal })).catch(() => false);
  }

  /** Puts a value where the provider keeps it, and gives the reference to write. */
  async store(provider: string, name: string, value: string): Promise<SecretReference> {
    const { store } = await this.#provider(provider);
    if (store === undefined) throw readsOnly(provider);
    this.#options.onValue(value);
    const stored = await this.#inTime((signal) => store(name, value, { signal })).catch(
      (error: unknown) => {
        throw repeats(error, value) ? unspeakable() : error;
      },
    );
    this.#drop(this.#keyOf(stored, undefined));
    return stored;
  }

  /** Removes a value that was put there. Rejects with UNSUPPORTED if the provider cannot. */
  async remove(reference: SecretReference): Promise<void> {
    const { remove } = await this.#provider(reference.provider);
    if (remove === undefined) {
      const message = `values cannot be removed from '${reference.provider}'`;
      const hint = "remove it with the provider's own program";
      throw new PlugboardError("UNSUPPORTED", message, { permanent: true, hint });
    }
    await this.#inTime((signal) => remove(reference, { signal }));
    this.#drop(this.#keyOf(reference, undefined));
  }

  /** Other settings apply from now on. */
  reconfigure(settings: SecretSettings): void {
    if (JSON.stringify(settings) === JSON.stringify(this.#settings)) return;
    this.#settings = settings;
    const ended = [...this.#open.values()];
    this.#open.clear();
    this.#asking.clear();
    for (const key of this.#kept.keys()) this.#drop(key);
    void closeAll(ended);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    for (const key of this.#kept.keys()) this.#drop(key);
    const given = [...this.#given.values()].map((each) => Promise.resolve(each));
    await closeAll([...this.#open.values(), ...given]);
    this.#open.clear();
  }

  #ask(key: string, reference: SecretReference, baseDir: string | undefined): Promise<string> {
    const asking = this.#value(reference, baseDir).then((value) => {
      this.#options.onValue(value, key);
      // A value that was requested with other settings is not kept.
      const mayKeep = !READ_ANEW.has(reference.provider);
      if (mayKeep && this.#asking.get(key) === asking) this.#keep(key, value);
      return value;
    });
    this.#asking.set(key, asking);
    void asking
      .catch(() => {})
      .then(() => {
        if (this.#asking.get(key) === asking) this.#asking.delete(key);
      });
    return asking;
  }

  async #value(reference: SecretReference, baseDir: string | undefined): Promise<string> {
    const value = await this.#inTime(async (signal) => {
      const provider = await this.#provider(reference.provider);
      return provider.resolve(reference, { signal, baseDir });
    });
    if (typeof value !== "string") throw secretUnavailable("the provider gave no text");
    if (value === "") throw secretUnavailable("the value is empty");
    if (value.includes("\0")) throw secretUnavailable("the value is binary data, not text");
    if (value.length > LONGEST) throw secretUnavailable("the value is too long for a credential");
    return value;
  }

  async #provider(name: string): Promise<SecretProvider> {
    const given = this.#given.get(name);
    if (given !== undefined) return given;
    const known = this.#open.get(name);
    if (known !== undefined) return known;
    const open = Object.hasOwn(PROVIDERS, name)
      ? PROVIDERS[name as keyof typeof PROVIDERS]
      : undefined;
    if (open === undefined) {
      const meant = closest(name, this.names);
      throw secretUnavailable(`there is no secret provider named '${oneLine(name, 60)}'`, {
        hint: meant === undefined ? undefined : `did you mean '${meant}'?`,
      });
    }
    const opening = open(this.#settings, this.#options.surroundings);
    this.#open.set(name, opening);
    opening.catch(() => this.#open.delete(name));
    return opening;
  }

  /** Runs a task until the limit. Rejects with SECRET_UNAVAILABLE whatever the task rejects with. */
  async #inTime<Result>(task: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
    const closing = this.#closing.signal;
    if (closing.aborted) throw cancelled();
    const late = new AbortController();
    const timer = this.#clock.after(TIMEOUT_MS, () => late.abort());
    const signal = AbortSignal.any([late.signal, closing]);
    try {
      return await untilAborted(task(signal), signal, cancelled);
    } catch (error) {
      if (closing.aborted) throw cancelled();
      if (late.signal.aborted) {
        const message = `the provider did not answer within ${duration(TIMEOUT_MS)}`;
        throw secretUnavailable(message, { permanent: false, cause: error });
      }
      throw asUnavailable(error);
    } finally {
      timer.cancel();
    }
  }

  /** However it is written. The path of a file means something else in another directory, and so may that of a given provider. */
  #keyOf({ provider, path, key }: SecretReference, baseDir: string | undefined): string {
    const isRelative = provider === "file" || this.#given.has(provider);
    return JSON.stringify([provider, path, key, isRelative ? baseDir : undefined]);
  }

  #keep(key: string, value: string): void {
    if (this.#closing.signal.aborted) return;
    this.#drop(key);
    this.#kept.set(key, { value, expiry: this.#clock.later(KEPT_MS, () => this.#drop(key)) });
  }

  #drop(key: string): void {
    this.#kept.get(key)?.expiry.cancel();
    this.#kept.delete(key);
  }
}

function readsOnly(provider: string): PlugboardError {
  return new PlugboardError("UNSUPPORTED", `values cannot be put into '${provider}'`, {
    permanent: true,
    hint: "put it there with the provider's own program, or choose another provider",
  });
}

/** A program that traces its requests repeats the value to store in its error message. */
function repeats(error: unknown, value: string): boolean {
  const { message = "", hint = "" } = error instanceof PlugboardError ? error : {};
  const base64 = Buffer.from(value, "utf8").toString("base64");
  const quoted = JSON.stringify(value).slice(1, -1);
  const forms = [value, quoted, encodeURIComponent(value), base64, base64.replace(/=+$/, "")];
  return forms.some((form) => `${message} ${hint}`.includes(form));
}

function unspeakable(): PlugboardError {
  const message = "the provider failed, and its words are not shown, since they repeat the value";
  return secretUnavailable(message, { permanent: false });
}

function asUnavailable(error: unknown): PlugboardError {
  if (error instanceof PlugboardError) {
    if (error.code === "SECRET_UNAVAILABLE" || error.code === "UNSUPPORTED") return error;
    const { message, hint, permanent } = error;
    return secretUnavailable(message, { hint, permanent, cause: error });
  }
  const { message, hint } = toPlugboardError(error, "SECRET_UNAVAILABLE");
  const told = oneLine(message || errorMessage(error), 300);
  return secretUnavailable(told, { hint, permanent: false, cause: error });
}

async function closeAll(providers: readonly Promise<SecretProvider>[]): Promise<void> {
  await Promise.allSettled(providers.map(async (each) => (await each).close?.()));
}
