// The command line: reads it, runs one command within its lifetime, and gives the exit code.

import { plugboardHome } from "../core/config/home.ts";
import { PlugboardError } from "../core/types/errors.ts";
import { checkHome } from "../core/state/state-directory.ts";
import { outputProblem } from "../util/system-problem.ts";
import { plainText } from "../util/text.ts";
import { runCall } from "./call/call.ts";
import { readPlainCall } from "./call/read-call.ts";
import type { CliContext } from "./context.ts";
import { errorJson, errorLines, knownError } from "./error-lines.ts";
import { EXIT, exitCodeFor } from "./exit-code.ts";
import type { CliCommand, Invocation } from "./invocation.ts";
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
  const isGateway = invocation.kind === "run" && invocation.command.kind === "up";
  const what = isGateway ? "the gateway" : "the servers";
  const lifetime = new Lifetime(io, {
    onFault: (error) => report(error),
    onSlowStop: () => print([`plugboard: stopping ${what}; press Ctrl-C again to quit now`]),
    onOutputLost: (error) => print(outputLostLines(error, invocation, paint)),
  });
  const code =
    invocation.kind === "answered"
      ? answer(invocation, screen)
      : await runWithin(lifetime, invocation, { argv, io, screen, report });
  // What could not be written must be known before the exit code is.
  await lifetime.flush();
  lifetime.release();
  return lifetime.exitCode ?? code;
}

/** Finds out what is asked for. A generated command line has words of its own. */
export type ReadInvocation = (argv: readonly string[], io: CliIo) => Promise<Invocation>;

const readInvocation: ReadInvocation = async (argv, io) =>
  readPlainCall(argv) ?? (await parse(argv, io));

/** Measuring text takes a table of all characters: loaded where there is a terminal. */
async function lineWrapper({
  out,
  err,
}: Terminal): Promise<ConstructorParameters<typeof Screen>[4]> {
  return out.isTerminal || err.isTerminal
    ? (await import("./terminal/width.ts")).wrapLine
    : undefined;
}

/** Loaded only where it is needed: for a call to a running gateway it would be half of the time. */
async function parse(argv: readonly string[], io: CliIo): Promise<Invocation> {
  const { readCommandLine } = await import("./command-line.ts");
  return readCommandLine(argv, {
    out: (text) => io.stdout.write(text),
    err: (text) => io.stderr.write(text),
    width: describeTerminal(io).out.width,
  });
}

/** Help and usage errors are printed already. */
function answer({ exitCode, error: message, hint }: Answered, screen: Screen): number {
  if (message !== undefined) screen.json({ error: { code: "INVALID_ARGUMENTS", message, hint } });
  return exitCode;
}

type Answered = Extract<Invocation, { kind: "answered" }>;
type Chosen = Extract<Invocation, { kind: "run" }>;

interface CommandSetup {
  argv: readonly string[];
  io: CliIo;
  screen: Screen;
  /** Prints an error to stderr, and returns the exit code. */
  report: (error: unknown) => number;
}

async function runWithin(
  lifetime: Lifetime,
  { command, options }: Chosen,
  { argv, io, screen, report }: CommandSetup,
): Promise<number> {
  const { paint } = screen.terminal.err;
  try {
    const isOnStdio = ["acp", "serve", "replay"].includes(command.kind);
    // What speaks a protocol on stdin ends with it anyway.
    if (options.exitWithStdin && !isOnStdio) endWithStdin(lifetime, command);
    if (command.kind === "up" || isFollowing(command)) lifetime.runAsService();
    const { clock, env, homedir } = io;
    // The ACP agent checks it too, and tells the editor. The doctor says what is wrong with it, and goes on.
    const needsHome = !["acp", "help", "doctor", "completion"].includes(command.kind);
    if (needsHome) checkHome(plugboardHome(env, homedir), env);
    const logger = createLog({
      level: options.logLevel,
      format: env["PLUGBOARD_LOG_FORMAT"] === "json" ? "json" : "text",
      // Elsewhere the log is the only place where you see the state of the servers.
      isStateShown: !isOnStdio && command.kind !== "up",
      showsVisits: command.kind === "up" || command.kind === "serve",
      apart: (text) => commandsApart(text, options),
      paint,
      write: (line) => screen.note(line),
    });
    const { signal } = lifetime;
    const commandName = command.kind === "tool-help" ? "call" : command.kind;
    // What goes wrong is in the log.
    const onHangup: CliContext["onHangup"] = (listener) =>
      lifetime.onHangup(() => void Promise.resolve(listener()).catch(() => {}));
    const context = { commandName, argv, io, options, screen, logger, clock, signal, onHangup };
    return await run(command, context);
  } catch (cause) {
    if (lifetime.exitCode !== undefined) return lifetime.exitCode;
    const { url, words, embedded } = options.typed ?? {};
    const isMissing = url === undefined && words === undefined && embedded === undefined;
    const error = isMissing
      ? (await import("./typed/mistyped.ts")).withServerHint(cause, argv)
      : cause;
    const exitCode = report(error);
    if (options.json) printJson(errorJson(error, options), command, screen);
    return exitCode;
  }
}

/**
 * Loads only the command that was asked for: `plugboard tools` must not pay for what the others import. A call is the
 * exception. Loading it by itself would take longer than it does, and it loads most of what it needs on demand.
 */
