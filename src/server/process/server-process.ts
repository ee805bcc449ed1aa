// A running server's process as its owner holds it: streams, an end, and a way to bring that about.

import type { ChildProcessWithoutNullStreams } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import type { Clock } from "../../util/clock.ts";
import { exitGuard } from "./exit-guard.ts";
import type { ExitStatus, StopTarget } from "./stop.ts";

export interface ServerProcess {
  readonly pid: number;
  readonly cookie: string;
  /** Errors of the streams are swallowed here; add a listener to hear of them. */
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Resolves when the child itself has ended. What it left behind is then swept unasked. */
  readonly exited: Promise<ExitStatus>;
  /** Idempotent; never rejects; resolves when nothing of the server is left. */
  stop(): Promise<void>;
}

export interface Ownership {
  /** Of a child that has started. */
  pid: number;
  cookie: string;
  platform: NodeJS.Platform;
  clock: Clock;
  /** The procedure that leaves nothing behind; must not reject. */
  stopTarget(target: StopTarget): Promise<void>;
}

/** Milliseconds for what the ended server wrote last to be read. */
const DRAIN = 200;

export function ownProcess(child: ChildProcessWithoutNullStreams, own: Ownership): ServerProcess {
  const { pid, cookie } = own;
  const streams = [child.stdin, child.stdout, child.stderr];
  for (const emitter of [child, ...streams]) emitter.on("error", () => {});

  let hasExited = false;
  const exited = new Promise<ExitStatus>((resolve) => {
    const onEnd = (code: number | null, signal: NodeJS.Signals | null): void => {
      hasExited = true;
      resolve({ code, signal });
      void stop();
    };
    child.once("exit", onEnd);
    // Where cross-spawn finds that there was no such command it keeps "exit" to itself.
    child.once("close", onEnd);
  });
  const target: StopTarget = {
    pid,
    cookie,
    exited,
    hasExited: () => hasExited,
    closeStdin: () => child.stdin.end(),
  };

  let stopping: Promise<void> | undefined;
  const stop = (): Promise<void> => {
    stopping ??= own.stopTarget(target).then(() => {
      exitGuard.release(pid);
      // Somebody who got away may hold the pipes, and they would hold this process.
      own.clock.later(DRAIN, () => {
        for (const stream of streams) stream.destroy();
      });
    });
    return stopping;
  };

  exitGuard.watch(pid, own.platform);
  return {
    pid,
    cookie,
    stdin: child.stdin,
    stdout: child.stdout,
    stderr: child.stderr,
    exited,
    stop,
  };
}
