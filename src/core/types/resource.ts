// Resources of servers, which you read by URI, and URI templates.

import type { CallerOptions, InputRequired } from "./caller-options.ts";
import type { Icon } from "./icon.ts";
import type { JsonObject } from "./json.ts";

/** One resource as its server describes it, checked but not changed. */
export interface ResourceDefinition {
  uri: string;
  name: string;
  title?: string;
  description?: string;
  mimeType?: string;
  /** In bytes. */
  size?: number;
  annotations?: JsonObject;
  icons?: Icon[];
  _meta?: JsonObject;
}

export interface ResourceTemplateDefinition extends Omit<ResourceDefinition, "uri" | "size"> {
  /** A template as in RFC 6570. */
  uriTemplate: string;
}

interface OnServer {
  server: string;
  /** Whether you can read from the server; it is started first if it is down. */
  available: boolean;
}

export type Resource = ResourceDefinition & OnServer;

export type ResourceTemplate = ResourceTemplateDefinition & OnServer;

/** One part of a resource: `text`, or `blob` in base64. */
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
  /** What the server says about its answer as a whole. */
  _meta?: JsonObject;
  /** The server wants answers first; only for reads with `input`. There are no contents then. */
  inputRequired?: InputRequired;
}

export interface Completion {
  /** At most 100. */
  values: string[];
  /** How many there are in all, if the server says so. */
  total?: number;
  hasMore?: boolean;
}

export interface ResourceOptions {
  /** The server to ask. Default: the first in the order of the configuration that has the resource. */
  server?: string;
  signal?: AbortSignal;
}

export interface ResourceReadOptions extends ResourceOptions, CallerOptions {}

export interface CompleteOptions extends ResourceOptions {
  /** The values of other arguments, as far as they are known. */
  known?: Record<string, string>;
}

/** The resources of servers for a prompt, as one text that is marked as untrusted. */
export interface ResourceBlock {
  /** Empty if there are no resources, or no room for any. */
  text: string;
  /** The same with nothing but the names, for when there is not even room for `text`. */
  names: string;
  /** What `text` has the text of. */
  shown: { server: string; uri: string; bytes: number; isCut: boolean }[];
  /** How many other resources there are. `text` has as many of their names as fit. */
  others: number;
}

export interface ResourceBlockOptions {
  /** The most bytes of the block, in UTF-8. At most, and by default, 64 KiB. */
  maxBytes?: number;
}

export interface ListOptions {
  /**
   * With false, a server that has to start first, or is slow, is left out and started in the background; the event
   * "resources" or "prompts" says when it can be listed. Default true. Not for a server that you name.
   */
  wait?: boolean;
}

/** All methods but `list`, `templates`, `block` and `context` reject with a PlugboardError if they fail. */
export interface BoardResources {
  /**
   * Lists resources in the order of the configuration. A server that is down is listed with its last known
   * resources; one that has never been asked is started first. If you name a server and it cannot be asked,
   * this rejects.
   */
  list(server?: string, options?: ListOptions): Promise<Resource[]>;
  templates(server?: string, options?: ListOptions): Promise<ResourceTemplate[]>;
  read(uri: string, options?: ResourceReadOptions): Promise<ResourceReading>;
  /** Subscribes to updates: the event "resources" reports them, also after the server restarts. */
  subscribe(uri: string, options?: ResourceOptions): Promise<void>;
  unsubscribe(uri: string, options?: ResourceOptions): Promise<void>;
  /** Suggests values for `argument` of a URI template, given the beginning of one. */
  complete(
    uriTemplate: string,
    argument: string,
    value: string,
    options?: CompleteOptions,
  ): Promise<Completion>;
  /**
   * Returns the resources of the servers that are up as one block for a prompt, marked as untrusted, or "" if
   * there are none. The text stays the same until a resource changes, so that prompt caches keep working.
   */
  context(options?: ResourceBlockOptions): Promise<string>;
  /** The same text as `context`, with what is in it. */
  block(options?: ResourceBlockOptions): Promise<ResourceBlock>;
}

/** What a model's tools need of a board's resources. */
export interface OfferedResources extends BoardResources {
  /** Whether some server is known to have resources. */
  readonly hasAny: boolean;
  /** For a model: rejects for a URI that no server lists and no template of one offers. */
  readOffered(
    uri: string,
    options: ResourceOptions & { callId?: string },
  ): Promise<ResourceReading>;
  /** For a prompt that the host builds: only rules apply, no limits and no approval. */
  readForPrompt(uri: string, options: ResourceOptions): Promise<ResourceReading>;
}
