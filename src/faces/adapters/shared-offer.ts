// A board's tools as one provider takes them: names and schemas it accepts, and the way back to the board's
// own. A tool that cannot be offered costs that tool, never the request.

import { providerName } from "../../bridge/provider-name.ts";
import { normalizeSchema, type SchemaProvider } from "../../bridge/schema/normalize.ts";
import type { Board } from "../../model/board.ts";
import type { Diagnostic } from "../../model/diagnostic.ts";
import { PlugboardError } from "../../model/errors.ts";
import { isShownToModels } from "../../model/include.ts";
import type { JsonObject } from "../../model/json.ts";
import type { Tool } from "../../model/tool.ts";

export interface OfferedTool {
  /** The board's own, except where the provider would refuse it. */
  name: string;
  description: string;
  schema: JsonObject;
  /** Whose rules the schema follows. */
  provider: SchemaProvider;
  tool: Tool;
  /** The model's arguments as the tool's own schema asks for them. */
  toOriginal: (args: JsonObject) => JsonObject;
}

export interface OfferOptions {
  /** Told of what is left out or changed, once for each tool. */
  onDiagnostic?: (diagnostic: Diagnostic) => void;
}

interface OfferRules {
  /** In the order of preference: a schema that one cannot take is tried with the next. */
  providers: readonly SchemaProvider[];
  /** More than these are refused, the whole request with them. */
  maxTools?: number;
}

export class Offer {
  readonly #board: Pick<Board, "tools">;
  readonly #rules: OfferRules;
  readonly #report: (diagnostic: Diagnostic) => void;
  /** Nothing for a tool that cannot be offered. */
  readonly #made = new WeakMap<Tool, OfferedTool | undefined>();
  /** By name, those of earlier lists too: a model may call what it was offered a turn ago. */
  readonly #known = new Map<string, OfferedTool>();
  readonly #leftOut = new Set<string>();

  constructor(board: Pick<Board, "tools">, rules: OfferRules, { onDiagnostic }: OfferOptions) {
    this.#board = board;
    this.#rules = rules;
    this.#report = onDiagnostic ?? (() => {});
  }

  /** What the board lists now for a model, in its order. */
  list(): OfferedTool[] {
    const { maxTools = Infinity } = this.#rules;
    const listed = new Map<string, OfferedTool>();
    for (const tool of this.#board.tools().filter(isShownToModels)) {
      const offered = this.#offer(tool);
      if (offered === undefined) continue;
      if (listed.has(offered.name)) {
        this.#leaveOut(tool, `another tool is named '${offered.name}' already`);
      } else if (listed.size >= maxTools) {
        this.#leaveOut(tool, `the provider takes no more than ${maxTools} tools`);
      } else {
        listed.set(offered.name, offered);
        this.#known.set(offered.name, offered);
      }
    }
    return [...listed.values()];
  }

  /** By the name it is offered under, now or in an earlier list. */
  find(name: string): OfferedTool | undefined {
    this.list();
    return this.#known.get(name);
  }

  #offer(tool: Tool): OfferedTool | undefined {
    if (!this.#made.has(tool)) this.#made.set(tool, this.#make(tool));
    return this.#made.get(tool);
  }

  #make(tool: Tool): OfferedTool | undefined {
    const reasons: string[] = [];
    for (const provider of this.#rules.providers) {
      try {
        const normalized = normalizeSchema(tool.parameters, provider);
        const changes = [...reasons, ...normalized.notes];
        if (changes.length > 0) this.#tell(tool, `offered with changes: ${changes.join("; ")}`);
        return {
          name: providerName(tool.name),
          description: tool.description,
          schema: normalized.schema,
          provider,
          tool,
          toOriginal: (args) => normalized.toOriginal(args),
        };
      } catch (error) {
        if (!(error instanceof PlugboardError)) throw error;
        reasons.push(`not as ${provider} takes it: ${error.message}`);
      }
    }
    this.#tell(tool, `left out: ${reasons.join("; ")}`);
    return undefined;
  }

  #leaveOut(tool: Tool, reason: string): void {
    if (this.#leftOut.has(tool.name)) return;
    this.#leftOut.add(tool.name);
    this.#tell(tool, `left out: ${reason}`);
  }

  #tell({ name, source }: Tool, message: string): void {
    const server = source.kind === "mcp" ? source.server : "native";
    this.#report({ server, subject: source.kind === "mcp" ? source.tool : name, message });
  }
}
