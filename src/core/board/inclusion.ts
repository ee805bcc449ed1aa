// What the user of a board adds to the tools that a model gets, and takes away from them. It is kept by the names of
// server and tool, so that it outlasts a restart of the server, and a reload.

import { PlugboardError } from "../types/errors.ts";
import type { ToolsEvent } from "../types/events.ts";
import type { IncludeMode } from "../types/include.ts";
import { canonicalName, type Tool } from "../types/tool.ts";
import { oneLine } from "../../util/text.ts";
import { suggestTools } from "./find-tool.ts";

export interface InclusionOptions {
  /** All tools that may be chosen, and those that servers keep for their apps. */
  tools: () => readonly Tool[];
  onChange: (change: ToolsEvent) => void;
}

export class Inclusion {
  readonly #options: InclusionOptions;
  readonly #chosen = new Map<string, IncludeMode>();

  constructor(options: InclusionOptions) {
    this.#options = options;
  }

  /** The tool as it is after what was chosen. */
  of(tool: Tool): Tool {
    const mode = this.#chosen.get(keyOf(tool));
    return mode === undefined || tool.include === "app" ? tool : withInclude(tool, mode);
  }

  /** The tools as they are after what was chosen. */
  ofAll(tools: Tool[]): Tool[] {
    return this.#chosen.size === 0 ? tools : tools.map((tool) => this.of(tool));
  }

  hasChosen(tool: Pick<Tool, "name" | "source">): boolean {
    return this.#chosen.has(keyOf(tool));
  }

  /** Throws UNKNOWN_TOOL, or UNSUPPORTED for a tool of a server's app. */
  choose(given: string | Pick<Tool, "name" | "source">, mode: IncludeMode): Tool {
    const tool = this.#find(typeof given === "string" ? given : keyOf(given));
    if (tool.include === "app") {
      const message = `the server keeps the tool '${oneLine(canonicalName(tool), 200)}' for its own app, so no model may get it`;
      throw new PlugboardError("UNSUPPORTED", message);
    }
    const before = this.of(tool);
    this.#chosen.set(keyOf(tool), mode);
    const now = this.of(tool);
    if (now.include !== before.include) {
      this.#options.onChange({ added: [], removed: [], changed: [tool.name] });
    }
    return now;
  }

  #find(name: string): Tool {
    const tools = this.#options.tools();
    const known = tools.find((tool) => tool.name === name || keyOf(tool) === name);
    if (known !== undefined) return known;
    const [only, ...others] = tools.filter(
      ({ source }) => source.kind === "mcp" && source.tool === name,
    );
    if (only !== undefined && others.length === 0) return only;
    const isOneOf = only !== undefined;
    throw new PlugboardError(
      "UNKNOWN_TOOL",
      isOneOf
        ? `several tools are named '${oneLine(name, 200)}'`
        : `there is no tool named '${oneLine(name, 200)}'`,
      {
        hint: isOneOf
          ? `say which: ${[only, ...others].map(canonicalName).join(", ")}`
          : suggestTools(name, tools),
      },
    );
  }
}

const marked = new WeakMap<Tool, Map<IncludeMode, Tool>>();

/** Always the same object for the same tool: whoever compares lists sees no change. */
export function withInclude(tool: Tool, include: IncludeMode): Tool {
  if (tool.include === include) return tool;
  const copies = marked.get(tool) ?? new Map<IncludeMode, Tool>();
  marked.set(tool, copies);
  const copy = copies.get(include) ?? { ...tool, include };
  copies.set(include, copy);
  return copy;
}

/** `server/tool`, or `native/tool`. */
function keyOf({ name, source }: Pick<Tool, "name" | "source">): string {
  return source.kind === "mcp" ? canonicalName({ name, source }) : `native/${name}`;
}
