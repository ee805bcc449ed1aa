// One process of the agent: the lines it writes, the lines it is sent, what it said on stderr, and how it ended.

import { setImmediate as nextTurn } from "node:timers/promises";
import { DEFAULT_MAX_MESSAGE_BYTES } from "@agentclientprotocol/sdk";
import { PlugboardError } from "../../core/types/errors.ts";
import type { Logger } from "../../core/types/logger.ts";
import { startProcess } from "../../core/process/start-process.ts";
import { type RedactText, StderrLog } from "../../core/process/stderr-log.ts";
import { type Clock, within } from "../../util/clock.ts";
import { plainText, truncate } from "../../util/text.ts";
import type { Line } from "../../util/line-reader.ts";
import { LineWriter, readLines } from "./lines.ts";

export interface AgentCommand {
  /** The program and its arguments. */
  command: readonly string[];
  cwd: string;
  /** The whole environment of the agent. */
  env: Readonly<Record<string, string | undefined>>;
}

export interface AgentProcessOptions {
  clock: Clock;
  logger: Logger;
  /** The PATH of the user's terminal, if that is another one: used where the command is not found without it. */
  programPath?: Promise<string | undefined>;
  /** Each line that the agent writes to stderr, as plain text and without secrets. */
  onStderr: (line: string) => void;
  /** Removes secrets: an agent can repeat what a server or a model has told it. */
  redact: RedactText;
}

/** How a process of the agent ended. */
export interface AgentEnd {
  code: number | null;
  signal: NodeJS.Signals | null;
  /** It had closed its stdout and went on running, so it was stopped. */
  hadNoStdout?: boolean;
  /** The last lines of its stderr, and of the lines on stdout that are not messages. */
  stderr: readonly string[];
}

/** What the relay needs of a process. */
export interface AgentProcess {
  readonly pid: number;
  /** Calls `take` for every line of stdout. To be called once; resolves when there are no more. */
  read(take: (line: Line) => Promise<void> | undefined): Promise<void>;
  send(line: Buffer): void;
  /** Keeps a line of stdout that is no message: a program that does not speak ACP explains its problem there. */
  keepWords(line: Buffer): void;
  /** Undefined while the agent reads its stdin; otherwise resolves when the agent has read on. */
  room(): Promise<void> | undefined;
  /** Resolves when it has ended, after its last lines were read. */
  readonly ended: Promise<AgentEnd>;
  /** Ends stdin, waits, and ends the processes that are left. Idempotent; never rejects. */
  stop(): Promise<void>;
}

/** Agents write down their sessions when stdin ends, so they get more time for it than a server. */
const STOP_TIMING = { eof: 1000 };
/**
 * An agent may leave so much unread before the client has to wait. While it waits nobody notices that the client leaves, so
 * it is more than any client sends to an agent that hangs.
 */
const UNREAD_BYTES = 2 * DEFAULT_MAX_MESSAGE_BYTES;
/** A process that the agent started may hold its pipes open for ever. */
const DRAIN_MS = 250;
/** The end of stdout is mostly that of the process, which takes a moment longer. */
const EXIT_MS = 2000;

/** Rejects with SPAWN_FAILED. */
export async function startAgentProcess(
  given: AgentCommand,
  options: AgentProcessOptions,
): Promise<AgentProcess> {
  const { clock, logger, onStderr, redact } = options;
  const child = await start(given, options);
  const words = new LastWords(redact);
  const log = new StderrLog(child.stderr, clock, onStderr, redact);
  const stderrEnded = new Promise<void>((resolve) => child.stderr.once("close", () => resolve()));
  const writer = new LineWriter(
    child.stdin.write.bind(child.stdin),
    () => logger.debug("the agent has closed its stdin", { pid: child.pid }),
    UNREAD_BYTES,
  );
  let reading: Promise<void> = Promise.resolve();
  let isStopping = false;
  let hadNoStdout = false;
  /** Without stdout it can answer nothing any more. */
  const stopWithoutStdout = async (): Promise<void> => {
    const hasExited = child.exited.then(() => true);
    // After a timer that ran late, an exit that came long ago may be told only in the next turn.
    const isOver =
      (await within(clock, EXIT_MS, hasExited)) ?? (await Promise.race([hasExited, nextTurn()]));
    if (isOver === true || isStopping) return;
    hadNoStdout = true;
    logger.warn("the agent has closed its stdout and still runs, so it is stopped", {
      pid: child.pid,
    });
    await child.stop();
  };
  const ended = child.exited.then(async ({ code, signal }): Promise<AgentEnd> => {
    await within(clock, DRAIN_MS, Promise.all([reading, stderrEnded]));
    const last = [...words.lines(), ...log.tail()].slice(-KEPT_LINES);
    const stderr = last.map((line) => truncate(line, LONGEST_LINE));
    return { code, signal, stderr, ...(hadNoStdout && { hadNoStdout }) };
  });
  return {
    pid: child.pid,
    read(take) {
      reading = readLines(child.stdout, DEFAULT_MAX_MESSAGE_BYTES, take);
      void reading.then(stopWithoutStdout);
      return reading;
    },
    send: (line) => writer.send(line),
    keepWords: (line) =>
      words.push(Buffer.concat([line.subarray(0, KEPT_BYTES - NEWLINE.length), NEWLINE])),
    room: () => writer.room(),
    ended,
    stop() {
      isStopping = true;
      return child.stop();
    },
  };
}

async function start(given: AgentCommand, options: AgentProcessOptions) {
  const [command = "", ...args] = given.command;
  const { clock, logger, programPath } = options;
  const launch = (env: Record<string, string>) =>
    startProcess({
      command,
      args,
      env,
      cwd: given.cwd,
      ambient: env,
      clock,
      logger,
      timing: STOP_TIMING,
    });
  const env = definedIn(given.env);
  try {
    return await launch(env);
  } catch (error) {
    const isMissing = error instanceof PlugboardError && error.permanent;
    const path = isMissing ? await programPath : undefined;
    if (path === undefined || path === env["PATH"]) throw error;
    return launch({ ...env, PATH: path });
  }
}

function definedIn(env: AgentCommand["env"]): Record<string, string> {
  const defined: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value !== undefined) defined[name] = value;
  }
  return defined;
}

const KEPT_BYTES = 8 * 1024;
const KEPT_LINES = 10;
const LONGEST_LINE = 300;

const NEWLINE = Buffer.from("\n");

/** The end of what an agent wrote to stdout that is no message. */
class LastWords {
  readonly #redact: RedactText;
  #kept = Buffer.alloc(0);

  constructor(redact: RedactText) {
    this.#redact = redact;
  }

  /** Whole lines, none longer than what is kept. */
  push(line: Buffer): void {
    let all = Buffer.concat([this.#kept, line]);
    // Half a line could begin with the end of a secret.
    while (all.length > KEPT_BYTES) all = all.subarray(all.indexOf(NEWLINE) + NEWLINE.length);
    this.#kept = all;
  }

  lines(): string[] {
    return this.#redact(plainText(this.#kept.toString("utf8")), true)
      .split("\n")
      .map((line) => line.trimEnd())
      .filter((line) => line !== "");
  }
}

/** `exited with code 1` */
export function howItEnded({
  code,
  signal,
  hadNoStdout = false,
}: Pick<AgentEnd, "code" | "signal" | "hadNoStdout">): string {
  if (hadNoStdout) return "closed its stdout without ending, and was stopped";
  return signal === null ? `exited with code ${code ?? "unknown"}` : `was ended by ${signal}`;
}
