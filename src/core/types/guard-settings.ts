// The guard's settings, checked. Rules of different layers stay separate, since a tool must pass each layer.

/** Which calls need approval; `destructive` means tools that may be destructive. */
export type ApprovalMode = "never" | "ask" | "destructive";
/** What happens when a tool's definition has changed since it was pinned. */
export type PinMode = "off" | "warn" | "block";
/** How results are marked as untrusted for a model. */
export type FramingMode = "full" | "compact" | "off";

/**
 * One value for all tools of a server, with exceptions by the server's own name of a tool. Resources and prompts have
 * only exceptions: `resource:file:///*`.
 */
export interface PerTool<Value> {
  default?: Value;
  tools?: Record<string, Value>;
}

export interface ToolRules {
  /** Patterns of the only tools that may be called. Default: all. */
  allow?: string[];
  /** Patterns of tools that may not be called, even if `allow` matches. */
  deny?: string[];
  /** Which tools are for the owner only: all (`true`), or those that match. */
  ownerOnly?: boolean | string[];
}

/** Rules and where they come from, for messages: `agents.defaults.tools`, `servers.docs.tools`. */
export interface PlacedRules extends ToolRules {
  place: string;
  /**
   * The lists are about all that a server has: `files/*` means its resources and prompts too, and what `allow` does not
   * name is refused. Those of tokens and sessions are; those of the configuration are about tools, and about resources or
   * prompts only where a pattern is.
   */
  coversContent?: true;
}

/** A rule, or a setting for single tools, that matches no tool of its servers. */
export interface UnmatchedRule {
  /** As written. */
  rule: string;
  /** Where it is: `agents.defaults.tools.deny`. */
  setting: string;
  /** Whether it was meant to take something away, as `deny` does, so that something is allowed that should not be. */
  restricts: boolean;
  /** The servers that it names; absent if it is about any server. */
  servers?: readonly string[];
  /** The name of a tool that may have been meant. */
  nearest?: string;
  /** Completes a sentence that begins with the rule: "matches no tool; did you mean …?" */
  problem: string;
}

export interface ServerGuard {
  /** Patterns are relative to the server: `read_*` means `server/read_*`. */
  rules?: PlacedRules[];
  approval?: PerTool<ApprovalMode>;
  pins?: PinMode;
  /** Whether to believe the server's labels about its tools. */
  trusted?: boolean;
  framing?: FramingMode;
  /** Calls per minute. */
  rateLimit?: PerTool<number | false>;
  concurrency?: PerTool<number>;
  maxResultBytes?: number;
}

export interface AgentGuard {
  /** The rules of the defaults, then those of the agent. A tool must pass each. */
  rules?: PlacedRules[];
  approval?: ApprovalMode;
  pins?: PinMode;
  framing?: FramingMode;
  /** How many servers and tools a session may bring. */
  limits?: { sessionServers?: number; sessionTools?: number };
}

export interface AuditSettings {
  file?: string;
  /** Writes the arguments, redacted, instead of their hash. Default false. */
  arguments?: boolean;
}
