// Pins: the definitions of what a server lists as they were first seen or approved, and what differs since.

import type { ToolDefinition } from "./tool.ts";

/**
 * The part of a tool definition that a model is told: not what may differ from one listing to the next (`_meta`). A
 * resource, template or prompt has the form of a tool too, with its other details in the place of the schema.
 */
export type PinnedTool = Omit<ToolDefinition, "_meta" | "execution">;

/** One definition of a server of that name. Another definition under the same name has pins of its own. */
export interface PinnedServer {
  server: string;
  /** Identifies the server by its command or address. */
  key: string;
}

/** A value as it was seen at one time. */
export interface SeenValue<Value> {
  hash: string;
  value: Value;
  /** Milliseconds since the epoch. */
  seen: number;
}

export type Pin<Value> =
  | { kind: "pinned"; firstSeen: number; approved: SeenValue<Value> }
  | { kind: "changed"; firstSeen: number; approved: SeenValue<Value>; pending: SeenValue<Value> }
  /** It appeared after the server was pinned, and nobody has approved it. */
  | { kind: "new"; firstSeen: number; pending: SeenValue<Value> };

export interface ServerPins extends PinnedServer {
  /**
   * Which lists were seen: of tools, each with what the host had advertised, as canonical JSON; `list of resources`;
   * `list of prompts`.
   */
  seenWith: readonly string[];
  /** The text is empty if the server gives none. */
  instructions: Pin<string>;
  /** By name. Resources and prompts are here too, under names such as `prompt:review`. */
  tools: ReadonlyMap<string, Pin<PinnedTool>>;
}

/** Pins that were saved and are missing or unreadable now, so that nobody can tell what has changed. */
export interface LostPins extends PinnedServer {
  file: string;
  why: "missing" | "unreadable";
}

/** One pin with the server it belongs to. */
export type PinEntry = { pins: ServerPins } & (
  | { kind: "tool"; tool: string; pin: Pin<PinnedTool> }
  | { kind: "instructions"; pin: Pin<string> }
);

/** One difference between two definitions. `before` or `after` is missing where only the other side has the part. */
export interface FieldChange {
  /** For example `inputSchema.properties.path.type`. */
  path: string;
  before?: string;
  after?: string;
}
