// Keeps the client's list of commands up to date: our own, and the prompts of the servers that are ready.

import type { AvailableCommand } from "@agentclientprotocol/sdk";
import type { Prompt } from "../../../core/types/prompt.ts";
import type { SessionBoard } from "../../../core/types/board.ts";
import type { Clock, Timer } from "../../../util/clock.ts";
import { availableCommands } from "./commands.ts";

export interface CommandListOptions {
  board: Pick<SessionBoard, "status" | "prompts">;
  clock: Clock;
  send: (commands: AvailableCommand[]) => void;
}

export class CommandList {
  readonly #options: CommandListOptions;
  #prompts: Prompt[] = [];
  #sent = "";
  #soon: Timer | undefined;
  #isClosed = false;

  constructor(options: CommandListOptions) {
    this.#options = options;
  }

  /** The servers' prompts as they were read last. */
  get prompts(): readonly Prompt[] {
    return this.#prompts;
  }

  /** Asks only servers that are ready: a list of commands must not start any. */
  async read(): Promise<void> {
    const { board } = this.#options;
    const ready = board.status().filter(({ state }) => state.kind === "ready");
    const lists = await Promise.all(
      ready.map(({ name }) => board.prompts.list(name).catch((): Prompt[] => [])),
    );
    this.#prompts = lists.flat();
  }

  async announce(): Promise<void> {
    await this.read();
    const commands = availableCommands(this.#prompts);
    const sent = JSON.stringify(commands);
    // A server may announce changes forever; only real ones are sent.
    if (this.#isClosed || sent === this.#sent) return;
    this.#sent = sent;
    this.#options.send(commands);
  }

  /** Sends the list once for all changes that come together. */
  announceSoon(): void {
    this.#soon?.cancel();
    this.#soon = this.#options.clock.after(0, () => void this.announce());
  }

  /** Sends the list even if it has not changed: the client may have forgotten it. */
  repeatSoon(): void {
    this.#sent = "";
    this.announceSoon();
  }

  close(): void {
    this.#isClosed = true;
    this.#soon?.cancel();
  }
}
