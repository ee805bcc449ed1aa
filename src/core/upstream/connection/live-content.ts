// The resources and prompts of one connection, in either era: lists and reads them with requests of the host's
// own, subscribes to resources, and reports changes.

import type { CallerRequest } from "../../types/connection.ts";
import { PlugboardError, toPlugboardError } from "../../types/errors.ts";
import { isJsonObject, type JsonObject, objectIn } from "../../types/json.ts";
import type {
  CompletionQuery,
  ContentChange,
  PromptList,
  ResourceList,
  ServerContent,
} from "../../types/server-content.ts";
import {
  type ListedItems,
  type ListKind,
  type ListOptions,
  listPages,
} from "../lists/list-pages.ts";
import { PROMPT_LIST } from "../lists/list-prompts.ts";
import { MAX_URI, RESOURCE_LIST, TEMPLATE_LIST } from "../lists/list-resources.ts";
import { isMethodNotFound } from "../transport/errors.ts";
import type { RequestOptions } from "../transport/pending-calls.ts";
import type { ChangeStream } from "./change-stream.ts";

/** For all callers together; an endpoint gives each of them a part. */
const MAX_SUBSCRIPTIONS = 4000;

/** `timeout` is for requests that no caller made: lists and subscriptions. */
export interface LiveContentOptions extends ListOptions {
  /** As the server sent them. */
  capabilities: unknown;
  /** Subscribes to resources; undefined in the legacy era, which has a request for that. */
  changes: Pick<ChangeStream, "subscribe" | "covers"> | undefined;
  /** Sends a caller's request, and again with the answers that the server wants first, which are in `extra`. */
  send: (
    send: (options: CallerRequest & RequestOptions) => Promise<unknown>,
    request: CallerRequest,
  ) => Promise<unknown>;
}

export class LiveContent implements ServerContent {
  readonly has: ServerContent["has"];
  readonly #options: LiveContentOptions;
  readonly #subscribed = new Set<string>();
  readonly #listeners = new Set<(change: ContentChange) => void>();

  constructor(options: LiveContentOptions) {
    this.#options = options;
    const of = objectIn(options.capabilities);
    this.has = {
      resources: isJsonObject(of.resources),
      subscriptions: isJsonObject(of.resources) && of.resources.subscribe === true,
      prompts: isJsonObject(of.prompts),
      completions: isJsonObject(of.completions),
    };
  }

