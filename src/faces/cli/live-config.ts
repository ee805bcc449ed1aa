// The configuration of a command that runs for long: as it was read when the command started, and every edit that has
// been applied since. An edit that changes what is started waits for a person, unless the file is in Plugboard's home:
// a `git pull`, or an agent that writes files, must not start commands.

import { statSync } from "node:fs";
import { randomBytes } from "node:crypto";
import { realpath } from "node:fs/promises";
import { isDeepStrictEqual } from "node:util";
import { dirname, isAbsolute, relative, sep } from "node:path";
import { type ConfigSource, placeOf } from "../../config/find.ts";
import { type Fingerprint, hashOfFile, takeFingerprint } from "../../config/fingerprint.ts";
import { type GatewayConfig, gatewaySettings, loadGateway } from "../../config/gateway.ts";
import { plugboardHome } from "../../config/home.ts";
import { loadConfig } from "../../config/load.ts";
import { parseAgentConfig } from "../../config/parse.ts";
import { decodeConfig, readConfigBytes } from "../../config/text/read.ts";
import { judgeTrust, type Launch, readLaunches, type Trust } from "../../config/trust/trust.ts";
import { digestOf, TrustStore, trustFile } from "../../config/trust/trust-store.ts";
import { FileWatch } from "../../config/watch.ts";
import { type AgentConfig, DEFAULT_AGENT } from "../../model/agent-config.ts";
import type { ReloadReport } from "../../model/board.ts";
import { PlugboardError, toPlugboardError } from "../../model/errors.ts";
import { checkHome, otherWriters } from "../../state/state-directory.ts";
import { shellQuoted } from "../../util/text.ts";
import { visible } from "../../util/visible.ts";
import type { UnappliedEdit } from "../gateway/seeing/status.ts";
import type { CliContext } from "./context.ts";
import type { CliIo } from "./io.ts";
import { findSource, loadAgent } from "./open.ts";
import { needsTrust } from "./trust/needs-trust.ts";
import { changeLines } from "./trust/view.ts";

/** One text of the file. Everything that is read of it comes from this text, whatever is on disk by then. */
interface ConfigVersion {
  text: string;
  /** The hash of the file's bytes. */
  hash: string;
  launches: readonly Launch[];
  /** What decides which calls are allowed: hashes by label. */
  guards: ReadonlyMap<string, string>;
  /** The text is that of a file in Plugboard's home. */
  isYours: boolean;
  /** False: nobody has approved what it starts, so nothing of it is used but the names of its servers. */
  isTrusted: boolean;
}

export interface LiveConfigListener {
  /**
   * Applies the configuration as it is read from now on. If it rejects, the one before stays, so it must not
   * reject once something uses the new one.
   */
  apply: () => Promise<ReloadReport>;
  /** An edit is not applied; or, with undefined, all are. */
  onUnapplied?: (edit: UnappliedEdit | undefined) => void;
}

export class LiveConfig implements AsyncDisposable {
  readonly source: ConfigSource;
  readonly #context: CliContext;
  readonly #trust: TrustStore;
  #version: ConfigVersion | undefined;
  #unapplied: UnappliedEdit | undefined;
  #listener: LiveConfigListener | undefined;
  #watch: FileWatch | undefined;
  /** One look at a time. */
  #looking: Promise<unknown> = Promise.resolve();

  private constructor(source: ConfigSource, context: CliContext) {
    this.source = source;
    this.#context = context;
    this.#trust = new TrustStore(this.#home);
  }

