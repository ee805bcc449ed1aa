// The tools of a board on somebody else's shelf: a registry of clawtools, which is made to agree with the
// board as far as it can be.

import { withoutPatterns } from "../../bridge/without-patterns.ts";
import type { Board } from "../../model/board.ts";
import type { JsonObject } from "../../model/json.ts";
import {
  type AgentErrors,
  type AgentResult,
  runAgentCall,
  toAgentResult,
} from "./shared-agent-call.ts";
import { Offer, type OfferedTool, type OfferOptions } from "./shared-offer.ts";

export type ClawToolResult = AgentResult;

export interface ClawTool {
  readonly name: string;
  readonly label: string;
  readonly description: string;
  readonly parameters: JsonObject;
  readonly ownerOnly?: boolean;
  execute(
    toolCallId: string,
    params: Record<string, unknown>,
    signal?: AbortSignal,
    onUpdate?: (partial: ClawToolResult) => void,
  ): Promise<ClawToolResult>;
}

export interface ClawToolRegistry {
  register(tool: ClawTool): unknown;
  /** A registry that has it lists what there is; from any other, nothing can be taken back. */
  unregister?(name: string): unknown;
}

export interface ShelfOptions extends OfferOptions {
  /** How a failure is told. `return`, the default: with `isError`. `throw`: for a loop that looks no further. */
  errors?: AgentErrors;
}

/** A tool as it is registered, with what stands behind it now. */
interface Shelved {
  tool: ClawTool;
  server: string;
  /** As it last was. */
  offered: OfferedTool;
  isGone: boolean;
}

export class Shelf {
  readonly #offer: Offer;
  readonly #registry: ClawToolRegistry;
  readonly #options: ShelfOptions;
  readonly #shelved = new Map<string, Shelved>();

  constructor(board: Pick<Board, "tools">, registry: ClawToolRegistry, options: ShelfOptions) {
    this.#offer = new Offer(board, { providers: ["generic"] }, options);
    this.#registry = registry;
    this.#options = options;
  }

  /** Makes the registry agree with the board; the servers whose tools are not what they were. */
  sync(): Set<string> {
    const listed = new Map(this.#offer.list().map((offered) => [offered.name, offered]));
    return new Set([...this.#drop(listed), ...this.#put(listed)]);
  }

  #drop(listed: ReadonlyMap<string, OfferedTool>): string[] {
    return [...this.#shelved.values()].flatMap((shelved) => {
      const { tool, server, isGone } = shelved;
      if (isGone || listed.has(tool.name)) return [];
      shelved.isGone = true;
      this.#attempt(shelved, () => this.#registry.unregister?.(tool.name));
      return [server];
    });
  }

  #put(listed: ReadonlyMap<string, OfferedTool>): string[] {
    return [...listed.values()].flatMap((offered) => {
      const known = this.#shelved.get(offered.name);
      if (known?.offered === offered && !known.isGone) return [];
      const shelved = known ?? this.#shelve(offered);
      shelved.offered = offered;
      shelved.isGone = false;
      // A registry that forgets may copy what it lists; in any other the tool stands already, and is live.
      const isWanted = known === undefined || this.#registry.unregister !== undefined;
      if (isWanted) this.#attempt(shelved, () => this.#registry.register(shelved.tool));
      return [shelved.server];
    });
  }

  #shelve(offered: OfferedTool): Shelved {
    const { source } = offered.tool;
    const server = source.kind === "mcp" ? source.server : source.kind;
    const { errors = "return" } = this.#options;
    const shelved: Shelved = {
      tool: toClawTool(offered, () => shelved, errors),
      server,
      offered,
      isGone: false,
    };
    this.#shelved.set(offered.name, shelved);
    return shelved;
  }

  /** One tool that the registry does not take is no reason to lose the others. */
  #attempt({ server, tool }: Shelved, change: () => unknown): void {
    try {
      change();
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      const message = `the registry did not take the change (${reason})`;
      this.#options.onDiagnostic?.({ server, subject: tool.name, message });
    }
  }
}

/** What may change is read anew each time, so that whoever holds the tool sees it as it is. */
function toClawTool(
  { name, tool: { ownerOnly } }: OfferedTool,
  now: () => Shelved,
  errors: AgentErrors,
): ClawTool {
  return {
    name,
    ...(ownerOnly !== undefined && { ownerOnly }),
    get label() {
      return now().offered.tool.label;
    },
    get description() {
      return now().offered.description;
    },
    get parameters() {
      return withoutPatterns(now().offered.schema);
    },
    async execute(toolCallId, params, signal, onUpdate) {
      const { isGone, server, offered } = now();
      if (isGone) return gone(name, server, errors);
      return runAgentCall(offered, { toolCallId, params, signal, onUpdate }, errors);
    },
  };
}

function gone(name: string, server: string, errors: AgentErrors): ClawToolResult {
  const text = `'${name}' is gone: server '${server}' does not offer it any more; use another tool`;
  return toAgentResult({ content: [{ type: "text", text }], isError: true }, errors);
}
