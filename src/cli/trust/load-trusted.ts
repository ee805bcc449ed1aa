// Loads the configuration of a command that is soon over, without the files that nobody has trusted. The text that is
// judged and the text that is loaded are the same, even if the file changes in between.

import { type FileSource, filesOf } from "../../core/config/find.ts";
import { agentIdsIn, loadConfig } from "../../core/config/load.ts";
import { readConfigText } from "../../core/config/text/read.ts";
import { plugboardHome } from "../../core/config/home.ts";
import { TrustStore } from "../../core/config/trust/trust-store.ts";
import {
  type AgentConfig,
  DEFAULT_AGENT,
  type UntrustedFile,
} from "../../core/types/agent-config.ts";
import type { ServerDefinition } from "../../core/types/server-definition.ts";
import { PlugboardError } from "../../core/types/errors.ts";
import { visible } from "../../util/visible.ts";
import type { CliContext } from "../context.ts";
import { judgeFile, type Judgement, waitingFor } from "./judge-file.ts";
import { needsTrust } from "./needs-trust.ts";
import { leftOutLines, requireTrust, untrusted, partlyUsedLines } from "./require-trust.ts";
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
  /** The server that the command is about: if it waits for approval, the command fails and says so. */
  about?: string | undefined;
}

/**
 * Rejects with UNTRUSTED, or CONFIG_INVALID. Undefined if nothing may be used, which is only so with `onlyRules`. If the
 * file in the directory is not trusted and you have one of your own, you are told, and yours is used alone.
 */
export async function loadTrusted(
  source: FileSource,
  context: CliContext,
  { onlyRules = false, showsUntrusted = false, about }: LoadTrustedOptions = {},
): Promise<TrustedConfig | undefined> {
  const { io, options, logger, screen } = context;
  const { cwd, homedir } = io;
  const isTold = (left: readonly UntrustedFile[] = []): boolean =>
    !onlyRules && !showsUntrusted && !left.some(({ servers }) => servers.some(isNamed));
  const isNamed = ({ name }: ServerDefinition): boolean => name === about;
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
      ...(judged.trust.kind === "trusted" ? [] : partlyUsedLines(source, judged)),
      ...(own && judgedOwn && judgedOwn.trust.kind !== "trusted"
        ? partlyUsedLines(own, judgedOwn)
        : []),
    ];
    if (isTold(agent.untrusted)) for (const line of changed) screen.note(line);
    return { source, agent };
  }
  const shown =
    onlyRules || obstacle instanceof PlugboardError
      ? undefined
      : await untrustedFile(source, text, context);
  if (onlyRules) {
    const why = obstacle instanceof PlugboardError ? "is not valid" : "is not trusted";
    logger.warn(
      `${visible(source.path)} ${why}, so its rules do not apply; to look at it: plugboard trust`,
    );
  } else if (obstacle instanceof PlugboardError) {
    screen.note(`plugboard: only your own servers are used: ${obstacle.message}`);
  } else {
    // Your own file cannot stand in for an agent that only the other one has.
    if (own && !(await hasAgent(own, context)) && (await hasAgent(source, context, text))) {
      throw untrusted(source, obstacle, context);
    }
    if (isTold(shown && [shown])) {
      for (const line of leftOutLines(source, obstacle, context)) screen.note(line);
    }
  }
  const used = own && (await loadTrusted(own, context, { showsUntrusted, about }));
  if (used === undefined || shown === undefined) return used;
  return { ...used, agent: withUntrusted(used.agent, [shown]) };
}

/** What the user reads about a file that is left out. */
async function untrustedFile(
  source: FileSource,
  text: string,
  context: CliContext,
): Promise<UntrustedFile> {
  const { path } = source;
  const { io, options } = context;
  const { cwd, homedir } = io;
  const agent = (await hasAgent(source, context, text)) ? options.agent : undefined;
  const { servers } = await loadConfig(path, agent, { cwd, homedir, text });
  return { file: path, remedy: remedyFor(path), servers };
}

/** Whether the file has the agent that is asked for. Every file has the default one. */
async function hasAgent(
  { path }: FileSource,
  { io, options }: CliContext,
  text?: string,
): Promise<boolean> {
  const { cwd } = io;
  const { agent = DEFAULT_AGENT } = options;
  if (agent === DEFAULT_AGENT) return true;
  const ids = await agentIdsIn(path, { cwd, ...(text !== undefined && { text }) });
  return ids.includes(agent);
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
    await loadConfig(source.path, undefined, { cwd, homedir, text, base: source.base });
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
