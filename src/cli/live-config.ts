// The configuration of a command that runs for long, with the file that it lies over: as it was read when the command
// started, and every edit that has been applied since. An edit that changes what is started waits for a person, unless
// the file is in Plugboard's home: a `git pull`, or an agent that writes files, must not start commands.

import { statSync } from "node:fs";
import { randomBytes } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { dirname } from "node:path";
import {
  type ConfigSource,
  filesOf,
  type FileSource,
  ownFile,
  withBase,
} from "../core/config/find.ts";
import { type Fingerprint, hashOfFile, takeFingerprint } from "../core/config/fingerprint.ts";
import { type GatewayConfig, gatewaySettings, loadGateway } from "../core/config/gateway.ts";
import { plugboardHome } from "../core/config/home.ts";
import { configInvalid } from "../core/config/issue.ts";
import { agentIdsIn, loadConfig, type LoadConfigOptions } from "../core/config/load.ts";
import { withoutOwner } from "../core/config/layers/files.ts";
import { parseAgentConfig } from "../core/config/parse.ts";
import { decodeConfig, readConfigBytes } from "../core/config/text/read.ts";
import {
  changesSettings,
  hasSameSettings,
  judgeTrust,
  type Launch,
  type Trust,
  waitingServers,
} from "../core/config/trust/trust.ts";
import { digestOf, trustFile } from "../core/config/trust/trust-store.ts";
import { FileWatch } from "../core/config/watch.ts";
import { type AgentConfig, DEFAULT_AGENT, type UntrustedFile } from "../core/types/agent-config.ts";
import type { ReloadReport } from "../core/types/board.ts";
import { PlugboardError, toPlugboardError } from "../core/types/errors.ts";
import type { ServerDefinition } from "../core/types/server-definition.ts";
import { removeStaleTemporaries } from "../core/state/stale-files.ts";
import { checkHome } from "../core/state/state-directory.ts";
import { shellQuoted } from "../util/text.ts";
import { visible } from "../util/visible.ts";
import type { UnappliedEdit } from "../serve/gateway/monitoring/status.ts";
import type { CliContext } from "./context.ts";
import { findSource } from "./find-source.ts";
import { withoutFile } from "./open.ts";
import { judgeFile, type Judgement } from "./trust/judge-file.ts";
import { readProject } from "./trust/load-trusted.ts";
import { needsTrust } from "./trust/needs-trust.ts";
import { locateFile } from "./trust/own-file.ts";
import { loadUsed, remedyFor, type Waiting, withUntrusted } from "./trust/untrusted-files.ts";
import { changeLines } from "./trust/view.ts";

/** One text of a file. Everything that is read of it comes from this text, whatever is on disk by then. */
interface FileVersion {
  path: string;
  text: string;
  /** The hash of the file's bytes. */
  hash: string;
  launches: readonly Launch[];
  /** What decides which calls are allowed: hashes by label. */
  guards: ReadonlyMap<string, string>;
  /** The text is that of a file in Plugboard's home. */
  isYours: boolean;
  /** How the text looks to whoever has approved `approved`. What waits is not used; only the names of its servers are. */
  trust: Trust;
  /** The hashes by label that a person has approved. */
  approved: ReadonlyMap<string, string> | undefined;
  /** The last text that was used as a whole. Undefined if there was none. */
  agreed: string | undefined;
  /** By agent, the servers that run on as they were before an edit of them, which waits. */
  held: ReadonlyMap<string, readonly ServerDefinition[]>;
}

type ReadText = Pick<FileVersion, "path" | "text" | "hash" | "isYours">;

interface ConfigVersion {
  source: FileSource;
  file: FileVersion;
  /** The file that it lies over. */
  base?: FileVersion;
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
  readonly #found: ConfigSource;
  readonly #context: CliContext;
  #version: ConfigVersion | undefined;
  #unapplied: UnappliedEdit | undefined;
  #listener: LiveConfigListener | undefined;
  #watch: FileWatch | undefined;
  /** One look at a time. */
  #looking: Promise<unknown> = Promise.resolve();

  private constructor(source: ConfigSource, context: CliContext) {
    this.#found = source;
    this.#context = context;
  }

