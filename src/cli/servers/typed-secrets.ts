// The secrets that a person types while a server is added or updated. They stay in memory until the person has agreed;
// then they are put away, and the entry has only references to them.

import { PlugboardError } from "../../core/types/errors.ts";
import type { SecretReference, SecretStoreName } from "../../core/types/secret-provider.ts";
import { reasonOf } from "../../util/system-problem.ts";
import { visible } from "../../util/visible.ts";
import type { CliContext } from "../context.ts";
import {
  secretName,
  type SecretSettingsOf,
  storeSecret,
  WHERE,
  withStore,
} from "../store-secret.ts";
import { askYesNo, isOwnAnswer, notWanted } from "../terminal/input.ts";
import { secretSettings, type ServerFile } from "./server-file.ts";

/** `--secrets [provider]`. */
export interface SecretsOption {
  to?: SecretStoreName;
}

interface Store {
  provider: SecretStoreName;
  agent: SecretSettingsOf;
  place: (name: string) => SecretReference;
}

interface TypedSecret {
  name: string;
  value: string;
  reference: SecretReference;
  /** Where it is, in words that a person can find it by. */
  place: string;
  isStored: boolean;
}

export class TypedSecrets {
  readonly #server: string;
  readonly #file: ServerFile;
  readonly #option: SecretsOption | undefined;
  readonly #context: CliContext;
  readonly #typed: TypedSecret[] = [];
  #opening: Promise<Store | undefined> | undefined;

  constructor(
    server: string,
    file: ServerFile,
    option: SecretsOption | undefined,
    context: CliContext,
  ) {
    this.#server = server;
    this.#file = file;
    this.#option = option;
    this.#context = context;
  }

  /**
   * Where a value would go, in words. Undefined if there is no place for it. Rejects only where the person has asked for
   * one with `--secrets`.
   */
  async where(): Promise<string | undefined> {
    this.#opening ??= this.#open();
    const store = await this.#opening;
    return store && WHERE[store.provider];
  }

  /** Remembers a value, and gives the reference to write. Only where `where` has named a place. */
  async take(key: string, value: string): Promise<string> {
    const store = await this.#opening;
    if (store === undefined) throw new Error("there is no place for secrets");
    const name = secretName(this.#server, key);
    const reference = store.place(name);
    const place = store.provider === "file" ? visible(reference.path) : WHERE[store.provider];
    this.#typed.push({ name, value, reference, place, isStored: false });
    return reference.text;
  }

  get isEmpty(): boolean {
    return this.#typed.length === 0;
  }

  /** What a person should see before they agree. */
  lines(): string[] {
    if (this.#typed.length === 0) return [];
    return ["These values would be stored as secrets:", ...referenceLines(this.#typed)];
  }

  /**
   * Once the person has agreed, puts the values away, and then runs the task. If one of these fails, it says what was put
   * away and stays there, and how to remove it. May be called again: what is stored is not stored twice.
   */
  async onceAgreed<Result>(
    agree: () => Promise<void>,
    task: () => Promise<Result>,
  ): Promise<Result> {
    try {
      await agree();
      for (const secret of this.#typed) {
        if (!secret.isStored) await this.#put(secret);
        secret.isStored = true;
      }
      return await task();
    } catch (error) {
      const stored = this.#typed.filter(({ isStored }) => isStored);
      if (stored.length === 0) throw error;
      const { screen } = this.#context;
      for (const line of leftLines(stored)) screen.note(line);
      const isNo = error instanceof PlugboardError && isOwnAnswer(error);
      throw isNo ? notWanted("the configuration has not changed") : error;
    }
  }

  async #open(): Promise<Store | undefined> {
    const { to } = this.#option ?? {};
    try {
      const agent = await secretSettings(this.#file, this.#context);
      return await withStore(to, agent, this.#context, async ({ provider, place }) => {
        // A provider may need to be told more before it can say where it puts something.
        place("plugboard");
        return { provider, agent, place };
      });
    } catch (error) {
      if (this.#option !== undefined || !(error instanceof PlugboardError)) throw error;
      if (error.code === "CANCELLED") throw error;
      this.#context.screen.note(`note: secrets cannot be stored: ${reasonOf(error)}`);
      return undefined;
    }
  }

  async #put({ name, value, reference }: TypedSecret): Promise<void> {
    const { provider, agent } = (await this.#opening) ?? {};
    if (provider === undefined || agent === undefined) return;
    const put = async (replaces: boolean): Promise<void> => {
      await storeSecret(name, value, provider, this.#context, { agent, replaces });
    };
    try {
      await put(false);
    } catch (error) {
      if (!(error instanceof PlugboardError) || error.code !== "INVALID_ARGUMENTS") throw error;
      // Another server may use it; or it is left from an attempt that failed.
      const question = `${visible(reference.text)} has another value already. Replace it?`;
      if (!(await askYesNo(question, this.#context))) {
        const told = `${error.message}; the configuration has not changed`;
        throw new PlugboardError("NOT_APPROVED", told, {
          hint: "give the server another name, or put the value elsewhere with --secrets",
        });
      }
      await put(true);
    }
  }
}

function referenceLines(secrets: readonly TypedSecret[]): string[] {
  return secrets.map(({ reference }) => `  ${visible(reference.text)}`);
}

/** A person who has no use for a value can take it out where it is: there is no command for that. */
function leftLines(stored: readonly TypedSecret[]): string[] {
  return [
    "These values were stored, and are still there:",
    ...referenceLines(stored),
    ...stored.map(({ name, place }) => `To remove ${visible(name)}, delete it from ${place}.`),
  ];
}
