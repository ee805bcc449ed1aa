// What the configuration says to the guard, checked and with its layers still apart where it matters.

export type ApprovalMode = "never" | "ask" | "destructive";
export type PinMode = "off" | "warn" | "block";
export type FramingMode = "full" | "compact" | "off";

/** One value for all tools of a server, with exceptions by the tool's own name. */
export interface PerTool<Value> {
  default?: Value;
  tools?: Record<string, Value>;
}

export interface ToolRules {
  /** Absent: everything. Present: nothing else. */
  allow?: string[];
  deny?: string[];
  /** All, or these. */
  ownerOnly?: boolean | string[];
}

/** Rules with the place they came from, for messages: `agents.defaults.tools`, `servers.docs.tools`. */
export interface PlacedRules extends ToolRules {
  place: string;
}

export interface ServerGuard {
  /** Patterns are relative to the server: `read_*` means `server/read_*`. */
  rules?: PlacedRules[];
  approval?: PerTool<ApprovalMode>;
  pins?: PinMode;
  /** Its hints about itself count. */
  trusted?: boolean;
  framing?: FramingMode;
  /** Calls a minute. */
  rateLimit?: PerTool<number | false>;
  concurrency?: PerTool<number>;
  maxResultBytes?: number;
}

export interface AgentGuard {
  /** Of the defaults, then of the agent: a tool must pass each. */
  rules?: PlacedRules[];
  approval?: ApprovalMode;
  pins?: PinMode;
  framing?: FramingMode;
  limits?: { sessionServers?: number; sessionTools?: number };
}

export interface AuditSettings {
  file?: string;
  /** Write arguments (redacted) instead of their hash. */
  arguments?: boolean;
}
