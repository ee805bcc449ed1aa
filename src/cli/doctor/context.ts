// What the checks of `plugboard doctor` share: the configuration, read once, and the board of the gateway that runs, opened
// when the first check needs it. Neither stops the checks that can do without it.

import { join } from "node:path";
import { Writable } from "node:stream";
import type { FileSource } from "../../core/config/find.ts";
import { plugboardHome } from "../../core/config/home.ts";
import type { AgentConfig } from "../../core/types/agent-config.ts";
import { type PlugboardError, toPlugboardError, unknownServer } from "../../core/types/errors.ts";
import { silentLogger } from "../../core/types/logger.ts";
import { checkHome } from "../../core/state/state-directory.ts";
import { deferred } from "../../util/deferred.ts";
import type { CliContext } from "../context.ts";
import { findChannel } from "../attach/find-channel.ts";
import type { CliIo } from "../io.ts";
import { findSource } from "../find-source.ts";
import { type OpenedBoard, withBoard } from "../open.ts";
import { isAttended } from "../questions/attended.ts";
import { Screen } from "../terminal/screen.ts";
import { loadTrusted } from "../trust/load-trusted.ts";
import { type EditorPath, findEditorPath } from "./editor-path.ts";

export type DoctorConfig =
  /** There is no file. */
  | { kind: "none" }
  | { kind: "usable"; source: FileSource; agent: AgentConfig }
  /**
   * The configuration is valid, but somebody else could have written it: nothing of it is used until Plugboard's files
   * are yours alone.
   */
  | { kind: "withheld"; source: FileSource }
  /** The configuration cannot be read, is wrong, or is not trusted. */
  | { kind: "unusable"; error: PlugboardError };

export interface DoctorContext {
  /** For the terminal, the clock and the signal. Checks print nothing themselves. */
  readonly cli: CliContext;
  /** The same without output and logs: each finding has the words that matter. */
  readonly quiet: CliContext;
  /** The only server to look at, if one was named. */
  readonly server: string | undefined;
  /** Where Plugboard keeps its files. */
  readonly home: string;
  /** False if the working directory is gone; then everything is as in the home directory. */
  readonly hasDirectory: boolean;
  readonly config: () => Promise<DoctorConfig>;
  /**
   * Attaches to the gateway that runs, with the first use; undefined where none runs that can be used. The same board for
   * every group, closed when the last one is done.
   */
  readonly gateway: () => Promise<OpenedBoard | undefined>;
  /** What a program that was started from a desktop has as PATH. Asks the login shell with the first use. */
  readonly editorPath: () => Promise<EditorPath>;
}

/** Gives `use` a context, and stops what it has started. Rejects with UNKNOWN_SERVER for a server that is not there. */
export async function withDoctorContext<Result>(
  context: CliContext,
  server: string | undefined,
  use: (doctor: DoctorContext) => Promise<Result>,
): Promise<Result> {
  const cwd = workingDirectory(context.io);
  const cli = cwd === undefined ? { ...context, io: withHomeAsDirectory(context.io) } : context;
  const { env, homedir } = cli.io;
  const quiet: CliContext = { ...cli, logger: silentLogger, screen: unseenScreen(cli) };
  const config = once(() => readConfig(quiet));
  const done = deferred();
  let closed: Promise<unknown> = Promise.resolve();
  const gateway = once(async (): Promise<OpenedBoard | undefined> => {
    const found = await config();
    if (found.kind !== "usable") return undefined;
    const { kind } = await findChannel(found.source, quiet);
    if (kind !== "attach") return undefined;
    const attached = deferred<OpenedBoard | undefined>();
    closed = withBoard(
      quiet,
      {
        start: "none",
        server,
        showsRules: true,
        // Nobody is asked anything: it only looks.
        onApproval: () => "refuse",
        ...(isAttended(cli) && { onElicitation: () => Promise.resolve({ action: "cancel" }) }),
      },
      async (opened) => {
        // It may have ended in between.
        if (opened.attachment === undefined) return attached.resolve(undefined);
        attached.resolve(opened);
        await done.promise;
      },
    ).catch(() => attached.resolve(undefined));
    return attached.promise;
  });
  try {
    // Read separately: a mistake in the file may be repaired by the time the checks read it again.
    if (server !== undefined) requireServer(server, await readConfig(quiet));
    return await use({
      cli,
      quiet,
      server,
      home: homeOf(env, homedir),
      hasDirectory: cwd !== undefined,
      config,
      gateway,
      editorPath: once(() => findEditorPath(quiet)),
    });
  } finally {
    done.resolve();
    await closed;
  }
}

/** Undefined if it has been removed. */
function workingDirectory(io: CliIo): string | undefined {
  try {
    return io.cwd;
  } catch {
    return undefined;
  }
}

function withHomeAsDirectory(io: CliIo): CliIo {
  const { stdout, stderr, env, homedir, clock, events } = io;
  return {
    get stdin() {
      return io.stdin;
    },
    stdout,
    stderr,
    env,
    cwd: homedir,
    homedir,
    clock,
    events,
    exit: (code) => io.exit(code),
  };
}

/** A relative $PLUGBOARD_HOME means nothing where there is no working directory. */
function homeOf(env: CliIo["env"], homedir: string): string {
  try {
    return plugboardHome(env, homedir);
  } catch {
    return join(homedir, ".plugboard");
  }
}

async function readConfig(context: CliContext): Promise<DoctorConfig> {
  try {
    const source = findSource(context);
    if (source.kind === "demo") return { kind: "none" };
    const loaded = await loadTrusted(source, context);
    if (loaded === undefined) return { kind: "none" };
    const { env, homedir } = context.io;
    if (!isHomeSafe(homeOf(env, homedir), env)) return { kind: "withheld", source: loaded.source };
    return { kind: "usable", ...loaded };
  } catch (error) {
    return { kind: "unusable", error: toPlugboardError(error, "CONFIG_INVALID") };
  }
}

function isHomeSafe(home: string, env: CliIo["env"]): boolean {
  try {
    checkHome(home, env);
    return true;
  } catch {
    return false;
  }
}

/** A configuration that cannot be used is a finding of its own. */
function requireServer(name: string, config: DoctorConfig): void {
  if (config.kind === "unusable" || config.kind === "withheld") return;
  const { servers = [], untrusted = [] } = config.kind === "usable" ? config.agent : {};
  const known = [...servers, ...untrusted.flatMap((each) => each.servers)].map((each) => each.name);
  if (!known.includes(name)) throw unknownServer(name, known);
}

export function unseenScreen({ screen, clock }: CliContext): Screen {
  const nowhere = new Writable({ write: (_chunk, _encoding, written) => written() });
  return new Screen(nowhere, nowhere, { ...screen.terminal, live: false }, clock);
}

/** Called with the first use; later ones get the same promise. */
function once<Value>(get: () => Promise<Value>): () => Promise<Value> {
  let value: Promise<Value> | undefined;
  return () => (value ??= get());
}
