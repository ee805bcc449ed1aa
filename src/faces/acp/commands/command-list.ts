// The commands that a session has now: its own and the prompts of the servers that are up, told to the client
// whenever they change.

import type { AvailableCommand } from "@agentclientprotocol/sdk";
import type { Prompt } from "../../../model/prompt.ts";
import type { Clock, Timer } from "../../../util/clock.ts";
import { availableCommands } from "./commands.ts";
import type { SessionBoard } from "../responder/responder.ts";

export interface CommandListOptions {
  board: Pick<SessionBoard, "status" | "prompts">;
  clock: Clock;
  tell: (commands: AvailableCommand[]) => void;
}

export class CommandList {
  readonly #options: CommandListOptions;
  #prompts: Prompt[] = [];
  #told = "";
  #soon: Timer | undefined;
  #isClosed = false;

  constructor(options: CommandListOptions) {
    this.#options = options;
  }

  /** As they were read last. */
  get prompts(): readonly Prompt[] {
    return this.#prompts;
  }

  /** Of the servers that are up: nothing is started for a list of commands. */
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
    const told = JSON.stringify(commands);
    // A server may say without end that they have changed.
    if (this.#isClosed || told === this.#told) return;
    this.#told = told;
    this.#options.tell(commands);
  }

  /** Once for all changes that come together, and where there are any. */
  announceSoon(): void {
    this.#soon?.cancel();
    this.#soon = this.#options.clock.after(0, () => void this.announce());
  }

  /** For a client that may have forgotten them. */
  repeatSoon(): void {
    this.#told = "";
    this.announceSoon();
  }

  close(): void {
    this.#isClosed = true;
    this.#soon?.cancel();
  }
}
