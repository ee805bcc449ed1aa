// The command line: reads it, runs one command within its lifetime, and gives the exit code.

import { plugboardHome } from "../core/config/home.ts";
import { PlugboardError } from "../core/types/errors.ts";
import { checkHome } from "../core/state/state-directory.ts";
import { outputProblem } from "../util/system-problem.ts";
import { plainText } from "../util/text.ts";
import { type Invocation, readCommandLine } from "./command-line.ts";
import type { CliContext } from "./context.ts";
import { errorJson, errorLines, knownError } from "./error-lines.ts";
import { EXIT, exitCodeFor } from "./exit-code.ts";
import { type CliIo, processIo } from "./io.ts";
import { Lifetime } from "./lifetime.ts";
import { commandsApart } from "./offered-command.ts";
import { createLog } from "./terminal/log.ts";
import { Screen } from "./terminal/screen.ts";
import { describeTerminal, type Paint, type Terminal } from "./terminal/terminal.ts";

/** Resolves to the exit code when nothing is left running. Never rejects. */
export async function runCli(
  argv: readonly string[],
  io: CliIo = processIo(),
  read: ReadInvocation = readInvocation,
): Promise<number> {
  const invocation = await read(argv, io);
  const options = invocation.kind === "answered" ? undefined : invocation.options;
  const terminal = describeTerminal(io, options?.color);
  const screen = new Screen(io.stdout, io.stderr, terminal, io.clock, await lineWrapper(terminal));
  const { paint } = terminal.err;
  const print = (lines: readonly string[]): void => lines.forEach((line) => screen.note(line));
  /** Prints what happened, and returns the exit code. */
  const report = (error: unknown): number => {
    print(errorLines(error, { options, paint }));
    const known = knownError(error);
    return known ? exitCodeFor(known.code) : EXIT.internal;
  };
  const { stops = "the servers" } = invocation.kind === "run" ? invocation.traits : {};
  const lifetime = new Lifetime(io, {
    onFault: (error) => report(error),
    onSlowStop: () => print([`plugboard: stopping ${stops}; press Ctrl-C again to quit now`]),
    onOutputLost: (error) => print(outputLostLines(error, invocation, paint)),
  });
  const code =
    invocation.kind === "answered"
      ? answer(invocation, screen)
      : await runWithin(lifetime, invocation, { argv, io, screen, report });
  // What could not be written must be known before the exit code is.
  await lifetime.flush();
  lifetime.release();
  return lifetime.codeAfter(code);
}

/** Finds out what is asked for. A generated command line has words of its own. */
export type ReadInvocation = (argv: readonly string[], io: CliIo) => Promise<Invocation>;

const readInvocation: ReadInvocation = (argv, io) =>
  readCommandLine(argv, {
    out: (text) => io.stdout.write(text),
    err: (text) => io.stderr.write(text),
    get width() {
      return describeTerminal(io).out.width;
    },
  });

/** Measuring text takes a table of all characters: loaded where there is a terminal. */
async function lineWrapper({
  out,
  err,
}: Terminal): Promise<ConstructorParameters<typeof Screen>[4]> {
  return out.isTerminal || err.isTerminal
    ? (await import("./terminal/width.ts")).wrapLine
    : undefined;
}

/** Help and usage errors are printed already. */
function answer({ exitCode, error: message, hint }: Answered, screen: Screen): number {
  if (message !== undefined) screen.json({ error: { code: "INVALID_ARGUMENTS", message, hint } });
  return exitCode;
}

type Answered = Extract<Invocation, { kind: "answered" }>;
type ToRun = Extract<Invocation, { kind: "run" }>;

interface CommandSetup {
  argv: readonly string[];
  io: CliIo;
  screen: Screen;
  /** Prints an error to stderr, and returns the exit code. */
  report: (error: unknown) => number;
}

async function runWithin(
  lifetime: Lifetime,
  { name, traits, run, options, untyped }: ToRun,
  { argv, io, screen, report }: CommandSetup,
): Promise<number> {
  const { paint } = screen.terminal.err;
  let onWarning: (warning: Error) => void = () => {};
  try {
    // What speaks a protocol on stdin ends with it anyway.
    if (options.exitWithStdin && !traits.speaksOnStdio) {
      if (traits.readsStdin) throw stdinIsTaken();
      lifetime.endWithStdin();
    }
    if (traits.isEndless) lifetime.runAsService();
    const { clock, env, homedir } = io;
    if (!traits.sparesHome) checkHome(plugboardHome(env, homedir), env);
    const logger = createLog({
      level: options.logLevel,
      format: env["PLUGBOARD_LOG_FORMAT"] === "json" ? "json" : "text",
      isStateShown: traits.logs?.includes("state") !== true,
      showsVisits: traits.logs?.includes("visits") === true,
      // A person sees it with the failure that it explains; the log file of what runs for long has all of it.
      showsStderr:
        options.isLogLevelGiven ||
        (traits.logs?.includes("state") === true && !screen.terminal.err.isTerminal),
      apart: (text) => commandsApart(text, options),
      paint,
      write: (line) => screen.note(line),
    });
    onWarning = ({ name: kind, message }) => logger.debug(`${kind}: ${message}`);
    io.events.on("warning", onWarning);
    const { signal } = lifetime;
    // What goes wrong is in the log.
    const onHangup: CliContext["onHangup"] = (listener) =>
      lifetime.onHangup(() => void Promise.resolve(listener()).catch(() => {}));
    const context: CliContext = {
      commandName: name,
      argv,
      io,
      options,
      screen,
      logger,
      clock,
      signal,
      onHangup,
      // Loaded here: it is a rare answer, and the folder of the questions cannot import that of the servers.
      believeLabels: async (server) =>
        (await import("./servers/believe.ts")).believeLabels(server, context),
    };
    return await run(context);
  } catch (cause) {
    if (lifetime.exitCode !== undefined) return lifetime.exitCode;
    const error =
      untyped === undefined
        ? cause
        : (await import("./typed/mistyped.ts")).withServerHint(cause, name, untyped);
    const exitCode = report(error);
    if (options.json) {
      // For programs, which read stdout: the error in place of the result.
      const told = { error: errorJson(error, options) };
      if (traits.printsLines) screen.jsonLine(told);
      else screen.json(told);
    }
    return exitCode;
  } finally {
    io.events.off("warning", onWarning);
  }
}

function stdinIsTaken(): PlugboardError {
  return new PlugboardError(
    "INVALID_ARGUMENTS",
    "--exit-with-stdin cannot be used while the arguments are read from stdin",
    { hint: "leave out --exit-with-stdin, or give the arguments in another way" },
  );
}

function outputLostLines(error: Error, invocation: Invocation, paint: Paint): string[] {
  const whenLost = invocation.kind === "run" ? invocation.traits.whenLost : undefined;
  return [
    `${paint("red", "plugboard:")} the output could not be written: ${plainText(outputProblem(error))}`,
    // A person who reads only that something failed would do it again.
    ...(whenLost === undefined ? [] : [whenLost]),
    "hint: what is in the file or device is incomplete; make room, or write elsewhere",
  ];
}
