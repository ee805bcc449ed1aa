// Resources, prompts and completions of the board's servers.

import { personOf } from "../../../core/types/caller.ts";
import type { CallerOptions } from "../../../core/types/caller-options.ts";
import { isJsonObject, type JsonObject } from "../../../core/types/json.ts";
import { PlugboardError } from "../../../core/types/errors.ts";
import { abortSignalOf } from "../../../util/abort.ts";
import { oneLine, truncate } from "../../../util/text.ts";
import type { Exchange } from "../client.ts";
import type { EndpointContext } from "../context.ts";
import { type Answer, invalidParams, refuse, RPC, type RpcError } from "../message.ts";
import {
  namePrompts,
  nameResources,
  nameTemplates,
  readPrefix,
  servedAppUri,
  type ServedNames,
} from "../names.ts";
import { pageOf } from "../pages.ts";
import {
  approvalElsewhere,
  approvalFrom,
  askable,
  asker,
  handlersOf,
} from "../questions/ask-client.ts";
import {
  askedByServer,
  boundTo,
  inputOf,
  INVALID_STATE,
  readBroughtBack,
} from "../questions/request-state.ts";
import {
  LONGEST_SUBSCRIBED,
  type NamedResource,
  Subscriptions,
  takeShare,
} from "../subscriptions.ts";
import { readOwnResource } from "./own-resources.ts";
import type { Prompt } from "../../../core/types/prompt.ts";
import type { ListOptions, Resource, ResourceTemplate } from "../../../core/types/resource.ts";

type ContentContext = Omit<
  EndpointContext,
  "changes" | "subscriptions" | "held" | "shared" | "serverOf" | "waiting" | "listening"
>;

/** `Startup` has waited for those that clients wait for, and clients are told when others can be listed. */
const WITHOUT_WAIT: ListOptions = { wait: false };

export class ServedContent {
  readonly #context: ContentContext;
  readonly subscriptions: Subscriptions;
  #resources: ServedNames<Resource> = nameResources([], false);
  #templates: ServedNames<ResourceTemplate> = nameTemplates([], false);
  #prompts: ServedNames<Prompt> = namePrompts([]);
  /** Part of every cursor, so that cursors of an earlier process are invalid. */
  readonly #epoch: string;
  #revision = 0;