async function run(command: CliCommand, context: CliContext): Promise<number> {
  switch (command.kind) {
    case "overview":
      return (await import("./status/overview.ts")).runOverview(context);
    case "add":
    case "add-json":
      return (await import("./servers/add.ts")).runAdd(command, context);
    case "remove":
    case "enable":
    case "disable":
      return (await import("./servers/change.ts")).runChange(command, context);
    case "get":
      return (await import("./servers/get.ts")).runGet(command, context);
    case "init":
      return (await import("./servers/init.ts")).runInit(command, context);
    case "registry":
      return (await import("./servers/registry.ts")).runRegistry(command, context);
    case "outdated":
      return (await import("./servers/outdated.ts")).runOutdated(command, context);
    case "update":
      return (await import("./servers/update.ts")).runUpdate(command, context);
    case "import":
      return (await import("./import/import.ts")).runImport(command, context);
    case "connect":
      return (await import("./connect/connect.ts")).runConnect(command, context);
    case "tools":
      return (await import("./tools/tools.ts")).runTools(command, context);
    case "call":
      return runCall(command, context);
    case "tool-help":
      return (await import("./tools/tools.ts")).runToolHelp(command, context);
    case "ask":
      return (await import("./ask/ask.ts")).runAsk(command, context);
    case "resources":
      return (await import("./content/content.ts")).runResources(command, context);
    case "read":
      return (await import("./content/content.ts")).runRead(command, context);
    case "prompts":
      return (await import("./content/content.ts")).runPrompts(command, context);
    case "prompt":
      return (await import("./content/content.ts")).runPrompt(command, context);
    case "types":
      return (await import("./types/types.ts")).runTypes(command, context);
    case "generate-cli":
      return (await import("./generate-cli/generate-cli.ts")).runGenerateCli(command, context);
    case "server-cli":
      return (await import("./server-cli/run.ts")).runServerCommand(command, context);
    case "status":
      return (await import("./status/status.ts")).runStatus(command.server, context);
    case "doctor":
      return (await import("./doctor/doctor.ts")).runDoctor(command, context);
    case "trace":
      return (await import("./trace/trace.ts")).runTrace(command, context);
    case "record":
      return (await import("./recording/record.ts")).runRecord(command, context);
    case "replay":
      return (await import("./recording/replay.ts")).runReplay(command, context);
    case "login":
      return (await import("./login/login.ts")).runLogin(command, context);
    case "logout":
      return (await import("./login/login.ts")).runLogout(command, context);
    case "pins":
      return (await import("./pins/pins.ts")).runPins(command, context);
    case "approvals":
      return (await import("./approvals/approvals.ts")).runApprovals(command, context);
    case "audit":
      return (await import("./audit/audit.ts")).runAudit(command, context);
    case "trust":
      return (await import("./trust/trust.ts")).runTrust(command, context);
    case "secrets":
      return command.action === "check"
        ? (await import("./secrets/check.ts")).runCheck(context)
        : (await import("./secrets/move.ts")).runMove(command, context);
    case "tokens":
      return (await import("./tokens/tokens.ts")).runTokens(command, context);
    case "acp":
      return (await import("./acp/acp.ts")).runAcp(command, context);
    case "openclaw":
      return (await import("./openclaw/setup.ts")).runOpenclaw(command, context);
    case "serve":
      return (await import("./serve/serve.ts")).runServe(command, context);
    case "up":
      return (await import("./up/up.ts")).runUp(command, context);
    case "restart":
      return (await import("./control/control.ts")).runRestart(command, context);
    case "reload":
      return (await import("./reload/reload.ts")).runReload(command, context);
    case "down":
      return (await import("./control/control.ts")).runDown(context);
    case "completion":
      return (await import("./completion/completion.ts")).runCompletion(command, context);
    case "help":
      return (await import("./help/help.ts")).runHelp(command, context);
    case "demo":
      return (await import("./demo/demo.ts")).runDemo(context);
  }
}

function endWithStdin(lifetime: Lifetime, command: CliCommand): void {
  if (readsStdin(command)) {
    throw new PlugboardError(
      "INVALID_ARGUMENTS",
      "--exit-with-stdin cannot be used while the arguments are read from stdin",
      { hint: "leave out --exit-with-stdin, or give the arguments in another way" },
    );
  }
  lifetime.endWithStdin();
}

function readsStdin(command: CliCommand): boolean {
  if (command.kind === "ask") return command.prompt.join(" ") === "-";
  const args = ARGUMENTS.has(command.kind) && "args" in command ? command.args : [];
  return args.some((each) => each === "-" || each.endsWith("=@-"));
}

const ARGUMENTS: ReadonlySet<string> = new Set(["call", "prompt", "trace", "record"]);

/** Whether the command goes on until a person ends it, so that this is no failure. */
function isFollowing(command: CliCommand): boolean {
  return (command.kind === "trace" || command.kind === "record") && command.tool === undefined;
}

/** For programs, which read stdout: the error in place of the result. */
function printJson(error: object, { kind }: CliCommand, screen: Screen): void {
  // These print a value per line, so the error is a line too.
  if (["audit", "ask", "trace"].includes(kind)) screen.jsonLine({ error });
  else screen.json({ error });
}

function outputLostLines(error: Error, invocation: Invocation, paint: Paint): string[] {
  const isCall = invocation.kind === "run" && invocation.command.kind === "call";
  return [
    `${paint("red", "plugboard:")} the output could not be written: ${plainText(outputProblem(error))}`,
    // A person who reads only that something failed would make the call again.
    ...(isCall
      ? ["the call has been made, and may have taken effect; only its result is lost"]
      : []),
    "hint: what is in the file or device is incomplete; make room, or write elsewhere",
  ];
}
