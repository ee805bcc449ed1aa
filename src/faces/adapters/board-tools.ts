// A board's tools as one adapter offers them, with diagnostics for tools that are left out or changed.

import { ModelTools, type ModelToolsOptions } from "../../bridge/model-tools.ts";
import type { SchemaProvider } from "../../bridge/schema/normalize.ts";
import { SCHEMA_PROVIDERS } from "../../bridge/schema/provider-rules.ts";
import type { Board } from "../../model/board.ts";
import type { Diagnostic } from "../../model/diagnostic.ts";
import { PlugboardError } from "../../model/errors.ts";
import type { Tool } from "../../model/tool.ts";

export interface AdapterOptions {
  /** Receives one diagnostic for each tool that is left out or changed. */
  onDiagnostic?: (diagnostic: Diagnostic) => void;
  /** How many tokens your model takes in one request. A tool that takes a quarter of them is left out. */
  contextWindow?: number;
}

export function boardTools(
  board: Pick<Board, "tools">,
  rules: Pick<ModelToolsOptions, "providers" | "maxTools">,
  { onDiagnostic, contextWindow }: AdapterOptions,
): ModelTools {
  rules.providers.forEach(requireProvider);
  const report = ({ name, source }: Tool, message: string): void => {
    const server = source.kind === "mcp" ? source.server : "native";
    onDiagnostic?.({ server, subject: source.kind === "mcp" ? source.tool : name, message });
  };
  return new ModelTools(() => board.tools(), {
    ...rules,
    contextWindow,
    onLeftOut: (tool, reason) => report(tool, `left out: ${reason}`),
    onChanged: (tool, changes) => report(tool, `offered with changes: ${changes}`),
  });
}

/** Throws INVALID_ARGUMENTS for a name that a program without types may pass: every tool would be left out. */
export function requireProvider(provider: SchemaProvider): void {
  if (SCHEMA_PROVIDERS.includes(provider)) return;
  const message = `there are no rules for the provider '${provider}'`;
  const hint = `use ${SCHEMA_PROVIDERS.join(", ")}`;
  throw new PlugboardError("INVALID_ARGUMENTS", message, { hint });
}
