// What earlier runs left about a board's servers in the state directory: their tools, resources and prompts, how they
// were reached, and starts that failed a few minutes ago.

import {
  type CachedTools,
  CatalogCache,
  definitionHash,
  type Reached,
} from "../catalog/catalog-cache.ts";
import { ContentFiles, type ListedContents } from "../catalog/content-files.ts";
import type { BoardOptions } from "../types/board-options.ts";
import { PlugboardError } from "../types/errors.ts";
import type { JsonObject } from "../types/json.ts";
import type { Logger } from "../types/logger.ts";
import type { ServerDefinition } from "../types/server-definition.ts";
import type { ServerState } from "../types/server-state.ts";
import type { ToolDefinition } from "../types/tool.ts";
import { toolWithoutSecrets } from "../types/without-secrets.ts";
import type { Redactor } from "../redaction/redactor.ts";
import { boundedMap, READERS } from "../../util/bounded-map.ts";
import type { Clock, Timer } from "../../util/clock.ts";
import { reasonOf } from "../../util/system-problem.ts";
import { duration } from "../../util/text.ts";
import { WriteBehind } from "../../util/write-behind.ts";
import { failureKey, RecentFailures, type RecentStart } from "./recent-failures.ts";

/**
 * A server that has not answered for so long is noted as late while it still starts: whoever started it may be gone, or killed,
 * before it fails. A client's list waits for a server that nobody has ever listed, and must not do so in every session.
 */
const LATE_MS = 5000;

export interface RememberedServer {
  tools?: CachedTools;
  /** What it has listed for other capabilities, if it was never asked with those that it would be told now. */
  listedElsewhere?: CachedTools;
  reached?: Reached;
  contents?: ListedContents;
  /** What became of its last start, a few minutes ago, if it was not ready. */
  lastStart?: RecentStart;
}

export interface EarlierRunsOptions {
  options: BoardOptions;
  clock: Clock;
  logger: Logger;
  redactor: Redactor;
}

/** By the hash of the server's definition. */
interface UnsavedList {
  hash: string;
  list: CachedTools;
}

interface UnsavedContents {
  hash: string;
  contents: ListedContents;
}

export class EarlierRuns {
  readonly #options: EarlierRunsOptions;
  readonly #cache: CatalogCache;
  readonly #files: ContentFiles;
  readonly #unsavedContents: WriteBehind<UnsavedContents>;
  readonly #failures: RecentFailures;
  readonly #unsaved: WriteBehind<UnsavedList>;
  readonly #warned = new Set<string>();

