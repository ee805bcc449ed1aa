// The prompts of a board: lists them, finds the server of a name, gets prompts and completes their arguments.

import { toCompletion } from "../../bridge/completion.ts";
import { toPrompt } from "../../bridge/prompt.ts";
import { presentPrompt } from "../../guard/present/prompt.ts";
import { PlugboardError } from "../../model/errors.ts";
import type {
  BoardPrompts,
  Prompt,
  PromptCompleteOptions,
  PromptMessage,
  PromptOptions,
  PromptResult,
} from "../../model/prompt.ts";
import type { Completion } from "../../model/resource.ts";
import { isCallable } from "../../model/server-state.ts";
import { closest } from "../../util/closest.ts";
import { oneLine } from "../../util/text.ts";
import type { ContentRequests } from "./content-requests.ts";
import type { BoardGuard } from "../guard.ts";
import type { ContentCache } from "./content-cache.ts";
import type { ContentCaches, ListFrom } from "./content-caches.ts";
import type { PromptList } from "../../model/server-content.ts";

export interface PromptsOptions {
  contents: ContentCaches;
  contentRequests: ContentRequests;
  guard: Pick<BoardGuard, "framing" | "reportSuspicious">;
  /** Removes secrets; returns the same value if there are none. */
  redact: <Value>(value: Value) => Value;
}

export class Prompts implements BoardPrompts {
  readonly #options: PromptsOptions;

  constructor(options: PromptsOptions) {
    this.#options = options;
  }

  async list(server?: string): Promise<Prompt[]> {
    return (await this.#lists(server)).flatMap(({ from, list }) => {
      const { definition, supervisor } = from.entry;
      const on = { server: definition.name, available: isCallable(supervisor.state) };
      return list.prompts.map((each) => this.#options.redact({ ...each, ...on }));
    });
  }

  async get(
    name: string,
    args: Record<string, string> = {},
    { signal }: PromptOptions = {},
  ): Promise<PromptResult> {
    const { from, prompt } = await this.#locate(name, signal);
    let roles: PromptMessage["role"][] = [];
    const { content, structuredContent } = await this.#options.contentRequests.run({
      entry: from.entry,
      what: `prompt:${prompt}`,
      args,
      signal,
      ask: async (server, request) => {
        if (!server.has.prompts) {
          throw new PlugboardError("UNSUPPORTED", "the server does not support prompts");
        }
        const read = toPrompt(await server.getPrompt(prompt, args, request));
        roles = read.messages.map(({ role }) => role);
        const { description, messages } = read;
        return { content: messages.map((each) => each.content), structuredContent: description };
      },
    });
    return {
      server: from.entry.name,
      prompt,
      ...(typeof structuredContent === "string" && { description: structuredContent }),
      messages: content.map((block, at) => ({ role: roles[at] ?? "user", content: block })),
    };
  }

  forModel(result: PromptResult): PromptMessage[] {
    const { guard, contents } = this.#options;
    const { server, prompt } = result;
    const { messages, patterns } = presentPrompt(
      result,
      guard.framing(contents.of(server).entry.definition),
    );
    void guard.reportSuspicious({ server, tool: `prompt:${prompt}` }, patterns);
    return messages;
  }

  async complete(
    name: string,
    argument: string,
    value: string,
    { signal, known = {} }: PromptCompleteOptions = {},
  ): Promise<Completion> {
    const { from, prompt } = await this.#locate(name, signal);
    const { structuredContent } = await this.#options.contentRequests.run({
      entry: from.entry,
      what: `complete:${prompt}`,
      args: { argument, value },
      signal,
      ask: async (server, request) => {
        if (!server.has.completions) {
          throw new PlugboardError("UNSUPPORTED", "the server does not support completions");
        }
        const of = { type: "ref/prompt", name: prompt } as const;
        const answer = await server.complete({ of, argument, value, known }, request);
        return { content: [], structuredContent: toCompletion(answer) };
      },
    });
    return structuredContent as Completion;
  }

  #lists(server?: string, signal?: AbortSignal): Promise<ListFrom<PromptList>[]> {
    const { contents } = this.#options;
    const choose = (content: ContentCache) => content.prompts;
    return server === undefined
      ? contents.listAll(choose, { signal })
      : contents.listOf(server, choose, signal);
  }

  /** `server/prompt` needs no list; a prompt's own name is looked up on all servers. */
  async #locate(name: string, signal: AbortSignal | undefined): Promise<LocatedPrompt> {
    const slash = name.indexOf("/");
    const named = this.#options.contents
      .all()
      .find(({ entry }) => slash > 0 && entry.name === name.slice(0, slash));
    if (named !== undefined) return { from: named, prompt: name.slice(slash + 1) };
    const lists = await this.#lists(undefined, signal);
    const [first, ...others] = lists.filter(({ list }) =>
      list.prompts.some((each) => each.name === name),
    );
    if (first === undefined) throw unknownPrompt(name, lists);
    if (others.length > 0) {
      const names = others.map(({ from }) => `'${from.entry.name}'`).join(", ");
      first.from.warnOnce(
        name,
        `the prompt is also on ${names}; without a server this one is used`,
      );
    }
    return { from: first.from, prompt: name };
  }
}

interface LocatedPrompt {
  from: ContentCache;
  /** The server's own name of the prompt. */
  prompt: string;
}

function unknownPrompt(name: string, lists: readonly ListFrom<PromptList>[]): PlugboardError {
  const names = lists.flatMap(({ from, list }) =>
    list.prompts.flatMap((each) => [`${from.entry.name}/${each.name}`, each.name]),
  );
  const meant = closest(name, names);
  return new PlugboardError("UNKNOWN_PROMPT", `there is no prompt named '${oneLine(name, 200)}'`, {
    hint: meant === undefined ? undefined : `did you mean '${oneLine(meant, 200)}'?`,
  });
}
