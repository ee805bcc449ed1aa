// Notices that files have changed. It looks at them instead of listening: that works the same on every file system, for
// files that are replaced as a whole, and for links whose target is replaced.

import { stat } from "node:fs/promises";
import { type Clock, pause, type Timer } from "../../util/clock.ts";
import { errorCode } from "../../util/error-code.ts";

export interface FileWatchOptions {
  clock: Clock;
  /**
   * Runs when one of the files has changed and nobody writes to it at the moment; also once at the start. Must not
   * reject. The files are not looked at meanwhile.
   */
  onChange: () => Promise<void>;
}

const LOOK_MS = 500;
/** A file that is not written to for this long is taken for whole. */
const SETTLE_MS = 100;
/** A file that is written to all the time is read anyway. */
const MOST_LOOKS = 10;
/** Editors and deployments remove a file and put another one in its place. */
const GONE_MS = 2000;

const GONE = "gone";

export class FileWatch {
  readonly #files: readonly string[];
  readonly #options: FileWatchOptions;
  readonly #closing = new AbortController();
  /** The state of the files when `onChange` last ran. */
  #seen: string | undefined;
  #goneSince: number | undefined;
  #timer: Timer | undefined;
  #looking: Promise<void> | undefined;

  constructor(files: readonly string[], options: FileWatchOptions) {
    this.#files = files;
    this.#options = options;
    this.#next(0);
  }

  /** Resolves when nothing of it runs any more. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#timer?.cancel();
    await this.#looking;
  }

  #next(ms: number): void {
    if (this.#closing.signal.aborted) return;
    this.#timer = this.#options.clock.later(ms, () => {
      this.#looking = this.#look().finally(() => this.#next(LOOK_MS));
    });
  }

  async #look(): Promise<void> {
    const { clock, onChange } = this.#options;
    const { signal } = this.#closing;
    let now = await this.#lookAtAll();
    if (now === this.#seen) {
      this.#goneSince = undefined;
      return;
    }
    for (let looks = 1; looks < MOST_LOOKS; looks += 1) {
      await pause(clock, SETTLE_MS, signal);
      if (signal.aborted) return;
      const before = now;
      now = await this.#lookAtAll();
      if (now === before) break;
    }
    if (now.startsWith(GONE)) {
      this.#goneSince ??= clock.monotonic();
      if (clock.monotonic() - this.#goneSince < GONE_MS) return;
    }
    this.#goneSince = undefined;
    this.#seen = now;
    if (!signal.aborted) await onChange();
  }

  /** Begins with `gone` if the first file is not there. */
  async #lookAtAll(): Promise<string> {
    return (await Promise.all(this.#files.map(signatureOf))).join(" ");
  }
}

/** Another text for another file, another content, another owner or mode. */
async function signatureOf(file: string): Promise<string> {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = await stat(file, { bigint: true });
    return [dev, ino, size, mtimeNs, ctimeNs].join(":");
  } catch (error) {
    const code = errorCode(error);
    return code === "ENOENT" || code === "ENOTDIR" ? GONE : `${GONE}:${code ?? "unknown"}`;
  }
}
