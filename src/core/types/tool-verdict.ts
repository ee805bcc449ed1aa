// What the rules say about a call of a tool.

export interface ToolVerdict {
  kind: "allowed" | "asks" | "refused";
  /** The rule that refuses it, or that has it approved. */
  rule?: string;
  /** Why it is refused, if the rule does not say it, or has to be approved. */
  reason?: string;
}
