// A tool result from the record of an earlier session, as a model may read it again.

import { presentToModel } from "../guard/present/present.ts";
import type { CallOutcome, ToolResult, ToolSource } from "../types/tool.ts";

/** A model that needs more of it can call the tool again. */
const MAX_RESULT_BYTES = 16 * 1024;

/**
 * Frames every result like a server's, even that of a native tool: somebody may have edited the record.
 * `source` is that of the tool `name`, if there still is one.
 */
export async function presentPastResult(
  outcome: CallOutcome,
  name: string,
  source: ToolSource | undefined,
): Promise<ToolResult> {
  const { server, tool } = source?.kind === "mcp" ? source : { server: "unknown", tool: name };
  return presentToModel(
    outcome,
    { canonical: `${server}/${tool}`, source: { kind: "mcp", server, tool } },
    { framing: "full", maxResultBytes: MAX_RESULT_BYTES },
  );
}
