// What a server offers beside tools: the port between the board and one connection.

import type { Diagnostic } from "./diagnostic.ts";
import type { JsonObject } from "./json.ts";
import type { PromptDefinition } from "./prompt.ts";
import type { ResourceDefinition, ResourceTemplateDefinition } from "./resource.ts";

export interface ResourceList {
  resources: ResourceDefinition[];
  templates: ResourceTemplateDefinition[];
  diagnostics: Diagnostic[];
}

export interface PromptList {
  prompts: PromptDefinition[];
  diagnostics: Diagnostic[];
}

export type ContentChange =
  | { kind: "resources" }
  | { kind: "prompts" }
  /** Of a resource that is subscribed to, or of a part of one. */
  | { kind: "updated"; uri: string };

export interface ContentRequest {
  /** Milliseconds without an answer. */
  timeout: number;
  signal?: AbortSignal;
}

export interface CompletionQuery {
  /** What the argument belongs to. */
  of: { type: "ref/prompt"; name: string } | { type: "ref/resource"; uri: string };
  argument: string;
  value: string;
  known: Record<string, string>;
}

/**
 * Answers are the server's as they came, unchecked, unless a list is asked for. What there is no answer to
 * rejects with a PlugboardError.
 */
export interface ServerContent {
  readonly has: {
    resources: boolean;
    subscriptions: boolean;
    prompts: boolean;
    completions: boolean;
  };
  /** Empty where the server has none. */
  listResources(): Promise<ResourceList>;
  listPrompts(): Promise<PromptList>;
  readResource(uri: string, request: ContentRequest): Promise<unknown>;
  getPrompt(name: string, args: JsonObject, request: ContentRequest): Promise<unknown>;
  complete(query: CompletionQuery, request: ContentRequest): Promise<unknown>;
  subscribe(uri: string): Promise<void>;
  unsubscribe(uri: string): Promise<void>;
  onChange(listener: (change: ContentChange) => void): void;
}
