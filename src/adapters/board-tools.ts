// A board's tools as one adapter offers them, with diagnostics for tools that are left out or changed.

import { PromptTools, type PromptToolsOptions } from "../core/board/prompt-tools.ts";
import { ModelTools, type ModelToolsOptions } from "../core/tools/model-tools.ts";
import type { SchemaProvider } from "../core/tools/schema/normalize.ts";
import { SCHEMA_PROVIDERS } from "../core/tools/schema/provider-rules.ts";
import type { Board } from "../core/types/board.ts";
import type { Diagnostic } from "../core/types/diagnostic.ts";
import { PlugboardError } from "../core/types/errors.ts";
import { SEARCH_SETTINGS, type ToolSearchSetting } from "../core/types/include.ts";
import {
  FUNCTION,
  NUMBER,
  objectWith,
  requireKind,
  requireOptions,
  TEXT,
} from "../core/types/kinds.ts";
import type { Tool } from "../core/types/tool.ts";

/** A board, or anything that lists tools. Without `search`, the model gets all of them. */
export type AdapterBoard = Pick<Board, "tools"> & Partial<Pick<Board, "search" | "toolSearch">>;

export interface AdapterOptions {
  /** Whether the model searches for tools instead of getting all. Default: as the board is configured. */
  toolSearch?: ToolSearchSetting;
  /** Receives one diagnostic for each tool that is left out or changed. */
  onDiagnostic?: (diagnostic: Diagnostic) => void;
  /**
   * How many tokens your model takes in one request. A tool that takes a quarter of them is left out, and with
   * `toolSearch: "auto"` the model searches if all tools take more than a tenth.
   */
  contextWindow?: number;
}

/** What the shape of an adapter allows: whether its list can grow, and where the names of all tools can be. */
type Shape = Pick<PromptToolsOptions, "grows" | "describesIndex">;

/** For an adapter that returns a list once: what the model finds later does not come into it. */
export const SNAPSHOT: Shape = { grows: "no", describesIndex: true };

export interface Preselection {
  /**
   * Where the model searches for tools, brings a few of them into `tools` that fit what the user says. Call it before the
   * first request of a turn. Does not reject.
   */
  preselect: (message: string) => Promise<void>;
}

export interface BoardTools extends Preselection {
  tools: ModelTools;
}

/** Not every schema has a strict form. One without it stays as it is. */
export function rulesFor(provider: SchemaProvider): SchemaProvider[] {
  return provider === "openai-strict" ? [provider, "openai"] : [provider];
}

export function boardTools(
  board: AdapterBoard,
  rules: Pick<ModelToolsOptions, "providers" | "maxTools" | "keepsNames">,
  options: AdapterOptions,
  shape: Shape = {},
): BoardTools {
  requireKind("the board", board, objectWith("a board", "tools"));
  requireOptions(options, {
    toolSearch: TEXT,
    onDiagnostic: FUNCTION,
    contextWindow: NUMBER,
  });
  const { onDiagnostic, contextWindow, toolSearch } = options;
  rules.providers.forEach(requireProvider);
  requireSetting(toolSearch);
  const prompt = new PromptTools({
    tools: () => board.tools(),
    search: async (query, given) => (await board.search?.(query, given)) ?? [],
    toolSearch: () => {
      const setting = toolSearch ?? board.toolSearch ?? "auto";
      if (board.search === undefined) return "off";
      return setting === "index" && !shape.describesIndex ? "on" : setting;
    },
    contextWindow,
    ...shape,
  });
  const report = ({ name, source }: Tool, message: string): void => {
    const server = source.kind === "mcp" ? source.server : "native";
    onDiagnostic?.({ server, subject: source.kind === "mcp" ? source.tool : name, message });
  };
  const tools = new ModelTools(() => prompt.list(), {
    ...rules,
    contextWindow,
    find: (name) => prompt.find(name),
    onCall: ({ name }) => prompt.used(name),
    onLeftOut: (tool, reason) => report(tool, `left out: ${reason}`),
    onChanged: (tool, changes) => report(tool, `offered with changes: ${changes}`),
  });
  return { tools, preselect: (message) => prompt.preselect(message) };
}

/** A word that is no setting would be taken for `on`. */
function requireSetting(setting: ToolSearchSetting | undefined): void {
  if (setting === undefined || SEARCH_SETTINGS.includes(setting)) return;
  throw new PlugboardError("INVALID_ARGUMENTS", `there is no toolSearch '${setting}'`, {
    hint: `use ${SEARCH_SETTINGS.join(", ")}`,
  });
}

/** Throws INVALID_ARGUMENTS for a name that a program without types may pass: every tool would be left out. */
export function requireProvider(provider: SchemaProvider): void {
  requireKind("the provider", provider, TEXT);
  if (SCHEMA_PROVIDERS.includes(provider)) return;
  const message = `there are no rules for the provider '${provider}'`;
  const hint = `use ${SCHEMA_PROVIDERS.join(", ")}`;
  throw new PlugboardError("INVALID_ARGUMENTS", message, { hint });
}