  constructor(context: ContentContext) {
    this.#context = context;
    this.#epoch = context.newId();
    this.subscriptions = new Subscriptions(context.board.resources, (uri) => this.#resourceOf(uri));
    const changed = (): void => {
      this.#revision += 1;
    };
    context.board.on("resources", ({ change }) => {
      if (change === "list") changed();
    });
    context.board.on("prompts", changed);
  }

  async listResources({ request }: Exchange): Promise<Answer> {
    await this.#nameResources(WITHOUT_WAIT);
    return this.#page("resources", this.#resources, request.params, ({ served, item }) => {
      const { server: _, available: __, ...resource } = item;
      return { ...resource, uri: served };
    });
  }

  async listTemplates({ request }: Exchange): Promise<Answer> {
    await this.#nameTemplates(WITHOUT_WAIT);
    return this.#page("resourceTemplates", this.#templates, request.params, ({ served, item }) => {
      const { server: _, available: __, ...template } = item;
      return { ...template, uriTemplate: served };
    });
  }

  async listPrompts({ request }: Exchange): Promise<Answer> {
    await this.#namePrompts(WITHOUT_WAIT);
    return this.#page("prompts", this.#prompts, request.params, ({ served, item }) => {
      const { server: _, available: __, ...prompt } = item;
      return { ...prompt, name: served };
    });
  }

  async read(exchange: Exchange): Promise<Answer> {
    const { uri } = exchange.request.params;
    if (typeof uri !== "string") return invalidParams("uri is not a text");
    const own = await readOwnResource(uri, this.#context);
    if (own !== undefined) return own;
    const original = this.#resourceOf(uri);
    const bound = boundTo(exchange, this.#context, uri, {});
    const asking = this.#asking(exchange, bound);
    if ("error" in asking) return asking;
    try {
      const { server, contents, inputRequired, _meta } = await this.#context.board.resources.read(
        original.name,
        { ...asking, server: original.server },
      );
      if (inputRequired !== undefined) {
        return { result: askedByServer(inputRequired, bound, this.#context) };
      }
      return {
        result: {
          contents: contents.map((each) => ({
            ...each,
            // The resource that the client asked for keeps the URI that the client used.
            uri: each.uri === original.name ? uri : this.#servedUri(server, each.uri),
          })),
          _meta,
        },
      };
    } catch (error) {
      return contentFailure(error, uri);
    }
  }

  async getPrompt(exchange: Exchange): Promise<Answer> {
    const { name, arguments: args = {} } = exchange.request.params;
    if (typeof name !== "string") return invalidParams("name is not a text");
    if (!isTexts(args)) return invalidParams("arguments is not an object of texts");
    const bound = boundTo(exchange, this.#context, name, args);
    const asking = this.#asking(exchange, bound);
    if ("error" in asking) return asking;
    try {
      const wanted = await this.#promptOf(name);
      const result = await this.#context.board.prompts.get(wanted, args, {
        ...asking,
        framed: true,
      });
      const { description, messages, inputRequired, _meta } = result;
      if (inputRequired !== undefined) {
        return { result: askedByServer(inputRequired, bound, this.#context) };
      }
      return {
        result: {
          description,
          messages,
          _meta,
        },
      };
    } catch (error) {
      return contentFailure(error);
    }
  }

  /** Who asks for content, and how they are asked something in turn. */
  #asking(
    exchange: Exchange,
    bound: ReturnType<typeof boundTo>,
  ): CallerOptions | { error: RpcError } {
    const { client, callId, request, capabilities } = exchange;
    const { caller } = client;
    const whose = { caller: caller.label, approvalsOf: personOf(caller) };
    const signal = abortSignalOf(exchange.signal);
    const common = { callId, ...whose, signal, meta: exchange.trace };
    if (this.#context.questions === "board") return common;
    if (client.era === "legacy") {
      return {
        ...common,
        ...handlersOf(client, this.#context),
        onApproval: approvalFrom(
          { client, capabilities: askable(client), ask: asker(client) },
          this.#context,
        ),
      };
    }
    const brought = readBroughtBack(request.params, () => bound, this.#context);
    if ("error" in brought) return brought;
    // Only tool calls are held.
    if (brought.state?.held !== undefined) return invalidParams(INVALID_STATE);
    const input = inputOf(brought);
    // Nothing is held for a read, so its approval cannot wait for the client.
    const onApproval = approvalElsewhere({ client }, this.#context);
    return { ...common, input, onApproval, clientCapabilities: capabilities };
  }

  async complete(exchange: Exchange): Promise<Answer> {
    const { ref, argument, context } = exchange.request.params;
    if (!isJsonObject(ref) || !isJsonObject(argument)) {
      return invalidParams("ref or argument is not an object");
    }
    const { name, value } = argument;
    if (typeof name !== "string" || typeof value !== "string") {
      return invalidParams("argument needs a name and a value");
    }
    const known =
      isJsonObject(context) && isTexts(context["arguments"]) ? context["arguments"] : {};
    const options = { known, signal: abortSignalOf(exchange.signal) };
    const { prompts, resources } = this.#context.board;
    try {
      if (ref["type"] === "ref/prompt" && typeof ref["name"] === "string") {
        const prompt = await this.#promptOf(ref["name"]);
        return {
          result: { completion: { ...(await prompts.complete(prompt, name, value, options)) } },
        };
      }
      if (ref["type"] === "ref/resource" && typeof ref["uri"] === "string") {
        const original = this.#templates.find(ref["uri"]) ?? this.#resourceOf(ref["uri"]);
        const { server } = original;
        const completion = await resources.complete(original.name, name, value, {
          ...options,
          server,
        });
        return { result: { completion: { ...completion } } };
      }
      return invalidParams("ref is neither a prompt nor a resource");
    } catch (error) {
      return contentFailure(error);
    }
  }

  async subscribe(exchange: Exchange): Promise<Answer> {
    const { uri } = exchange.request.params;
    if (typeof uri !== "string" || uri.length > LONGEST_SUBSCRIBED) {
      return invalidParams(`uri is not a text of up to ${LONGEST_SUBSCRIBED} characters`);
    }
    const { subscriptions, caller } = exchange.client;
    const { subscriptionShares: shares } = this.#context;
    if (subscriptions.has(uri)) return { result: {} };
    try {
      takeShare(shares, caller.id);
      // Before the server answers: the client may leave meanwhile, and its subscriptions must end then.
      subscriptions.add(uri);
      await this.subscriptions.add(uri);
      return { result: {} };
    } catch (error) {
      if (subscriptions.delete(uri)) shares.giveBack(caller.id);
      return contentFailure(error, uri);
    }
  }

  async unsubscribe(exchange: Exchange): Promise<Answer> {
    const { uri } = exchange.request.params;
    if (typeof uri !== "string") return invalidParams("uri is not a text");
    const { subscriptions, caller } = exchange.client;
    if (subscriptions.delete(uri)) {
      this.#context.subscriptionShares.giveBack(caller.id);
      await this.subscriptions.remove(uri);
    }
    return { result: {} };
  }

  async #nameResources(options?: ListOptions): Promise<void> {
    const { board } = this.#context;
    const keepsApps = this.#context.keepsApps?.() ?? false;
    const listed = await board.resources.list(undefined, options);
    this.#resources = nameResources(listed, keepsApps, this.#resources);
  }

  async #nameTemplates(options?: ListOptions): Promise<void> {
    const { board } = this.#context;
    const keepsApps = this.#context.keepsApps?.() ?? false;
    const listed = await board.resources.templates(undefined, options);
    this.#templates = nameTemplates(listed, keepsApps, this.#templates);
  }

  async #namePrompts(options?: ListOptions): Promise<void> {
    const listed = await this.#context.board.prompts.list(undefined, options);
    this.#prompts = namePrompts(listed, this.#prompts);
  }

  /** What the board calls a prompt. */
  async #promptOf(served: string): Promise<string> {
    // A client need not have listed anything since we started.
    if (this.#prompts.find(served) === undefined) await this.#namePrompts();
    const original = this.#prompts.find(served);
    return original === undefined ? served : `${original.server}/${original.name}`;
  }

  /** The URI under which clients know a server's resource. */
  #servedUri(server: string, uri: string): string {
    const listed = this.#resources.servedAs({ server, name: uri });
    return listed ?? (this.#context.keepsApps?.() ? uri : servedAppUri(server, uri));
  }

  /**
   * What a client means by a URI. A URI that names none of our servers stays as it is: the client may have it from a
   * tool's result, which we do not rewrite.
   */
  #resourceOf(served: string): NamedResource {
    const listed = this.#resources.find(served);
    if (listed !== undefined) return listed;
    const named = readPrefix(served);
    return named !== undefined && this.#context.hasServer(named.server)
      ? named
      : { server: undefined, name: served };
  }

  #page<Item extends { server: string }>(
    key: string,
    names: ServedNames<Item>,
    { cursor }: JsonObject,
    toItem: (each: { served: string; item: Item }) => JsonObject,
  ): Answer {
    const page = pageOf(names.items, cursor, `${key} ${this.#revision} ${this.#epoch}`);
    if (page === undefined) return invalidParams("the cursor is not valid; list from the start");
    const { items, nextCursor } = page;
    return {
      result: { [key]: items.map(toItem), nextCursor },
    };
  }
}

function isTexts(value: unknown): value is Record<string, string> {
  return isJsonObject(value) && Object.values(value).every((each) => typeof each === "string");
}

/** An error does not send a client's megabyte back to it. */
const LONGEST_URI = 2000;

function contentFailure(error: unknown, uri?: string): Answer {
  if (!(error instanceof PlugboardError)) throw error;
  const { code, message } = error;
  if (code === "UNKNOWN_RESOURCE") {
    // By the name that the client has used, whether or not there is a server in it.
    const told = uri === undefined ? message : `no server lists '${oneLine(uri, 500)}'`;
    return refuse(RPC.invalidParams, told, { code, uri: uri && truncate(uri, LONGEST_URI) });
  }
  if (code === "UNKNOWN_PROMPT" || code === "INVALID_ARGUMENTS") {
    return refuse(RPC.invalidParams, message, { code });
  }
  const answered = serverCode(error);
  if (uri !== undefined && (answered === RPC.resourceNotFound || answered === RPC.invalidParams)) {
    return refuse(RPC.invalidParams, message, { code, uri: uri && truncate(uri, LONGEST_URI) });
  }
  return refuse(answered ?? RPC.internalError, message, { code });
}

/**
 * The code of the error that the server answered with. Only the code: secrets are taken out of our message, not of what
 * else the server has sent.
 */
function serverCode(error: unknown): number | undefined {
  for (let each = error; isCause(each); each = each.cause) {
    const sent = isJsonObject(each.cause) ? each.cause["error"] : undefined;
    if (isJsonObject(sent) && typeof sent["code"] === "number") return sent["code"];
  }
  return undefined;
}

function isCause(error: unknown): error is PlugboardError {
  return error instanceof PlugboardError;
}
