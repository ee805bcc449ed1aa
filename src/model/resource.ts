// What servers offer to read: resources by URI, and templates of URIs.

import type { JsonObject } from "./json.ts";

/** One resource as its server describes it, checked but otherwise untouched. */
export interface ResourceDefinition {
  uri: string;
  name: string;
  title?: string;
  description?: string;
  mimeType?: string;
  /** Bytes. */
  size?: number;
  annotations?: JsonObject;
  _meta?: JsonObject;
}

export interface ResourceTemplateDefinition {
  /** RFC 6570. */
  uriTemplate: string;
  name: string;
  title?: string;
  description?: string;
  mimeType?: string;
  annotations?: JsonObject;
  _meta?: JsonObject;
}

interface Offered {
  server: string;
  /** The server can be asked now, or after a start that asking triggers. */
  available: boolean;
}

export type Resource = ResourceDefinition & Offered;

export type ResourceTemplate = ResourceTemplateDefinition & Offered;

/** One part of what was read: `text`, or `blob` in base64. */
export interface ResourceContents {
  uri: string;
  mimeType?: string;
  text?: string;
  blob?: string;
  _meta?: JsonObject;
}

export interface ResourceReading {
  server: string;
  uri: string;
  contents: ResourceContents[];
}

export interface Completion {
  /** At most 100. */
  values: string[];
  /** How many there are in all, where the server says so. */
  total?: number;
  hasMore?: boolean;
}

export interface ResourceOptions {
  /** Whose. Without it: the first in the order of the configuration that has it. */
  server?: string;
  signal?: AbortSignal;
}

export interface CompleteOptions extends ResourceOptions {
  /** What is known of the other arguments. */
  known?: Record<string, string>;
}

/** Everything but `list`, `templates` and `context` rejects with a PlugboardError where it fails. */
export interface BoardResources {
  /**
   * In the order of the configuration. Of a server that is down, what was last heard. A server that has
   * not been asked yet is started for it; with a name, one that cannot be asked rejects.
   */
  list(server?: string): Promise<Resource[]>;
  templates(server?: string): Promise<ResourceTemplate[]>;
  read(uri: string, options?: ResourceOptions): Promise<ResourceReading>;
  /** From now on the event "resources" tells of updates, across restarts too. */
  subscribe(uri: string, options?: ResourceOptions): Promise<void>;
  unsubscribe(uri: string, options?: ResourceOptions): Promise<void>;
  /** What may stand for `argument` of a URI template, given the beginning of it. */
  complete(
    uriTemplate: string,
    argument: string,
    value: string,
    options?: CompleteOptions,
  ): Promise<Completion>;
  /**
   * What the servers that are up offer to read, as one block for a prompt, marked as untrusted; empty
   * where there is nothing. The same text for as long as nothing has changed.
   */
  context(): Promise<string>;
}
