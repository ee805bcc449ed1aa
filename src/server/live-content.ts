// What one connection offers beside tools: asks for it with requests of the host's own, in either era, and
// hears what changes.

import type { ProtocolEra } from "../model/connection.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import { PlugboardError } from "../model/errors.ts";
import { isJsonObject, type JsonObject } from "../model/json.ts";
import type {
  CompletionQuery,
  ServerContent,
  ContentChange,
  ContentRequest,
  PromptList,
  ResourceList,
} from "../model/server-content.ts";
import type { Wire } from "./carrier.ts";
import { listPrompts } from "./list-prompts.ts";
import type { PageRequest } from "./list-pages.ts";
import { listResources, listTemplates, MAX_URI } from "./list-resources.ts";
import type { Listening } from "./listening.ts";
import { isMethodNotFound } from "./method-not-found.ts";

const MAX_SUBSCRIPTIONS = 1000;

export interface LiveOfferOptions {
  server: string;
  /** Milliseconds for what is no caller's own request. */
  timeout: number;
  era: ProtocolEra;
  /** As the server said them. */
  capabilities: unknown;
  wire: Pick<Wire, "request">;
  /** Of 2026-07-28: what resources are subscribed to with. */
  listening: Pick<Listening, "want" | "hears"> | undefined;
  /** Asks, and asks again with what the server wants to know; `ask` is given what to add. */
  inRounds: (ask: (extra: JsonObject | undefined) => Promise<unknown>) => Promise<unknown>;
  /** Takes secrets out of what the server says about what it offers. */
  redact: (text: string) => string;
}

export class LiveContent implements ServerContent {
  readonly has: ServerContent["has"];
  readonly #options: LiveOfferOptions;
  readonly #subscribed = new Set<string>();
  readonly #listeners = new Set<(change: ContentChange) => void>();

  constructor(options: LiveOfferOptions) {
    this.#options = options;
    const of = isJsonObject(options.capabilities) ? options.capabilities : {};
    this.has = {
      resources: isJsonObject(of.resources),
      subscriptions: isJsonObject(of.resources) && of.resources.subscribe === true,
      prompts: isJsonObject(of.prompts),
      completions: isJsonObject(of.completions),
    };
  }

  async listResources(): Promise<ResourceList> {
    if (!this.has.resources) return { resources: [], templates: [], diagnostics: [] };
    const { server, redact } = this.#options;
    const empty = { items: [], diagnostics: [] as Diagnostic[] };
    const [resources, templates] = await Promise.all([
      listResources(server, this.#pages("resources/list"), redact).catch((error: unknown) => ({
        ...empty,
        diagnostics: this.#unknown(error, "resources", "resources/list"),
      })),
      // Many servers have none and say so in this way.
      listTemplates(server, this.#pages("resources/templates/list"), redact).catch(
        (error: unknown) => {
          if (isMethodNotFound(error)) return empty;
          throw error;
        },
      ),
    ]);
    return {
      resources: resources.items,
      templates: templates.items,
      diagnostics: [...resources.diagnostics, ...templates.diagnostics],
    };
  }

  async listPrompts(): Promise<PromptList> {
    if (!this.has.prompts) return { prompts: [], diagnostics: [] };
    const { server, redact } = this.#options;
    try {
      return await listPrompts(server, this.#pages("prompts/list"), redact);
    } catch (error) {
      return { prompts: [], diagnostics: this.#unknown(error, "prompts", "prompts/list") };
    }
  }

  readResource(uri: string, request: ContentRequest): Promise<unknown> {
    return this.#ask("resources/read", { uri }, request);
  }

  getPrompt(name: string, args: JsonObject, request: ContentRequest): Promise<unknown> {
    return this.#ask("prompts/get", { name, arguments: args }, request);
  }

  complete(query: CompletionQuery, request: ContentRequest): Promise<unknown> {
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
    const { server, listening } = this.#options;
    if (!this.has.subscriptions) {
      throw new PlugboardError("UNSUPPORTED", "the server does not tell of updates", { server });
    }
    if (this.#subscribed.size >= MAX_SUBSCRIPTIONS) {
      const message = `there are ${MAX_SUBSCRIPTIONS} subscriptions to the server already`;
      throw new PlugboardError("UNSUPPORTED", message, { server });
    }
    this.#subscribed.add(uri);
    try {
      if (listening === undefined) return void (await this.#tell("resources/subscribe", uri));
      await listening.want(this.#subscribed);
      if (!listening.hears(uri)) {
        const message = "the server does not tell of updates of this resource";
        throw new PlugboardError("UNSUPPORTED", message, { server });
      }
    } catch (error) {
      this.#subscribed.delete(uri);
      throw error;
    }
  }

  async unsubscribe(uri: string): Promise<void> {
    if (!this.#subscribed.delete(uri)) return;
    const { listening } = this.#options;
    if (listening === undefined) await this.#tell("resources/unsubscribe", uri);
    else await listening.want(this.#subscribed);
  }

  onChange(listener: (change: ContentChange) => void): void {
    this.#listeners.add(listener);
  }

  /** A server speaks of what it pleases: an update that nobody asked for is not passed on. */
  heard(change: ContentChange): void {
    if (change.kind === "updated" && !this.#isWanted(change.uri)) return;
    for (const listener of this.#listeners) listener(change);
  }

  /** The server may have forgotten everything, or what it said was not heard. */
  async renew(): Promise<void> {
    this.heard({ kind: "resources" });
    this.heard({ kind: "prompts" });
    const { listening } = this.#options;
    for (const uri of this.#subscribed) {
      if (listening === undefined) await this.#tell("resources/subscribe", uri).catch(() => {});
      this.heard({ kind: "updated", uri });
    }
  }

  end(): void {
    this.#listeners.clear();
  }

  #pages(method: string): PageRequest {
    const { wire, timeout } = this.#options;
    return (cursor) => wire.request(method, cursor === undefined ? {} : { cursor }, { timeout });
  }

  #ask(method: string, params: JsonObject, request: ContentRequest): Promise<unknown> {
    const { wire, era, inRounds } = this.#options;
    if (era === "legacy") return wire.request(method, params, request);
    return inRounds((extra) => wire.request(method, { ...params, ...extra }, request));
  }

  #tell(method: string, uri: string): Promise<unknown> {
    const { wire, timeout } = this.#options;
    return wire.request(method, { uri }, { timeout });
  }

  #isWanted(uri: string): boolean {
    if (uri.length > MAX_URI) return false;
    if (this.#subscribed.has(uri)) return true;
    // It may be a part of what was subscribed to.
    return [...this.#subscribed].some((whole) => uri.startsWith(whole));
  }

  #unknown(error: unknown, what: string, method: string): Diagnostic[] {
    if (!isMethodNotFound(error)) throw error;
    const message = `the server advertises ${what} and then knows no ${method}`;
    return [{ server: this.#options.server, message }];
  }
}
