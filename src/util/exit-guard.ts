// Kills child processes in the "exit" event when this process ends without having stopped them. Only
// synchronous work is possible there, so processes that left their group survive it.

import { signalGroup, signalProcess } from "./signal.ts";

type ExitEmitter = Pick<NodeJS.EventEmitter, "on" | "off">;

export class ExitGuard {
  readonly #emitter: () => ExitEmitter;
  readonly #kills = new Map<number, (pid: number) => void>();

  constructor(emitter: () => ExitEmitter = () => process) {
    this.#emitter = emitter;
  }

  /** Uses one listener for all children: with one each, an emitter warns of a leak at the eleventh. */
  watch(
    pid: number,
    platform: NodeJS.Platform,
    kill: (pid: number) => void = platform === "win32" ? killProcess : killGroup,
  ): void {
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

function killGroup(pid: number): void {
  signalGroup(pid, "SIGKILL");
}

function killProcess(pid: number): void {
  signalProcess(pid, "SIGKILL");
}