  /** Rejects with CONFIG_INVALID for a file that is invalid, or lacks the agent of the command. */
  static async open(context: CliContext): Promise<LiveConfig> {
    const { env, homedir } = context.io;
    const home = plugboardHome(env, homedir);
    checkHome(home, env);
    const found = await withoutMistakes(findSource(context), context);
    const config = new LiveConfig(found, context);
    if (found.kind === "file") config.#version = await config.#read(found);
    else await config.readAgent();
    const beside = found.kind === "file" ? [found.path] : [];
    // What runs for long cleans up after those that were killed. Nobody waits for it.
    void removeStaleTemporaries({ stateDir: home, beside, now: context.clock.now() });
    return config;
  }

  /** With the file that is beneath now. */
  get source(): ConfigSource {
    return this.#version?.source ?? this.#found;
  }

  /** The text of one of the files before an edit that waits; the text itself if none does. Undefined if it was never used. */
  agreedText(path: string): string | undefined {
    const version = this.#version;
    return version && filesIn(version).find((each) => each.path === path)?.agreed;
  }

  /** The edit that is not applied, if there is one. */
  get unapplied(): UnappliedEdit | undefined {
    return this.#unapplied;
  }

  /**
   * The agent of the command, or another one. Without a configuration there are no servers: the demo is only for people
   * at a terminal. Of a file that nobody trusts, the servers are only shown: its model, system prompt and rules are left
   * out, since using them would already be acting on it.
   */
  async readAgent(id = this.#context.options.agent): Promise<AgentConfig> {
    const version = this.#version;
    if (version === undefined) {
      const { options } = this.#context;
      return withoutFile({ options: { ...options, agent: id } }, nothingConfigured);
    }
    const files = filesIn(version);
    const untrusted = files.filter((each) => !isUsed(each, id));
    if (untrusted.length === 0) return this.#load(version, id);
    const shown = await Promise.all(untrusted.map((each) => this.#loadAlone(each, id)));
    const trusted = files.find((each) => isUsed(each, id));
    const agent =
      trusted && (await this.#hasAgent(trusted, id))
        ? await this.#loadAlone(trusted, id)
        : { ...nothingConfigured(), warnings: shown.flatMap(({ warnings }) => warnings) };
    const named = { ...agent, agentId: id ?? DEFAULT_AGENT, file: agent.file ?? version.file.path };
    const unused = untrusted.map(({ path }, index): UntrustedFile => {
      const { servers = [], untrusted: waiting = [] } = shown[index] ?? {};
      const all = [...servers, ...waiting.flatMap((each) => each.servers)];
      return { file: path, remedy: remedyFor(path), servers: all };
    });
    return withUntrusted(named, [...(agent.untrusted ?? []), ...unused]);
  }

  /**
   * The settings of the gateway. Of a file that nobody trusts, only the names of the agents are used: its settings could
   * open the gateway to the network, to web pages, or to whoever somebody else's issuer vouches for.
   */
  async readGateway(): Promise<GatewayConfig> {
    const version = this.#version;
    if (version === undefined) return { settings: gatewaySettings(), agentIds: [DEFAULT_AGENT] };
    const { file, base } = version;
    const all = await loadGateway(file.path, this.#textsOf(file, base));
    const files = filesIn(version);
    if (files.every((each) => isUsed(each))) return all;
    const trusted = files.find((each) => isUsed(each));
    const used = trusted && (await loadGateway(trusted.path, this.#textsOf(trusted)));
    const { settings } = used ?? { settings: gatewaySettings() };
    if (!isDeepStrictEqual(all.settings, settings)) {
      const paths = files.flatMap((each) => (isUsed(each) ? [] : [visible(each.path)]));
      this.#context.logger.warn(
        `${paths.join(" and ")} is not trusted, so its settings of the gateway are not used; if you trust it, run in its directory: plugboard trust`,
      );
    }
    return { ...used, settings, agentIds: all.agentIds };
  }

  /** What a gateway with this configuration runs with, for its record. Undefined without a file. */
  async fingerprint(): Promise<Fingerprint | undefined> {
    const version = this.#version;
    if (version === undefined) return undefined;
    const { source, file, base } = version;
    const { agentIds } = await loadGateway(file.path, this.#textsOf(file, base));
    const agents = await Promise.all(agentIds.map((id) => this.#withoutHeld(version, id)));
    const { env, cwd } = this.#context.io;
    const salt = randomBytes(16).toString("hex");
    const { record, trust } = await judgeFile(source, this.#context.io, file.text);
    return {
      ...takeFingerprint(agents, { file: file.hash, base: base?.hash, salt, env, cwd }),
      ...(record && trust.kind === "trusted" && { trust: digestOf(record) }),
    };
  }

  /** Another command does not have a server of which an edit waits, so nothing is shared under its name. */
  async #withoutHeld(version: ConfigVersion, id: string): Promise<AgentConfig> {
    const agent = await this.readAgent(id);
    const held = new Set(
      filesIn(version).flatMap((each) => (each.held.get(id) ?? []).map(({ name }) => name)),
    );
    return { ...agent, servers: agent.servers.filter(({ name }) => !held.has(name)) };
  }

  /** Applies edits from now on, within a second. */
  follow(listener: LiveConfigListener): void {
    this.#listener = listener;
    const found = this.#found;
    // A pipe (`--config <(…)`) has nothing more to say.
    if (found.kind !== "file" || !isRegularFile(found.path)) return;
    const { env, homedir } = this.#context.io;
    // The file beneath may be made later.
    const beneath = found.from === "directory" ? [ownFile(env, homedir)] : [];
    // An approval is an edit too: of the record of what is trusted.
    const trust = trustFile(plugboardHome(env, homedir));
    this.#watch = new FileWatch([found.path, ...beneath, trust], {
      clock: this.#context.clock,
      onChange: async () => {
        // The failure has been reported already.
        await this.#lookNext(false).catch(() => {});
      },
    });
  }

  /** Looks whether the files have changed, without waiting for the watch to say so. What is wrong with them is `unapplied`. */
  async look(): Promise<void> {
    await this.#lookNext(false).catch(() => {});
  }

  /**
   * Looks at the files now. Rejects with CONFIG_INVALID for one that cannot be used, and with UNTRUSTED for an edit that
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
    const found = this.#found;
    const listener = this.#listener;
    if (found.kind !== "file" || last === undefined || listener === undefined) return nothing;
    let waiting: PlugboardError | undefined;
    let report = nothing;
    try {
      const version = await this.#read(withBase(found, this.#context.io), last);
      waiting = this.#waitingIn(version);
      const isSame = isSameVersion(version, last);
      if (isSame && !isAsked) {
        if (this.#unapplied !== undefined && waiting === undefined) this.#tell(nothing);
      } else {
        this.#version = version;
        report = await listener.apply();
        this.#tell(report);
        for (const now of filesIn(version)) {
          const before = filesIn(last).find(({ path }) => path === now.path);
          if (before && isUsed(before) && isUsed(now) && !now.isYours)
            this.#tellGuards(before, now);
        }
      }
      this.#setUnapplied(waiting && waitingEdit(waiting));
    } catch (error) {
      this.#version = last;
      const problem = toPlugboardError(error, "CONFIG_INVALID");
      const file = problem.problems?.[0]?.file ?? found.path;
      this.#setUnapplied(
        problem.code === "UNTRUSTED"
          ? waitingEdit(problem)
          : {
              kind: "invalid",
              message: `the edit of ${visible(file)} is not applied, and what runs goes on as before: ${problem.message}`,
            },
      );
      throw error;
    }
    if (isAsked && waiting !== undefined) throw waiting;
    return report;
  }

  /** Rejects with CONFIG_INVALID for a file that is wrong anywhere, and with UNTRUSTED for an edit that has to wait. */
  async #read(source: FileSource, last?: ConfigVersion): Promise<ConfigVersion> {
    const { options } = this.#context;
    const files: ReadText[] = [];
    for (const each of filesOf(source)) {
      const mayBePipe = last === undefined && each.from !== "directory";
      files.push(await this.#readText(each, mayBePipe));
    }
    const [file, base] = files.toReversed() as [ReadText, ReadText | undefined];
    // Both files are loaded together, since either may have the agent.
    const { warnings } = await loadConfig(source.path, options.agent, this.#textsOf(file, base));
    refuseMisspelled(warnings);
    const judged = async (of: ReadText, whole: FileSource): Promise<FileVersion> => {
      const judgement = await judgeFile(whole, this.#context.io, of.text);
      const { all, guards } = judgement.launches;
      const before = last && filesIn(last).find(({ path }) => path === of.path);
      const read = { ...of, launches: all, guards };
      const decision = this.#decide(read, whole, judgement, before);
      const agreed = decision.trust.kind === "trusted" ? of.text : before?.agreed;
      const decided = { ...read, ...decision, agreed };
      return { ...decided, held: before ? await this.#heldFrom(before, decided) : new Map() };
    };
    return {
      source,
      file: await judged(file, source),
      ...(base && { base: await judged(base, { kind: "file", path: base.path, from: "home" }) }),
    };
  }

  async #readText({ path: file }: FileSource, mayBePipe: boolean): Promise<ReadText> {
    // Looked at once: a link that is turned to your home and back must not make another file yours.
    const { path, isYours } = await locateFile(file, this.#context.io);
    const bytes = await readConfigBytes(path, { mayBePipe });
    return { path: file, text: decodeConfig(file, bytes), hash: hashOfFile(bytes), isYours };
  }

  /** What of a text may be used. Throws UNTRUSTED for one that has to wait as a whole, while the text before it is used. */
  #decide(
    { path, launches, isYours }: Omit<FileVersion, "trust" | "approved" | "held" | "agreed">,
    source: FileSource,
    { trust: byRecord, record }: Judgement,
    last: FileVersion | undefined,
  ): Pick<FileVersion, "trust" | "approved"> {
    const recorded = { trust: byRecord, approved: record?.approved };
    if (byRecord.kind === "trusted") return recorded;
    // A text that started nothing was used without anybody's approval. Over a file of yours it needs one.
    const isUnseen = byRecord.kind === "new" && source.base !== undefined;
    if (isUnseen && last?.launches.length === 0) return recorded;
    // Naming a file approves it as it is then, and so does putting it into your home.
    if (last === undefined ? !needsTrust(source, this.#context.io) : isYours) {
      const approved = new Map(launches.map(({ label, hash }) => [label, hash]));
      return { trust: { kind: "trusted" }, approved };
    }
    if (last === undefined || !isUsed(last)) return recorded;
    const byLast = judgeTrust(last.approved, launches);
    const found = [{ trust: byLast, approved: last.approved }, recorded];
    const best =
      found.find(({ trust }) => trust.kind === "trusted") ??
      found.find(({ trust }) => !changesSettings(trust));
    if (best !== undefined) return best;
    // The settings of an agent that is not in use may wait as they are.
    if (hasSameSettings(last.launches, launches)) return { trust: byLast, approved: last.approved };
    throw this.#waits(path, source, byLast);
  }

  /** The servers that `now` has changed, as they were in `before`: a person has approved those. */
  async #heldFrom(
    before: FileVersion,
    now: Omit<FileVersion, "held">,
  ): Promise<FileVersion["held"]> {
    const held = new Map<string, readonly ServerDefinition[]>();
    if (now.trust.kind !== "changed") return held;
    const ids = await agentIdsIn(now.path, this.#textsOf(now));
    for (const id of new Set([DEFAULT_AGENT, ...ids])) {
      const names = waitingServers(now.trust, now.launches, id);
      if (names === "all" || names.size === 0 || !isUsed(before, id)) continue;
      const { servers } = await this.#loadAlone(before, id);
      held.set(
        id,
        servers.filter(({ name }) => names.has(name)),
      );
    }
    return held;
  }

  /** Why the servers that wait are not as the files have them. Undefined if none waits. */
  #waitingIn({ source, ...version }: ConfigVersion): PlugboardError | undefined {
    for (const file of filesIn({ source, ...version })) {
      const { path, trust } = file;
      if (trust.kind !== "changed" || !isUsed(file)) continue;
      const of = filesOf(source).find((each) => each.path === path) ?? source;
      return this.#waits(path, of, trust, true);
    }
    return undefined;
  }

  /** Names new servers and keys, but no values: logs are kept, and a definition can hold credentials. */
  #waits(file: string, { from }: FileSource, change: Trust, isPartly = false): PlugboardError {
    const what = changeLines(change).map((line) => line.trim());
    const why = `the edit of ${visible(file)} changes what is started (${what.join("; ")})`;
    const message = isPartly
      ? `${why}, so that waits for you: these servers go on as before, or do not start yet; everything else is applied`
      : `${why}, so it waits for you; what runs goes on as before`;
    const command =
      from === "directory"
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
  #tellGuards({ guards: before }: FileVersion, { path, guards }: FileVersion): void {
    const changed = [...before].filter(([label, hash]) => (guards.get(label) ?? hash) !== hash);
    if (changed.length === 0) return;
    const labels = changed.map(([label]) => visible(label)).join(", ");
    this.#context.logger.warn(
      `an edit of ${visible(path)} has changed which calls are allowed or asked about (${labels}); if that was not you, look at the file`,
    );
  }

  async #load({ file, base }: ConfigVersion, id: string | undefined): Promise<AgentConfig> {
    const agent = await loadUsed(file.path, id, this.#textsOf(file, base), (path) =>
      waitingOf(base !== undefined && path === base.path ? base : file, id),
    );
    return base === undefined && !file.isYours ? withoutOwner(agent) : agent;
  }

  /** The agent as one file has it, or else what the file has for every agent. */
  async #loadAlone(file: FileVersion, id: string | undefined): Promise<AgentConfig> {
    const known = (await this.#hasAgent(file, id)) ? id : undefined;
    const agent = await loadUsed(file.path, known, this.#textsOf(file), () => waitingOf(file, id));
    return file.isYours ? agent : withoutOwner(agent);
  }

  async #hasAgent(file: FileVersion, id: string = DEFAULT_AGENT): Promise<boolean> {
    if (id === DEFAULT_AGENT) return true;
    return (await agentIdsIn(file.path, this.#textsOf(file))).includes(id);
  }

  #textsOf({ text }: ReadText, base?: ReadText): LoadConfigOptions {
    const { cwd, homedir } = this.#context.io;
    return {
      cwd,
      homedir,
      text,
      ...(base !== undefined && { base: base.path, baseText: base.text }),
    };
  }
}

/**
 * In a file that is read as another application's, a block of ours is ignored if its name is misspelled. What runs unseen
 * must not run without its rules.
 */
function refuseMisspelled(warnings: AgentConfig["warnings"]): void {
  const misspelled = warnings.filter(({ isMisspelledBlock }) => isMisspelledBlock);
  if (misspelled.length === 0) return;
  const message = "unknown key, which would be ignored";
  throw configInvalid(misspelled.map((problem) => ({ ...problem, message })));
}

/** Your own file alone, if the one in the directory is not valid and was never trusted. */
async function withoutMistakes(source: ConfigSource, context: CliContext): Promise<ConfigSource> {
  const [own] = source.kind === "file" && source.base !== undefined ? filesOf(source) : [];
  if (own === undefined || source.kind !== "file") return source;
  const { obstacle } = await readProject(source, context);
  if (!(obstacle instanceof PlugboardError)) return source;
  context.logger.warn(
    `${visible(source.path)} is left out until this command is started again: ${obstacle.message}`,
  );
  return own;
}

function waitingOf({ trust, launches, held }: FileVersion, id: string = DEFAULT_AGENT): Waiting {
  return { names: waitingServers(trust, launches, id), held: held.get(id) };
}

/** Whether anything of the file is used for the agent. */
function isUsed(
  { trust, launches }: Pick<FileVersion, "trust" | "launches">,
  id = DEFAULT_AGENT,
): boolean {
  return waitingServers(trust, launches, id) !== "all";
}

function waitingEdit({ message, hint }: PlugboardError): UnappliedEdit {
  return { kind: "waiting", message: hint === undefined ? message : `${message}; ${hint}` };
}

function filesIn({ file, base }: ConfigVersion): FileVersion[] {
  return base === undefined ? [file] : [base, file];
}

function isSameVersion(one: ConfigVersion, other: ConfigVersion): boolean {
  const textOf = (version: ConfigVersion): unknown =>
    filesIn(version).map(({ path, hash, trust }) => [path, hash, trust]);
  return isDeepStrictEqual(textOf(one), textOf(other));
}

function nothingConfigured(): AgentConfig {
  return parseAgentConfig({ servers: {} });
}

function isRegularFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
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
