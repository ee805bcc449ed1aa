// What the rules say about a call of a tool.

export interface ToolVerdict {
  kind: "allowed" | "asks" | "refused";
  /** The rule that refuses it, or why it has to be approved. */
  rule?: string;
}
