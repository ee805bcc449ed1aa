// The resources and prompts of a session in a gateway, seen from an attached command.

import type { CallerOptions } from "../../core/types/caller-options.ts";
import type {
  BoardPrompts,
  Prompt,
  PromptCompleteOptions,
  PromptMessage,
  PromptOptions,
  PromptResult,
} from "../../core/types/prompt.ts";
import type {
  CompleteOptions,
  Completion,
  OfferedResources,
  Resource,
  ResourceBlock,
  ResourceBlockOptions,
  ResourceOptions,
  ResourceReading,
  ResourceReadOptions,
  ResourceTemplate,
} from "../../core/types/resource.ts";

/** Asks the gateway. `given` has the handlers and the signal. */
type Ask = (method: string, params: object, given?: CallerOptions) => Promise<unknown>;

/** Frames a prompt that is not from this session. */
export type PresentPrompt = (result: PromptResult) => PromptMessage[];

export class RemoteResources implements OfferedResources {
  readonly #ask: Ask;
  readonly #hasAny: () => boolean;

  constructor(ask: Ask, hasAny: () => boolean) {
    this.#ask = ask;
    this.#hasAny = hasAny;
  }

  get hasAny(): boolean {
    return this.#hasAny();
  }

  async list(server?: string): Promise<Resource[]> {
    return (await this.#ask("resources/list", { server })) as Resource[];
  }

  async templates(server?: string): Promise<ResourceTemplate[]> {
    return (await this.#ask("resources/templates", { server })) as ResourceTemplate[];
  }

  async read(uri: string, options: ResourceReadOptions = {}): Promise<ResourceReading> {
    const { server } = options;
    return (await this.#ask("resources/read", { uri, server }, options)) as ResourceReading;
  }

  async readOffered(
    uri: string,
    { server, signal, callId }: ResourceOptions & { callId?: string },
  ): Promise<ResourceReading> {
    const params = { uri, server, callId };
    return (await this.#ask("resources/readOffered", params, { signal })) as ResourceReading;
  }

  async subscribe(uri: string, { server, signal }: ResourceOptions = {}): Promise<void> {
    await this.#ask("resources/subscribe", { uri, server }, { signal });
  }

  async unsubscribe(uri: string, { server, signal }: ResourceOptions = {}): Promise<void> {
    await this.#ask("resources/unsubscribe", { uri, server }, { signal });
  }

  async complete(
    uriTemplate: string,
    argument: string,
    value: string,
    { server, known, signal }: CompleteOptions = {},
  ): Promise<Completion> {
    const params = { uriTemplate, argument, value, server, known };
    return (await this.#ask("resources/complete", params, { signal })) as Completion;
  }

  async context(options: ResourceBlockOptions = {}): Promise<string> {
    return (await this.block(options)).text;
  }

  async block({ maxBytes }: ResourceBlockOptions = {}): Promise<ResourceBlock> {
    return (await this.#ask("resources/block", { maxBytes })) as ResourceBlock;
  }
}

export class RemotePrompts implements BoardPrompts {
  /** `forModel` gives what the gateway sent with the prompt, which knows how it is to be framed. */
  static readonly #forModel = new WeakMap<PromptResult, PromptMessage[]>();
  readonly #ask: Ask;
  readonly #presentUnknown: PresentPrompt;

  constructor(ask: Ask, presentUnknown: PresentPrompt) {
    this.#ask = ask;
    this.#presentUnknown = presentUnknown;
  }

  async list(server?: string): Promise<Prompt[]> {
    return (await this.#ask("prompts/list", { server })) as Prompt[];
  }

  async get(
    name: string,
    args: Record<string, string> = {},
    options: PromptOptions = {},
  ): Promise<PromptResult> {
    const { framed } = options;
    const answer = await this.#ask("prompts/get", { name, args, framed }, options);
    const { result, forModel } = answer as { result: PromptResult; forModel: PromptMessage[] };
    RemotePrompts.#forModel.set(result, forModel);
    return result;
  }

  forModel(result: PromptResult): PromptMessage[] {
    return RemotePrompts.#forModel.get(result) ?? this.#presentUnknown(result);
  }

  async complete(
    name: string,
    argument: string,
    value: string,
    { known, signal }: PromptCompleteOptions = {},
  ): Promise<Completion> {
    const params = { name, argument, value, known };
    return (await this.#ask("prompts/complete", params, { signal })) as Completion;
  }
}