  /** Rejects with CONFIG_INVALID for a file that is invalid, or lacks the agent of the command. */
  static async open(context: CliContext): Promise<LiveConfig> {
    const { env, homedir } = context.io;
    checkHome(plugboardHome(env, homedir), env);
    const config = new LiveConfig(findSource(context), context);
    if (config.source.kind !== "file") {
      await config.readAgent();
      return config;
    }
    const { path } = config.source;
    const read = await config.#read(path);
    const isTrusted =
      !needsTrust(config.source, context.io) || (await config.#isApproved(path, read));
    config.#version = { ...read, isTrusted };
    return config;
  }

  /** The edit that is not applied, if there is one. */
  get unapplied(): UnappliedEdit | undefined {
    return this.#unapplied;
  }

  /**
   * The agent of the command, or another one. Without a configuration there are no servers: the demo is only for people
   * at a terminal. If nobody trusts the file, its servers are only shown: its model, system prompt and rules are left
   * out, since using them would already be acting on it.
   */
  async readAgent(id = this.#context.options.agent): Promise<AgentConfig> {
    const { source } = this;
    const version = this.#version;
    if (source.kind !== "file" || version === undefined) {
      const { options } = this.#context;
      const context = { ...this.#context, options: { ...options, agent: id } };
      return loadAgent(source, context, () => parseAgentConfig({ servers: {} }));
    }
    const agent = await loadConfig(source.path, id, this.#readOptions(version.text));
    if (version.isTrusted) return agent;
    const remedy = `${source.path} is not trusted; if you trust it, run in its directory: plugboard trust`;
    const { agentId, servers, toolNames, warnings, file } = agent;
    return { agentId, servers, toolNames, warnings, file, untrusted: { remedy } };
  }

  /**
   * The settings of the gateway. Of a file that nobody trusts, only the names of the agents are used: its settings could
   * open the gateway to the network, to web pages, or to whoever somebody else's issuer vouches for.
   */
  async readGateway(): Promise<GatewayConfig> {
    const { source } = this;
    const version = this.#version;
    const settings = gatewaySettings();
    if (source.kind !== "file" || version === undefined) {
      return { settings, agentIds: [DEFAULT_AGENT] };
    }
    const config = await loadGateway(source.path, this.#readOptions(version.text));
    if (version.isTrusted) return config;
    if (!isDeepStrictEqual(config.settings, settings)) {
      this.#context.logger.warn(
        `${visible(source.path)} is not trusted, so its settings of the gateway are not used; if you trust it, run in its directory: plugboard trust`,
      );
    }
    return { settings, agentIds: config.agentIds };
  }

  /** What a gateway with this configuration runs with, for its note. Undefined without a file. */
  async fingerprint(): Promise<Fingerprint | undefined> {
    const { source } = this;
    const version = this.#version;
    if (source.kind !== "file" || version === undefined) return undefined;
    const { hash: file, text, launches } = version;
    const { agentIds } = await loadGateway(source.path, this.#readOptions(text));
    const agents = await Promise.all(agentIds.map((id) => this.readAgent(id)));
    const { env, cwd } = this.#context.io;
    const salt = randomBytes(16).toString("hex");
    const record = await this.#trust.find(source.path);
    const isApproved = judgeTrust(record?.approved, launches).kind === "trusted";
    return {
      ...takeFingerprint(agents, { file, salt, env, cwd }),
      ...(record && isApproved && { trust: digestOf(record) }),
    };
  }

  /** Applies edits from now on, within a second. */
  follow(listener: LiveConfigListener): void {
    this.#listener = listener;
    // A pipe (`--config <(…)`) has nothing more to say.
    if (this.source.kind !== "file" || !isRegularFile(this.source.path)) return;
    // An approval is an edit too: of the record of what is trusted.
    this.#watch = new FileWatch([this.source.path, trustFile(this.#home)], {
      clock: this.#context.clock,
      onChange: async () => {
        // What went wrong has been told.
        await this.#lookNext(false).catch(() => {});
      },
    });
  }

  /**
   * Looks at the file now. Rejects with CONFIG_INVALID for one that cannot be used, and with UNTRUSTED for an edit that
   * waits for a person; then nothing has changed.
   */
  reload(): Promise<ReloadReport> {
    return this.#lookNext(true);
  }

  async close(): Promise<void> {
    await this.#watch?.close();
    await this.#looking.catch(() => {});
    this.#listener = undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #lookNext(isAsked: boolean): Promise<ReloadReport> {
    const look = this.#looking.catch(() => {}).then(() => this.#look(isAsked));
    this.#looking = look;
    return look;
  }

  async #look(isAsked: boolean): Promise<ReloadReport> {
    const nothing: ReloadReport = { added: [], changed: [], removed: [], unchanged: [] };
    const last = this.#version;
    const { source } = this;
    const listener = this.#listener;
    if (source.kind !== "file" || last === undefined || listener === undefined) return nothing;
    try {
      const read = await this.#read(source.path);
      const isTrusted = await this.#judge(source.path, read, last);
      const isSame = read.hash === last.hash && isTrusted === last.isTrusted;
      if (isSame && !isAsked) {
        if (this.#unapplied !== undefined) this.#tell(nothing);
        this.#setUnapplied(undefined);
        return nothing;
      }
      this.#version = { ...read, isTrusted };
      const report = await listener.apply();
      this.#setUnapplied(undefined);
      this.#tell(report);
      if (isTrusted && last.isTrusted && !read.isYours) this.#tellGuards(last, read);
      return report;
    } catch (error) {
      this.#version = last;
      const problem = toPlugboardError(error, "CONFIG_INVALID");
      const isWaiting = problem.code === "UNTRUSTED";
      const hint = problem.hint === undefined ? "" : `; ${problem.hint}`;
      this.#setUnapplied(
        isWaiting
          ? { kind: "waiting", message: `${problem.message}${hint}` }
          : {
              kind: "invalid",
              message: `the edit of ${visible(source.path)} is not applied, and what runs goes on as before: ${problem.message}`,
            },
      );
      throw error;
    }
  }

  /**
   * Whether its servers may start. Throws UNTRUSTED for a text that would start something else than the last one, and
   * that nobody has approved.
   */
  async #judge(
    file: string,
    { launches, isYours }: Pick<ConfigVersion, "launches" | "isYours">,
    last: ConfigVersion,
  ): Promise<boolean> {
    if (await this.#isApproved(file, { launches })) return true;
    if (isYours) return true;
    if (!last.isTrusted) return false;
    const started = new Map(last.launches.map(({ label, hash }) => [label, hash]));
    const change = judgeTrust(started, launches);
    if (change.kind === "trusted") return true;
    throw this.#waits(file, change);
  }

  async #isApproved(file: string, { launches }: Pick<ConfigVersion, "launches">): Promise<boolean> {
    const record = await this.#trust.find(file);
    return judgeTrust(record?.approved, launches).kind === "trusted";
  }