  constructor(stateDir: string, options: EarlierRunsOptions) {
    this.#options = options;
    this.#cache = new CatalogCache(stateDir);
    this.#failures = new RecentFailures(stateDir, options.clock);
    this.#unsaved = new WriteBehind(options.clock, (unsaved) => this.#saveAll(unsaved));
    this.#files = new ContentFiles(stateDir);
    this.#unsavedContents = new WriteBehind(options.clock, (unsaved) =>
      this.#saveContents(unsaved),
    );
  }

  /** `capabilities` is what the host would advertise to the server now. */
  async read(
    definition: ServerDefinition,
    cwd: string,
    capabilities: JsonObject,
  ): Promise<RememberedServer> {
    const hash = definitionHash(definition, cwd);
    // A server whose variables are not set would fail now.
    const isDoubted = this.#failureKey(definition, cwd) === undefined;
    const [known, contents, lastStart] = await Promise.all([
      this.#readCache(hash, capabilities, isDoubted),
      this.#files.read(hash),
      this.#readLastStart(definition, cwd),
    ]);
    return { ...known, contents: this.#withoutSecretContents(contents), lastStart };
  }

  /** Saved a moment later. If it cannot be, only the next start takes longer. */
  saveTools(hash: string, tools: Omit<CachedTools, "savedAt">): void {
    const list = { savedAt: this.#options.clock.now(), ...tools };
    this.#unsaved.add({ hash, list }, hash);
  }

  /** Like `saveTools`. */
  saveContents(hash: string, listed: ListedContents): void {
    this.#unsavedContents.add({ hash, contents: this.#withoutSecretContents(listed) }, hash);
  }

  /** Resolves when everything is saved, or could not be. */
  async flush(): Promise<void> {
    await Promise.all([this.#unsaved.flush(), this.#unsavedContents.flush()]);
  }

  async #saveContents(unsaved: UnsavedContents[]): Promise<void> {
    await boundedMap(unsaved, READERS, async ({ hash, contents }) => {
      try {
        await this.#files.write(hash, contents);
      } catch (error) {
        this.#warnOnce("lists of resources and prompts cannot be saved for the next run", error);
      }
    });
  }

  /** What has a secret in its URI is known again when the server lists it: nobody can read it by another URI. */
  #withoutSecretContents({ resources, prompts }: ListedContents): ListedContents {
    const { redactor } = this.#options;
    const isPlain = (uri: string): boolean => redactor.text(uri) === uri;
    return {
      ...(resources && {
        resources: redactor.value({
          ...resources,
          resources: resources.resources.filter(({ uri }) => isPlain(uri)),
          templates: resources.templates.filter(({ uriTemplate }) => isPlain(uriTemplate)),
        }),
      }),
      ...(prompts && {
        prompts: redactor.value({
          ...prompts,
          prompts: prompts.prompts.filter(({ name }) => isPlain(name)),
        }),
      }),
    };
  }

  async #saveAll(unsaved: UnsavedList[]): Promise<void> {
    await boundedMap(unsaved, READERS, async ({ hash, list }) => {
      try {
        await this.#cache.write(hash, list);
      } catch (error) {
        this.#warnOnce("lists of tools cannot be saved for the next run", error);
      }
    });
  }

  /**
   * Records how the starts of one server go, by its states. An error that comes at once and stays (a missing command) is not
   * recorded, since nobody waits for it; nor is a secret that could not be had, which you may have unlocked since. Nor is a
   * package late that is still being installed. `inBackground` gets what is to be waited for at the end, and does not reject.
   */
  followStarts(
    definition: ServerDefinition,
    cwd: string,
    inBackground: (task: Promise<void>) => void,
  ): (state: ServerState, previous: ServerState) => void {
    let timer: Timer | undefined;
    let isNoted = false;
    let written = Promise.resolve();
    /** One after another: a note must not outlive the start that it is about. */
    const write = (start: RecentStart | undefined): void => {
      isNoted = start !== undefined;
      written = written.then(() => this.#writeStart(definition, cwd, start));
      inBackground(written);
    };
    return (state, previous) => {
      timer?.cancel();
      if (state.kind === "starting") {
        const isInstalling = state.installer !== undefined;
        if (isInstalling && isNoted) write(undefined);
        if (!isInstalling) timer = this.#options.clock.later(LATE_MS, () => write(LATE));
      } else if (previous.kind === "starting") {
        if (state.kind === "ready") return write(undefined);
        if ("error" in state) write(failureOf(state.error));
        if ("error" in state || state.kind === "needs-auth")
          inBackground(this.doubt(definitionHash(definition, cwd)));
      }
    };
  }

  /** Notes that nobody knows whether the server still has what it listed. Does not reject. */
  async doubt(hash: string): Promise<void> {
    try {
      await this.#unsaved.flush();
      await this.#cache.doubt(hash);
    } catch (reason) {
      this.#warnOnce("failed starts cannot be recorded for the next run", reason);
    }
  }

  async #writeStart(
    definition: ServerDefinition,
    cwd: string,
    start: RecentStart | undefined,
  ): Promise<void> {
    const { redactor } = this.#options;
    const key = this.#failureKey(definition, cwd);
    if (key === undefined) return;
    try {
      if (start === undefined) return await this.#failures.forget(key);
      const { kind, error } = start;
      await this.#failures.record(key, kind, {
        code: error.code,
        message: redactor.text(error.message),
        hint: error.hint && redactor.text(error.hint),
        quote: error.quote && redactor.text(error.quote),
        isHintQuoted: error.isHintQuoted,
      });
    } catch (reason) {
      this.#warnOnce("failed starts cannot be recorded for the next run", reason);
    }
  }

  /** What keeps one server's file from being written most likely keeps all of them. */
  #warnOnce(message: string, error: unknown): void {
    if (this.#warned.has(message)) return;
    this.#warned.add(message);
    this.#options.logger.warn(message, { reason: reasonOf(error) });
  }

  async #readCache(
    hash: string,
    capabilities: JsonObject,
    isDoubted: boolean,
  ): Promise<RememberedServer> {
    const cached = await this.#cache.read(hash, capabilities);
    const elsewhere = cached ?? (await this.#cache.readAny(hash));
    if (elsewhere === undefined) return {};
    const clean = this.#withoutSecrets(elsewhere);
    const listed = isDoubted ? { ...clean, isDoubted } : clean;
    const reached = listed.identity;
    return cached === undefined ? { listedElsewhere: listed, reached } : { tools: listed, reached };
  }

  /** What was not known as a secret when the list was saved may be one now. */
  #withoutSecrets({ tools, identity, ...rest }: CachedTools): CachedTools {
    const { redactor } = this.#options;
    const redact = (text: string): string => redactor.text(text);
    return {
      ...rest,
      identity: redactor.value(identity),
      tools: tools.flatMap((tool) => {
        const clean = toolWithoutSecrets(tool, redact);
        return typeof clean === "string" ? [] : clean;
      }),
    };
  }

  async #readLastStart(
    definition: ServerDefinition,
    cwd: string,
  ): Promise<RecentStart | undefined> {
    const key = this.#failureKey(definition, cwd);
    return key === undefined ? undefined : this.#failures.read(key);
  }

  #failureKey(definition: ServerDefinition, cwd: string): string | undefined {
    return failureKey(definition, cwd, this.#options.options.env ?? process.env);
  }
}

const LATE: RecentStart = {
  kind: "late",
  error: new PlugboardError("TIMEOUT", `it had not answered after ${duration(LATE_MS)}`),
};

function failureOf(error: PlugboardError): RecentStart | undefined {
  const isPassing = !error.permanent && error.code !== "SECRET_UNAVAILABLE";
  return isPassing ? { kind: "failed", error } : undefined;
}

/**
 * The tools that servers had in earlier runs, by the name of the server, for whoever must not start anything: names for a
 * shell to complete. One that never ran, or whose definition has changed since, is not there.
 */
export async function knownTools(
  servers: readonly ServerDefinition[],
  stateDir: string,
): Promise<Map<string, readonly ToolDefinition[]>> {
  const origins = servers.map((each) => definitionHash(each, ""));
  const lists = await new CatalogCache(stateDir).newest(origins);
  return new Map(
    servers.flatMap(({ name }, index) => {
      const list = lists.get(origins[index] ?? "");
      return list === undefined ? [] : [[name, list.tools]];
    }),
  );
}
