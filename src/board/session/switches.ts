// Which servers a session does without, for as long as it wants: its own are stopped, shared ones are out of
// its sight and go on for others.

import { PlugboardError } from "../../model/errors.ts";
import type { ServerState } from "../../model/server-state.ts";
import type { BoardCore } from "../core.ts";
import { type Slot, slotNamed } from "../slot.ts";
import type { OwnServers } from "./own-servers.ts";
import type { SharedServers } from "./shared-servers.ts";

const DISABLED: ServerState = { kind: "disabled" };

export interface SwitchesOptions {
  over: BoardCore;
  session: BoardCore;
  own: OwnServers;
  shared: SharedServers;
}

export class Switches {
  readonly #options: SwitchesOptions;

  constructor(options: SwitchesOptions) {
    this.#options = options;
  }

  /**
   * Resolves when an own server that is disabled is gone, or one that is enabled is ready, has failed or is
   * late. Throws UNKNOWN_SERVER, and UNSUPPORTED for one that the configuration disables.
   */
  async set(name: string, enabled: boolean): Promise<Slot> {
    const { session, shared, over } = this.#options;
    const slot = slotNamed(name, new Map([...shared.withheld, ...session.slots]));
    const { definition } = slot;
    const isOn = definition.enabled && !shared.withheld.has(name);
    if (isOn === enabled) return slot;
    const configured = over.slots.get(name);
    if (definition.origin !== "session" && configured?.definition.enabled === false) {
      throw disabledByConfiguration(name);
    }
    if (session.servers.own.get(name) === slot) return this.#setOwn(slot, enabled);
    this.#setShared(slot, enabled);
    return slot;
  }

  /** Whether it is one of the agent's that the session does without. */
  isWithheld({ definition }: Slot): boolean {
    const { shared, session } = this.#options;
    return shared.withheld.has(definition.name) && !session.slots.has(definition.name);
  }

  async #setOwn({ definition, supervisor }: Slot, enabled: boolean): Promise<Slot> {
    const { own } = this.#options;
    const previous = supervisor.state;
    const plugged = own.plug({ ...definition, enabled });
    if (!enabled) this.#tell(definition.name, DISABLED, previous);
    return plugged;
  }

  #setShared({ definition: { name }, supervisor }: Slot, enabled: boolean): void {
    const { shared } = this.#options;
    const { state } = supervisor;
    if (enabled) {
      shared.release(name);
      this.#tell(name, state, DISABLED);
    } else {
      shared.withhold(name);
      this.#tell(name, DISABLED, state);
    }
  }

  #tell(server: string, state: ServerState, previous: ServerState): void {
    const { events, redactor } = this.#options.session;
    events.emit("server", redactor.value({ server, state, previous }));
  }
}

function disabledByConfiguration(server: string): PlugboardError {
  return new PlugboardError("UNSUPPORTED", `server '${server}' is disabled in the configuration`, {
    server,
    hint: "what the configuration disables is enabled there",
  });
}
