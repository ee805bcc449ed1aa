// Ends child processes in the "exit" event when this process ends without having stopped them. Only synchronous
// work is possible there.

type ExitEmitter = Pick<NodeJS.EventEmitter, "on" | "off">;

export class ExitGuard {
  readonly #emitter: () => ExitEmitter;
  readonly #kills = new Map<number, (pid: number) => unknown>();

  constructor(emitter: () => ExitEmitter = () => process) {
    this.#emitter = emitter;
  }

  /** Uses one listener for all children: with one each, an emitter warns of a leak at the eleventh. */
  watch(pid: number, kill: (pid: number) => unknown): void {
    if (this.#kills.size === 0) this.#emitter().on("exit", this.#killAll);
    this.#kills.set(pid, kill);
  }

  release(pid: number): void {
    if (this.#kills.delete(pid) && this.#kills.size === 0) {
      this.#emitter().off("exit", this.#killAll);
    }
  }

  readonly #killAll = (): void => {
    for (const [pid, kill] of this.#kills) kill(pid);
  };
}

/** The guard of this process. */
export const exitGuard = new ExitGuard();
