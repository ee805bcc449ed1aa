// The prompts of a board: lists them, finds the server of a name, gets prompts and completes their arguments.

import { toPrompt } from "../../tools/server-content.ts";
import { presentPrompt } from "../../guard/present/prompt.ts";
import { PlugboardError } from "../../types/errors.ts";
import { isJsonObject } from "../../types/json.ts";
import {
  CALLER_OPTIONS,
  FLAG,
  type Kind,
  OBJECT,
  requireKind,
  requireOptions,
} from "../../types/kinds.ts";
import type {
  BoardPrompts,
  Prompt,
  PromptCompleteOptions,
  PromptMessage,
  PromptOptions,
  PromptResult,
} from "../../types/prompt.ts";
import type { Completion, ListOptions } from "../../types/resource.ts";
import { closest } from "../../../util/closest.ts";
import { oneLine } from "../../../util/text.ts";
import {
  askServers,
  asksFirst,
  type ContentOptions,
  hidingRefused,
  requireCapability,
  requireName,
  requireCompletion,
  requireListing,
} from "./content-requests.ts";
import type { ContentCache } from "./content-cache.ts";
import type { ListFrom, ListingOptions } from "./content-caches.ts";
import { contentSubject } from "./content-subject.ts";
import type { PromptList } from "../../types/server-content.ts";

const RESULT: Kind = [
  "what prompts.get has returned",
  (value) =>
    isJsonObject(value) &&
    typeof value.server === "string" &&
    typeof value.prompt === "string" &&
    Array.isArray(value.messages) &&
    value.messages.every((each) => isJsonObject(each) && isJsonObject(each.content)),
];

export class Prompts implements BoardPrompts {
  readonly #options: ContentOptions;

  constructor(options: ContentOptions) {
    this.#options = options;
  }

  async list(server?: string, options: ListOptions = {}): Promise<Prompt[]> {
    requireListing(server, options);
    const lists = await askServers(this.#options, undefined, () => this.#lists(server, options));
    return lists.flatMap(({ from, list }) => {
      return list.prompts
        .filter(({ name }) => this.#permits(from, name))
        .map((each) => this.#options.redact({ ...each, ...from.listedServer }));
    });
  }

  async get(
    name: string,
    args: Record<string, string> = {},
    given: PromptOptions = {},
  ): Promise<PromptResult> {
    requireName("the name of the prompt", name);
    requireKind("the arguments", args, OBJECT);
    requireOptions<PromptOptions>(given, { ...CALLER_OPTIONS, framed: FLAG });
    return askServers(this.#options, given.signal, () =>
      this.#hiding(name, () => this.#get(name, args, given)),
    );
  }

  async #get(
    name: string,
    args: Record<string, string>,
    given: PromptOptions,
  ): Promise<PromptResult> {
    const { from, prompt } = await this.#locate(name, given.signal);
    let roles: PromptMessage["role"][] = [];
    const { content, structuredContent, _meta, inputRequired } = await this.#options.requests.run({
      from,
      content: { kind: "prompt", name: prompt },
      what: `prompt:${prompt}`,
      listed: from.prompts.known?.prompts.find((each) => each.name === prompt),
      args,
      given,
      ask: async (server, request, sent) => {
        requireCapability(server, "prompts");
        const answer = await server.getPrompt(prompt, sent, request);
        const asked = asksFirst(answer, request);
        if (asked !== undefined) return asked;
        const read = toPrompt(answer);
        roles = read.messages.map(({ role }) => role);
        const { description, messages } = read;
        return {
          content: messages.map((each) => each.content),
          structuredContent: description,
          ...(read._meta && { _meta: read._meta }),
        };
      },
    });
    const result: PromptResult = {
      server: from.entry.name,
      prompt,
      ...(typeof structuredContent === "string" && { description: structuredContent }),
      messages: content.map((block, at) => ({ role: roles[at] ?? "user", content: block })),
      ...(_meta && { _meta }),
      ...(inputRequired && { inputRequired }),
    };
    const isFramed =
      given.framed && this.#options.guard.askedFraming(from.entry.definition) !== undefined;
    return isFramed ? { ...result, messages: this.forModel(result) } : result;
  }

