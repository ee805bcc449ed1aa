// What a board tells its listeners.

import type { CallFailure, ToolSource } from "./tool.ts";
import type { ServerState } from "./server-state.ts";

export interface ToolsEvent {
  /** Public names. */
  added: string[];
  removed: string[];
  changed: string[];
}

export interface ResourcesEvent {
  server: string;
  /** Its list is another, or these have new content. */
  change: "list" | "updated";
  /** With `updated`. */
  uris: string[];
}

/** A server's list of prompts is another. */
export interface PromptsEvent {
  server: string;
}

export interface ServerEvent {
  server: string;
  state: ServerState;
  previous: ServerState;
}

export interface CallEvent {
  tool: string;
  source: ToolSource;
  durationMs: number;
  isError: boolean;
  failure?: CallFailure;
}

export interface BoardEvents {
  tools: ToolsEvent;
  resources: ResourcesEvent;
  prompts: PromptsEvent;
  server: ServerEvent;
  call: CallEvent;
}
