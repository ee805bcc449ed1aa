// How long a command may go on: until a signal, a closed stdin or stdout, or a fault of its own ends it.
// The first of them aborts `signal`, so that what runs is cancelled and stopped; a second Ctrl-C does not
// wait for that.

import type { Timer } from "../../util/clock.ts";
import { EXIT } from "./exit-code.ts";
import type { CliIo } from "./io.ts";

export type Ending =
  | { kind: "signal"; signal: StopSignal }
  | { kind: "stdin-closed" }
  /** Nobody reads any more, as after `| head`: nothing went wrong. */
  | { kind: "output-closed" }
  | { kind: "fault"; error: unknown };

type StopSignal = keyof typeof SIGNAL_CODES;

/** 128 and the signal's number, as shells have it. */
const SIGNAL_CODES = { SIGHUP: 129, SIGINT: EXIT.interrupted, SIGTERM: 143 } as const;
const SIGNALS = Object.keys(SIGNAL_CODES) as StopSignal[];

/** How long a person waits before hearing why it takes long. */
const PATIENCE_MS = 1000;
/** After a fault the clean way out may be broken too. */
const FAULT_GRACE_MS = 15_000;

export interface LifetimeListener {
  /** A fault, as it happens. */
  onFault(error: unknown): void;
  /** Stopping takes its time after a Ctrl-C. */
  onSlowStop(): void;
}

export class Lifetime {
  readonly #io: CliIo;
  readonly #listener: LifetimeListener;
  readonly #controller = new AbortController();
  readonly #undo: (() => void)[] = [];
  #ending: Ending | undefined;
  #timer: Timer | undefined;

  constructor(io: CliIo, listener: LifetimeListener) {
    this.#io = io;
    this.#listener = listener;
    for (const signal of SIGNALS) this.#watch(io.events, signal, () => this.#onSignal(signal));
    this.#watch(io.events, "uncaughtException", (error) => this.#onFault(error));
    this.#watch(io.events, "unhandledRejection", (reason) => this.#onFault(reason));
    this.#watch(io.stdout, "error", () => this.#end({ kind: "output-closed" }));
    // A closed terminal takes stderr along; its SIGHUP is what counts.
    this.#watch(io.stderr, "error", () => {});
  }

  /** Aborted by whatever comes first. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** The exit code that the ending asks for, if the command did not end by itself. */
  get exitCode(): number | undefined {
    const ending = this.#ending;
    switch (ending?.kind) {
      case undefined:
        return undefined;
      case "signal":
        return SIGNAL_CODES[ending.signal];
      case "stdin-closed":
        return EXIT.interrupted;
      case "output-closed":
        return EXIT.ok;
      case "fault":
        return EXIT.internal;
    }
  }

  /** Reads stdin from here on, for no other reason than to see it close. */
  endWithStdin(): void {
    const { stdin } = this.#io;
    const onClosed = (): void => this.#end({ kind: "stdin-closed" });
    this.#watch(stdin, "end", onClosed);
    this.#watch(stdin, "close", onClosed);
    this.#watch(stdin, "error", onClosed);
    stdin.resume();
    this.#undo.push(() => stdin.pause());
  }

  /** Lets go of the process. */
  release(): void {
    this.#timer?.cancel();
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
    if (this.#ending === undefined) {
      this.#end({ kind: "signal", signal });
      if (signal !== "SIGINT") return;
      this.#timer = this.#io.clock.later(PATIENCE_MS, () => this.#listener.onSlowStop());
    } else if (signal === "SIGINT") {
      this.#io.exit(this.exitCode ?? EXIT.interrupted);
    }
  }

  #onFault(error: unknown): void {
    this.#listener.onFault(error);
    this.#end({ kind: "fault", error });
    this.#timer ??= this.#io.clock.later(FAULT_GRACE_MS, () => this.#io.exit(EXIT.internal));
  }

  #end(ending: Ending): void {
    this.#ending ??= ending;
    this.#controller.abort();
  }
}
