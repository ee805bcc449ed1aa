// One thing wrong in a configuration, with the place a person must look at.

export interface ConfigProblem {
  /** Absent where the configuration came from code. */
  file?: string;
  line?: number;
  column?: number;
  /** Keys from the root, as in `agents.defaults.mcp.servers.docs.url`. */
  path: string;
  message: string;
  /** The nearest valid key, for a typo. */
  suggestion?: string;
}
