// The secrets of one agent: gets them from the providers that its configuration and its host have. The command line comes here too, to
// check references and to put values away.

import { homedir as systemHome } from "node:os";
import { join } from "node:path";
import { plugboardHome } from "../config/home.ts";
import { type NeededSecret, resolveValue } from "../config/resolve.ts";
import { PlugboardError, toPlugboardError } from "../types/errors.ts";
import type { Logger } from "../types/logger.ts";
import {
  type SecretProvider,
  type SecretReference,
  type SecretSettings,
  secretUnavailable,
} from "../types/secret-provider.ts";
import type { ResolvedSecret } from "../types/secret-use.ts";
import { withProxy } from "../net/proxy-env.ts";
import { SHORTEST_SECRET } from "../redaction/redactor.ts";
import type { SecretResolver } from "../secrets/resolver.ts";
import type { SecretNetwork } from "../secrets/secret-fetch.ts";
import type { Clock } from "../../util/clock.ts";
import type { Environment } from "../../util/environment.ts";

export interface AgentSecretsOptions {
  settings?: SecretSettings | undefined;
  /** `network.proxy` of the configuration. */
  proxy?: string | undefined;
  env: Environment;
  clock: Clock;
  logger: Logger;
  /** The PATH for programs, instead of the one in `env`. Must not reject. */
  path?: Promise<string | undefined> | undefined;
  /** Providers of the host's own. Closed with the rest. */
  providers?: readonly SecretProvider[];
  platform?: NodeJS.Platform;
  /** Called with every value, before anybody gets it, so that it is redacted. `place` is where it is from. */
  onValue?: (value: string, place?: string) => void;
}

/** A secret, and for whom it is: messages say so. */
export interface WantedSecret extends NeededSecret {
  server?: string | undefined;
  baseDir?: string | undefined;
  signal?: AbortSignal | undefined;
}

/** Said of a secret that is not searched for in what servers send. */
export const SHORT_SECRET = `has fewer than ${SHORTEST_SECRET} characters`;

export function isShort(value: string): boolean {
  return value.trim().length < SHORTEST_SECRET;
}

export class AgentSecrets {
  readonly #options: AgentSecretsOptions;
  readonly #warned = new Set<string>();
  /** What came of each reference when somebody last needed it. */
  readonly #last = new Map<string, ResolvedSecret>();
  #settings: SecretSettings;
  #opening: Promise<SecretResolver> | undefined;
  #network: SecretNetwork | undefined;
  #isClosed = false;

  constructor(options: AgentSecretsOptions) {
    this.#options = options;
    this.#settings = options.settings ?? {};
  }

  /** Rejects with SECRET_UNAVAILABLE, which names the server, the key, the reference and the cause. */
  async resolve({ reference, key, server, baseDir, signal }: WantedSecret): Promise<string> {
    try {
      const resolver = await this.#resolver();
      const value = await resolver.resolve(reference, { baseDir, signal });
      this.#last.set(reference.text, { at: this.#options.clock.now() });
      return value;
    } catch (error) {
      const failure = toPlugboardError(error, "SECRET_UNAVAILABLE");
      const { code, message, hint, permanent, quote } = failure;
      if (code === "CANCELLED") throw error;
      const why = { message, ...(hint !== undefined && { hint }) };
      this.#last.set(reference.text, { at: this.#options.clock.now(), failure: why });
      throw secretUnavailable(`${key} needs ${reference.text}: ${message}`, {
        server,
        hint,
        permanent,
        quote,
        cause: error,
      });
    }
  }

  /** By the reference as it is written. */
  lastOf(reference: string): ResolvedSecret | undefined {
    return this.#last.get(reference);
  }

  /** The next request asks the provider. With `value`, only if it is this one that is kept. */
  async forget(reference: SecretReference, baseDir?: string, value?: string): Promise<void> {
    (await this.#resolver()).forget(reference, baseDir, value);
  }

  /** Says which reference `store` will give for a name. Rejects with UNSUPPORTED if the provider only reads. */
  async placer(provider: string): Promise<(name: string) => SecretReference> {
    return (await this.#resolver()).placer(provider);
  }

  /** Whether a value can be put there, as far as that can be found out without one. */
  async isUsable(provider: string): Promise<boolean> {
    return (await this.#resolver()).isUsable(provider);
  }

  /** Puts a value into a provider under a name, and gives the reference to write. Rejects with UNSUPPORTED if it only reads. */
  async store(provider: string, name: string, value: string): Promise<SecretReference> {
    return (await this.#resolver()).store(provider, name, value);
  }

  /** Removes a value that was put there. Rejects with UNSUPPORTED if the provider cannot. */
  async remove(reference: SecretReference): Promise<void> {
    await (await this.#resolver()).remove(reference);
  }

  reconfigure(settings: SecretSettings = {}): void {
    this.#settings = settings;
    void this.#opening?.then((resolver) => resolver.reconfigure(this.#withDefaults()));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const { providers = [] } = this.#options;
    if (this.#opening === undefined) {
      await Promise.allSettled(providers.map(async (each) => each.close?.()));
      return;
    }
    await (await this.#opening).close();
    await this.#network?.close();
  }

  #resolver(): Promise<SecretResolver> {
    if (this.#isClosed) throw new PlugboardError("CANCELLED", "the board is closed");
    this.#opening ??= this.#open();
    return this.#opening;
  }

  /** Loaded with the first reference: most configurations have none. */
  async #open(): Promise<SecretResolver> {
    const { env, clock, path, proxy, providers = [], onValue = () => {} } = this.#options;
    const { platform = process.platform } = this.#options;
    const [{ SecretResolver: Resolver }, { programRunner }, { openSecretNetwork }] =
      await Promise.all([
        import("../secrets/resolver.ts"),
        import("../secrets/run-program.ts"),
        import("../secrets/secret-fetch.ts"),
      ]);
    const network = openSecretNetwork(withProxy(env, proxy), clock);
    this.#network = network;
    return new Resolver({
      settings: this.#withDefaults(),
      given: providers,
      surroundings: {
        env,
        homedir: homeOf(env),
        platform,
        clock,
        run: programRunner({ env, path, clock }),
        fetch: network.fetch,
        importOptional: (name) => import(name),
        expand: (setting, key, { signal }) => this.#expand(setting, key, signal),
        warn: (message) => this.#warn(message),
      },
      onValue,
    });
  }

  /** A credential in the settings of a provider. */
  async #expand(setting: string, key: string, signal: AbortSignal): Promise<string> {
    const { env, onValue = () => {} } = this.#options;
    const value = await resolveValue(setting, key, env, (needed) =>
      this.resolve({ ...needed, signal }),
    );
    onValue(value, key);
    return value;
  }

  #withDefaults(): SecretSettings {
    const { env } = this.#options;
    const path = join(plugboardHome(env, homeOf(env)), "secrets.json");
    return { ...this.#settings, file: { path, ...this.#settings.file } };
  }

  #warn(message: string): void {
    if (this.#warned.has(message)) return;
    this.#warned.add(message);
    this.#options.logger.warn(message);
  }
}

function homeOf(env: Environment): string {
  return env["HOME"] || systemHome();
}
