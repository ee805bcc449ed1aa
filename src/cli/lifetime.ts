// How long a command runs: until a signal, a closed stdin or stdout, output that cannot be written, or an internal
// error ends it. The first of them aborts `signal`, which cancels and stops whatever runs. If something hangs, the
// process ends anyway after a while; a second Ctrl-C does not wait for that.

import { PlugboardError } from "../core/types/errors.ts";
import { untilAborted } from "../util/abort.ts";
import type { Timer } from "../util/clock.ts";
import { hasErrorCode } from "../util/error-code.ts";
import { EXIT } from "./exit-code.ts";
import type { CliIo } from "./io.ts";

type StopSignal = keyof typeof SIGNAL_CODES;

/** 128 plus the signal's number, as in shells. */
const SIGNAL_CODES = {
  SIGHUP: 129,
  SIGINT: EXIT.interrupted,
  SIGQUIT: 131,
  SIGTERM: 143,
} as const;
const SIGNALS = Object.keys(SIGNAL_CODES) as StopSignal[];

/** A stop that takes longer than this is explained to the person. */
const PATIENCE_MS = 1000;
/** Stopping cleanly may hang: the process ends after this long regardless. */
const GRACE_MS = 10_000;
/** For a service: load balancers have up to 15 seconds to notice, calls in flight 30 to finish, and servers some more to stop. */
const SERVICE_GRACE_MS = 60_000;

export interface LifetimeListener {
  /** An error that nobody caught, as it happens. Returns the exit code. */
  onFault(error: unknown): number;
  /** Stopping after a Ctrl-C takes long. */
  onSlowStop(): void;
  /** A part of the output could not be written. */
  onOutputLost(error: Error): void;
}

/** Waits for `work`. Rejects with CANCELLED as soon as the command must end. */
export function untilInterrupted<Result>(
  work: Promise<Result>,
  signal: AbortSignal,
): Promise<Result> {
  return untilAborted(work, signal, () => new PlugboardError("CANCELLED", "interrupted"));
}

export class Lifetime {
  readonly #io: CliIo;
  readonly #listener: LifetimeListener;
  readonly #controller = new AbortController();
  readonly #undo: (() => void)[] = [];
  #exitCode: number | undefined;
  #isService = false;
  #wasTold = false;
  /** The reader of the output went away before anything else ended the command. */
  #isUnread = false;
  #hangup: (() => unknown) | undefined;
  #patience: Timer | undefined;
  #deadline: Timer | undefined;

  constructor(io: CliIo, listener: LifetimeListener) {
    this.#io = io;
    this.#listener = listener;
    for (const signal of SIGNALS) this.#watch(io.events, signal, () => this.#onSignal(signal));
    this.#watch(io.events, "uncaughtException", (error) => this.#onFault(error));
    this.#watch(io.events, "unhandledRejection", (reason) => this.#onFault(reason));
    this.#watch(io.stdout, "error", (error) => this.#onOutputError(error as Error));
    // A closed terminal closes stderr too; the SIGHUP that comes with it ends the command.
    this.#watch(io.stderr, "error", () => {});
  }

  /** Aborted by the first ending. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Undefined while nothing has ended the command, and for a service that was told to stop: it says itself how it went. */
  get exitCode(): number | undefined {
    return this.#isService && this.#wasTold ? undefined : this.#exitCode;
  }

  /** The exit code of a command that has ended by itself with `own`, or has been ended. */
  codeAfter(own: number): number {
    // What the command has found out counts, also if nobody reads it. What was cut short for that is no failure.
    if (this.#isUnread) return own === EXIT.interrupted ? EXIT.ok : own;
    return this.exitCode ?? own;
  }

  /** The command runs until a signal stops it, so that a signal is its regular end. A second one ends it at once. */
  runAsService(): void {
    this.#isService = true;
  }

  /**
   * Without a terminal that could be closed, SIGHUP asks a command that runs for long to read its configuration again.
   * The listener must not throw.
   */
  onHangup(listener: () => unknown): void {
    const { stdin, stdout, stderr } = this.#io;
    if (![stdin, stdout, stderr].some(({ isTTY }) => isTTY === true)) this.#hangup = listener;
  }

  /** From here on stdin is read and thrown away, only to notice when it closes. */
  endWithStdin(): void {
    const { stdin } = this.#io;
    const onClosed = (): void => this.#end(EXIT.interrupted);
    this.#watch(stdin, "end", onClosed);
    this.#watch(stdin, "close", onClosed);
    this.#watch(stdin, "error", onClosed);
    stdin.resume();
    this.#undo.push(() => stdin.pause());
  }

  /** Resolves when all output is written, or is known to be lost. Never rejects. */
  async flush(): Promise<void> {
    const { stdout } = this.#io;
    // Only if something waits: even an empty write fails on a full device, and then nothing would have been lost.
    if ((stdout.writableLength ?? 0) > 0) {
      await new Promise<void>((resolve) => stdout.write("", () => resolve()));
    }
    // A stream emits its error after it has called back.
    await new Promise((resolve) => setImmediate(resolve));
  }

  /** Removes every listener, so that the process can end. */
  release(): void {
    this.#patience?.cancel();
    this.#deadline?.cancel();
    for (const undo of this.#undo.splice(0)) undo();
  }

  #watch(
    emitter: Pick<NodeJS.EventEmitter, "on" | "off">,
    event: string,
    listener: (value: unknown) => void,
  ): void {
    emitter.on(event, listener);
    this.#undo.push(() => emitter.off(event, listener));
  }

  #onSignal(signal: StopSignal): void {
    if (signal === "SIGHUP" && this.#hangup !== undefined) return void this.#hangup();
    if (this.#exitCode === undefined) {
      this.#wasTold = true;
      this.#end(SIGNAL_CODES[signal]);
      if (signal !== "SIGINT") return;
      this.#patience = this.#io.clock.later(PATIENCE_MS, () => this.#listener.onSlowStop());
    } else if (this.#isService || signal === "SIGINT" || signal === "SIGQUIT") {
      this.#io.exit(this.#exitCode);
    }
  }

  #onOutputError(error: Error): void {
    // The reader is gone, as after `| head`: not an error.
    if (hasErrorCode(error, "EPIPE")) {
      this.#isUnread ||= this.#exitCode === undefined;
      return this.#end(EXIT.ok);
    }
    this.#listener.onOutputLost(error);
    this.#end(EXIT.incomplete);
  }

  #onFault(error: unknown): void {
    this.#end(this.#listener.onFault(error));
  }

  #end(exitCode: number): void {
    this.#exitCode ??= exitCode;
    const io = this.#io;
    const grace = this.#isService ? SERVICE_GRACE_MS : GRACE_MS;
    this.#deadline ??= io.clock.later(grace, () => io.exit(this.#exitCode ?? exitCode));
    this.#controller.abort();
  }
}
