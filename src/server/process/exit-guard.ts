// The last resort: when the host ends without having stopped its servers, their groups are killed in
// the "exit" event, where only synchronous work is done. What left its group is for the next reaping.

import { signalGroup, signalProcess } from "./signal.ts";

type ExitEmitter = Pick<NodeJS.EventEmitter, "on" | "off">;

export class ExitGuard {
  readonly #emitter: () => ExitEmitter;
  readonly #kills = new Map<number, (pid: number) => void>();

  constructor(emitter: () => ExitEmitter = () => process) {
    this.#emitter = emitter;
  }

  /** One listener for all of them: servers are many, and an emitter warns of the eleventh. */
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

/** The one that guards this process. */
export const exitGuard = new ExitGuard();

function killGroup(pid: number): void {
  signalGroup(pid, "SIGKILL");
}

function killProcess(pid: number): void {
  signalProcess(pid, "SIGKILL");
}