  forModel(result: PromptResult): PromptMessage[] {
    requireKind("the result", result, RESULT);
    const { guard, caches } = this.#options;
    const { server, prompt } = result;
    const { messages, patterns } = presentPrompt(
      result,
      guard.framing(caches.of(server).entry.definition),
    );
    void guard.reportSuspicious({ server, tool: `prompt:${prompt}` }, patterns);
    return messages;
  }

  async complete(
    name: string,
    argument: string,
    value: string,
    options: PromptCompleteOptions = {},
  ): Promise<Completion> {
    requireName("the name of the prompt", name);
    requireCompletion(argument, value, options);
    const { signal, known = {} } = options;
    const ask = async (): Promise<Completion> => {
      const { from, prompt } = await this.#locate(name, signal);
      const of = { type: "ref/prompt", name: prompt } as const;
      return this.#options.requests.complete(from, { of, argument, value, known }, signal);
    };
    return askServers(this.#options, signal, () => this.#hiding(name, ask));
  }

  #hiding<Result>(name: string, ask: () => Promise<Result>): Promise<Result> {
    return hidingRefused(this.#options, ask, async () => unknownPrompt(name, await this.list()));
  }

  #permits({ entry }: ContentCache, name: string): boolean {
    const { guard } = this.#options;
    const subject = contentSubject(entry, { kind: "prompt", name });
    return guard.allows(subject) && guard.offers(subject);
  }

  #lists(server?: string, options?: ListingOptions): Promise<ListFrom<PromptList>[]> {
    return this.#options.caches.list("prompts", server, options);
  }

  /**
   * Resolves to the server and its own name of the prompt. `server/prompt` needs no list; a prompt's own name is
   * looked up on all servers, first on those that the rules allow to be asked for it.
   */
  async #locate(
    name: string,
    signal: AbortSignal | undefined,
  ): Promise<{ from: ContentCache; prompt: string }> {
    const slash = name.indexOf("/");
    const named = this.#options.caches
      .all()
      .find(({ entry }) => slash > 0 && entry.name === name.slice(0, slash));
    if (named !== undefined) return { from: named, prompt: name.slice(slash + 1) };
    const lists = await this.#lists(undefined, { signal });
    const having = lists.filter(({ list }) => list.prompts.some((each) => each.name === name));
    const permitted = having.filter(({ from }) => this.#permits(from, name));
    const [first, ...others] = permitted.length > 0 ? permitted : having;
    if (first === undefined) throw unknownPrompt(name, await this.list());
    first.from.warnIfElsewhere("prompt", name, others);
    return { from: first.from, prompt: name };
  }
}

const MOST_NAMES = 10;

function promptsThereAre(listed: readonly Prompt[]): string {
  if (listed.length === 0) return "none of the servers that answered has prompts";
  const names = listed.slice(0, MOST_NAMES).map(({ server, name }) => `${server}/${name}`);
  const more = listed.length > MOST_NAMES ? ` and ${listed.length - MOST_NAMES} more` : "";
  return oneLine(`the prompts are: ${names.join(", ")}${more}`, 1000);
}

function unknownPrompt(name: string, listed: readonly Prompt[]): PlugboardError {
  const names = listed.flatMap((each) => [`${each.server}/${each.name}`, each.name]);
  const meant = closest(name, names);
  return new PlugboardError("UNKNOWN_PROMPT", `there is no prompt named '${oneLine(name, 200)}'`, {
    hint: meant === undefined ? promptsThereAre(listed) : `did you mean '${oneLine(meant, 200)}'?`,
    isHintQuoted: true,
  });
}