  /** Names what is new, and not its values: logs are kept, and a definition can hold credentials. */
  #waits(file: string, change: Trust): PlugboardError {
    const what = changeLines(change).map((line) => line.trim());
    const message = `the edit of ${visible(file)} changes what is started (${what.join("; ")}), so it waits for you; what runs goes on as before`;
    const { source } = this;
    const command =
      source.kind === "file" && source.from === "directory"
        ? `run in ${shellQuoted(dirname(file))}: plugboard reload`
        : `run: plugboard --config ${shellQuoted(file)} reload`;
    return new PlugboardError("UNTRUSTED", message, {
      hint: `to look at it and approve it, ${command}`,
    });
  }

  /** Tells each problem once. */
  #setUnapplied(edit: UnappliedEdit | undefined): void {
    if (edit?.message === this.#unapplied?.message) return;
    this.#unapplied = edit;
    if (edit !== undefined) this.#context.logger.warn(edit.message);
    this.#listener?.onUnapplied?.(edit);
  }

  #tell(report: ReloadReport): void {
    const parts = (["added", "changed", "removed"] as const).flatMap((kind) =>
      report[kind].length === 0 ? [] : [`${kind}: ${report[kind].map(visible).join(", ")}`],
    );
    const what = parts.length === 0 ? "no server has changed" : parts.join("; ");
    this.#context.logger.info(`the configuration was reloaded; ${what}`, { visit: "reload" });
  }

  /** Such an edit needs no approval, so whoever has not made it should at least hear of it. */
  #tellGuards({ guards: before }: ConfigVersion, { guards }: Pick<ConfigVersion, "guards">): void {
    const changed = [...before].filter(([label, hash]) => (guards.get(label) ?? hash) !== hash);
    if (changed.length === 0 || this.source.kind !== "file") return;
    const labels = changed.map(([label]) => visible(label)).join(", ");
    this.#context.logger.warn(
      `an edit of ${visible(this.source.path)} has changed which calls are allowed or asked about (${labels}); if that was not you, look at the file`,
    );
  }

  /** Rejects with CONFIG_INVALID for a file that is wrong anywhere. */
  async #read(file: string): Promise<Omit<ConfigVersion, "isTrusted">> {
    // Looked at once: a link that is turned to your home and back must not make another file yours.
    const { path, isYours } = await locate(file, this.#context.io);
    const bytes = await readConfigBytes(path, { mayBePipe: this.#version === undefined });
    const text = decodeConfig(file, bytes);
    await loadConfig(file, this.#context.options.agent, this.#readOptions(text));
    const { all: launches, guards } = await readLaunches(file, text);
    return { text, hash: hashOfFile(bytes), launches, guards, isYours };
  }

  #readOptions(text: string): { cwd: string; homedir: string; text: string } {
    const { cwd, homedir } = this.#context.io;
    return { cwd, homedir, text };
  }

  get #home(): string {
    const { env, homedir } = this.#context.io;
    return plugboardHome(env, homedir);
  }
}

/** Whether it is in Plugboard's home, and no link from or to somewhere else: nobody but you writes there. */
export async function isFileYours(
  file: string,
  io: Pick<CliIo, "env" | "homedir">,
): Promise<boolean> {
  return (await locate(file, io)).isYours;
}

/**
 * The file without links, and whether it is yours. Both the place that was named and the file there have to be in the
 * home: it also has files with words of others in it, such as saved results, and a link to one of those is easily made.
 */
async function locate(
  file: string,
  { env, homedir }: Pick<CliIo, "env" | "homedir">,
): Promise<{ path: string; isYours: boolean }> {
  const place = placeOf(file);
  try {
    const home = await realpath(plugboardHome(env, homedir));
    const path = await realpath(place);
    const isInside = [place, path].every((each) => isWithin(home, each));
    const writable = isInside ? [path, dirname(path), dirname(place)] : [];
    const others = writable.some((each) => otherWriters(each, env) !== undefined);
    return { path, isYours: isInside && !others };
  } catch {
    // Whoever reads it says why it cannot be read.
    return { path: file, isYours: false };
  }
}

function isRegularFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}

function isWithin(directory: string, path: string): boolean {
  const way = relative(directory, path);
  return way !== "" && way.split(sep)[0] !== ".." && !isAbsolute(way);
}

/** Calls `tell` with the names, joined, unless they are those of the last time. */
export function onceEach(tell: (names: string) => void): (names: readonly string[]) => void {
  let last = "";
  return (names) => {
    const text = names.join(", ");
    if (text !== last && text !== "") tell(text);
    last = text;
  };
}