  async listResources(): Promise<ResourceList> {
    if (!this.has.resources) return { resources: [], templates: [], diagnostics: [] };
    const { server } = this.#options;
    const lists = await Promise.allSettled([
      this.#list(RESOURCE_LIST, "resources"),
      // Many servers have no templates, and say so with this error.
      listPages(TEMPLATE_LIST, this.#options).catch((error: unknown) => {
        if (isMethodNotFound(error)) return { items: [], diagnostics: [] };
        throw error;
      }),
    ]);
    const [resources, templates] = lists;
    const listed: ResourceList = {
      resources: resources.status === "fulfilled" ? resources.value.items : [],
      templates: templates.status === "fulfilled" ? templates.value.items : [],
      diagnostics: lists.flatMap((each) =>
        each.status === "fulfilled" ? each.value.diagnostics : [],
      ),
    };
    const failed = lists.find((each) => each.status === "rejected");
    if (failed === undefined) return listed;
    const { message } = toPlugboardError(failed.reason, "PROTOCOL");
    if (listed.resources.length + listed.templates.length === 0) throw failed.reason;
    const missing = failed === resources ? "resources" : "templates";
    const what = missing === "resources" ? "resources" : "resource templates";
    const said = { server, message: `listing ${what}: ${message}` };
    return { ...listed, diagnostics: [...listed.diagnostics, said], missing };
  }

  async listPrompts(): Promise<PromptList> {
    if (!this.has.prompts) return { prompts: [], diagnostics: [] };
    const { items, diagnostics } = await this.#list(PROMPT_LIST, "prompts");
    return { prompts: items, diagnostics };
  }

  readResource(uri: string, request: CallerRequest): Promise<unknown> {
    return this.#ask("resources/read", { uri }, request);
  }

  getPrompt(name: string, args: JsonObject, request: CallerRequest): Promise<unknown> {
    return this.#ask("prompts/get", { name, arguments: args }, request);
  }

  complete(query: CompletionQuery, request: CallerRequest): Promise<unknown> {
    const { of, argument, value, known } = query;
    const isContext = Object.keys(known).length > 0;
    return this.#options.wire.request(
      "completion/complete",
      {
        ref: of,
        argument: { name: argument, value },
        ...(isContext && { context: { arguments: known } }),
      },
      request,
    );
  }

  async subscribe(uri: string): Promise<void> {
    if (this.#subscribed.has(uri)) return;
    const { server, changes } = this.#options;
    if (!this.has.subscriptions) {
      throw new PlugboardError("UNSUPPORTED", "the server does not report updates", { server });
    }
    if (this.#subscribed.size >= MAX_SUBSCRIPTIONS) {
      const message = `there are ${MAX_SUBSCRIPTIONS} subscriptions to the server already`;
      throw new PlugboardError("UNSUPPORTED", message, { server });
    }
    this.#subscribed.add(uri);
    try {
      if (changes === undefined) return void (await this.#request("resources/subscribe", uri));
      await changes.subscribe(this.#subscribed);
      if (!changes.covers(uri)) {
        const message = "the server does not report updates of this resource";
        throw new PlugboardError("UNSUPPORTED", message, { server });
      }
    } catch (error) {
      this.#subscribed.delete(uri);
      throw error;
    }
  }

  async unsubscribe(uri: string): Promise<void> {
    if (!this.#subscribed.delete(uri)) return;
    const { changes } = this.#options;
    if (changes === undefined) await this.#request("resources/unsubscribe", uri);
    else await changes.subscribe(this.#subscribed);
  }

  onChange(listener: (change: ContentChange) => void): void {
    this.#listeners.add(listener);
  }

  /** Passes a change on, except updates of resources that nobody subscribed to. */
  heard(change: ContentChange): void {
    if (change.kind === "updated" && !this.#isWanted(change.uri)) return;
    for (const listener of this.#listeners) listener(change);
  }

  /** Subscribes again and reports everything as changed: the server may have forgotten us, or we missed changes. */
  async renew(): Promise<void> {
    this.heard({ kind: "resources" });
    this.heard({ kind: "prompts" });
    const { changes } = this.#options;
    for (const uri of this.#subscribed) {
      if (changes === undefined) await this.#request("resources/subscribe", uri).catch(() => {});
      this.heard({ kind: "updated", uri });
    }
  }

  end(): void {
    this.#listeners.clear();
  }

  #ask(method: string, params: JsonObject, request: CallerRequest): Promise<unknown> {
    const { wire, send } = this.#options;
    return send((sent) => wire.request(method, { ...params, ...sent.extra }, sent), request);
  }

  #request(method: string, uri: string): Promise<unknown> {
    const { wire, timeout } = this.#options;
    return wire.request(method, { uri }, { timeout });
  }

  #isWanted(uri: string): boolean {
    if (uri.length > MAX_URI) return false;
    if (this.#subscribed.has(uri)) return true;
    // The update may be of a part of a subscribed resource.
    return [...this.#subscribed].some((whole) => uri.startsWith(whole));
  }

  async #list<Item>(kind: ListKind<Item>, what: string): Promise<ListedItems<Item>> {
    try {
      return await listPages(kind, this.#options);
    } catch (error) {
      if (!isMethodNotFound(error)) throw error;
      const message = `the server advertises ${what} but does not know ${kind.method}`;
      return { items: [], diagnostics: [{ server: this.#options.server, message }] };
    }
  }
}
