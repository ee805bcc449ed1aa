// Loads the configuration of a command that is soon over, without the files that nobody has trusted. The text that is
// judged and the text that is loaded are the same, even if the file changes in between.

import { type FileSource, filesOf } from "../../core/config/find.ts";
import { agentIdsIn, loadConfig } from "../../core/config/load.ts";
import { readConfigText } from "../../core/config/text/read.ts";
import { plugboardHome } from "../../core/config/home.ts";
import { TrustStore } from "../../core/config/trust/trust-store.ts";
import type { AgentConfig, UntrustedFile } from "../../core/types/agent-config.ts";
import { PlugboardError } from "../../core/types/errors.ts";
import { visible } from "../../util/visible.ts";
import type { CliContext } from "../context.ts";
import { judgeFile, type Judgement, waitingFor } from "./judge-file.ts";
import { needsTrust } from "./needs-trust.ts";
import { leftOutLines, requireTrust, untrusted, waitingLines } from "./require-trust.ts";
import { loadUsed, remedyFor, withUntrusted } from "./untrusted-files.ts";

const NOTHING: ReadonlySet<string> = new Set();

export interface TrustedConfig {
  /** What is left of the source: your own file, where the one in the directory is not trusted. */
  source: FileSource;
  agent: AgentConfig;
}

export interface LoadTrustedOptions {
  /** The command needs only rules: a file that is not trusted is left out, even if there is no other. */
  onlyRules?: boolean;
  /** The command shows in its own words what waits for approval, if it can go on without it. */
  showsUntrusted?: boolean;
}

/**
 * Rejects with UNTRUSTED, or CONFIG_INVALID. Undefined if nothing may be used, which is only so with `onlyRules`. If the
 * file in the directory is not trusted and you have one of your own, you are told, and yours is used alone.
 */
export async function loadTrusted(
  source: FileSource,
  context: CliContext,
  { onlyRules = false, showsUntrusted = false }: LoadTrustedOptions = {},
): Promise<TrustedConfig | undefined> {
  const { io, options, logger, screen } = context;
  const { cwd, homedir } = io;
  const isTold = !onlyRules && !showsUntrusted;
  if (!needsTrust(source, io)) {
    return { source, agent: await loadConfig(source.path, options.agent, { cwd, homedir }) };
  }
  const [own] = source.base === undefined ? [] : filesOf(source);
  const mayBeLeftOut = own !== undefined || onlyRules;
  const { text, judgement, obstacle }: ProjectText = mayBeLeftOut
    ? await readProject(source, context)
    : { text: await readConfigText(source.path) };
  if (obstacle === undefined) {
    const baseText = own && (await readConfigText(own.path));
    const { base } = source;
    const read = { cwd, homedir, text, base, baseText };
    const whole = await loadConfig(source.path, options.agent, read);
    const judged = judgement ?? (await requireTrust(source, text, context));
    const judgedOwn =
      own && needsTrust(own, io) ? await requireTrust(own, baseText ?? "", context) : undefined;
    const isChanged = [judged, judgedOwn].some((each) => each && each.trust.kind !== "trusted");
    if (!isChanged) return { source, agent: whole };
    const waiting = waitingFor(judged, options.agent);
    const waitingOwn = judgedOwn ? waitingFor(judgedOwn, options.agent) : NOTHING;
    const agent = await loadUsed(source.path, options.agent, read, (file) => ({
      names: file === own?.path ? waitingOwn : waiting,
    }));
    if (!mayBeLeftOut && agent.servers.every(({ enabled }) => !enabled)) {
      throw untrusted(source, judged, context);
    }
    const changed = [
      ...(judged.trust.kind === "trusted" ? [] : waitingLines(source, judged)),
      ...(own && judgedOwn && judgedOwn.trust.kind !== "trusted"
        ? waitingLines(own, judgedOwn)
        : []),
    ];
    if (isTold) for (const line of changed) screen.note(line);
    return { source, agent };
  }
  if (onlyRules) {
    const why = obstacle instanceof PlugboardError ? "is not valid" : "is not trusted";
    logger.warn(
      `${visible(source.path)} ${why}, so its rules do not apply; to look at it: plugboard trust`,
    );
  } else if (obstacle instanceof PlugboardError) {
    screen.note(`plugboard: only your own servers are used: ${obstacle.message}`);
  } else if (isTold) {
    for (const line of leftOutLines(source, obstacle, context)) screen.note(line);
  }
  const used = own && (await loadTrusted(own, context, { showsUntrusted }));
  if (used === undefined || onlyRules || obstacle instanceof PlugboardError) return used;
  const shown = await untrustedFile(source, text, context);
  return { ...used, agent: withUntrusted(used.agent, [shown]) };
}

/** What the user reads about a file that is left out. */
async function untrustedFile(
  { path }: FileSource,
  text: string,
  { io, options }: CliContext,
): Promise<UntrustedFile> {
  const { cwd, homedir } = io;
  const { agent } = options;
  const read = { cwd, homedir, text };
  const isKnown = agent !== undefined && (await agentIdsIn(path, read)).includes(agent);
  const { servers } = await loadConfig(path, isKnown ? agent : undefined, read);
  return { file: path, remedy: remedyFor(path), servers };
}

export interface ProjectText {
  /** Empty if it cannot be read. */
  text: string;
  /** Absent if nobody has judged the file yet. */
  judgement?: Judgement;
  /** Why the file is left out. */
  obstacle?: Judgement | PlugboardError;
}

/**
 * Reads the file in the directory. Somebody else's mistake does not keep you from your own servers; in a file that you have
 * trusted once, it is most likely yours, and is thrown.
 */
export async function readProject(
  source: FileSource,
  { io, options }: Pick<CliContext, "io" | "options">,
): Promise<ProjectText> {
  const { env, cwd, homedir } = io;
  let text = "";
  try {
    text = await readConfigText(source.path);
    await loadConfig(source.path, undefined, { cwd, homedir, text });
  } catch (error) {
    const store = new TrustStore(plugboardHome(env, homedir));
    const isKnown = (await store.find(source.path)) !== undefined;
    if (isKnown || !(error instanceof PlugboardError)) throw error;
    return { text, obstacle: error };
  }
  const judgement = await judgeFile(source, io, text);
  const isLeftOut = waitingFor(judgement, options.agent) === "all";
  return { text, judgement, ...(isLeftOut && { obstacle: judgement }) };
}
