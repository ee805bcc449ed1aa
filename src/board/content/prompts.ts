// The prompts of a board: lists what its servers have, finds whose a name is, gets and completes.

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
import type { Heard, ContentCaches } from "./content-caches.ts";
import type { PromptList } from "../../model/server-content.ts";

export interface PromptsOptions {
  contents: ContentCaches;
  contentRequests: ContentRequests;
  guard: Pick<BoardGuard, "framing" | "suspect">;
  /** Takes secrets out of what is told; the same value where there are none. */
  redact: <Value>(value: Value) => Value;
}

export class Prompts implements BoardPrompts {
  readonly #options: PromptsOptions;

  constructor(options: PromptsOptions) {
    this.#options = options;
  }

  async list(server?: string): Promise<Prompt[]> {
    return (await this.#heard(server)).flatMap(({ from, list }) => {
      const { definition, supervisor } = from.entry;
      const offered = { server: definition.name, available: isCallable(supervisor.state) };
      return list.prompts.map((each) => this.#options.redact({ ...each, ...offered }));
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
          throw new PlugboardError("UNSUPPORTED", "the server offers no prompts");
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
    void guard.suspect({ server, tool: `prompt:${prompt}` }, patterns);
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
          throw new PlugboardError("UNSUPPORTED", "the server completes nothing");
        }
        const of = { type: "ref/prompt", name: prompt } as const;
        const answer = await server.complete({ of, argument, value, known }, request);
        return { content: [], structuredContent: toCompletion(answer) };
      },
    });
    return structuredContent as Completion;
  }

  #heard(server?: string, signal?: AbortSignal): Promise<Heard<PromptList>[]> {
    const { contents } = this.#options;
    const choose = (content: ContentCache) => content.prompts;
    return server === undefined
      ? contents.every(choose, { signal })
      : contents.one(server, choose, signal);
  }

  /** A full name needs no more than its own server. */
  async #locate(name: string, signal: AbortSignal | undefined): Promise<Located> {
    const slash = name.indexOf("/");
    const named = this.#options.contents
      .all()
      .find(({ entry }) => slash > 0 && entry.name === name.slice(0, slash));
    if (named !== undefined) return { from: named, prompt: name.slice(slash + 1) };
    const heard = await this.#heard(undefined, signal);
    const [first, ...others] = heard.filter(({ list }) =>
      list.prompts.some((each) => each.name === name),
    );
    if (first === undefined) throw unknownPrompt(name, heard);
    if (others.length > 0) {
      const names = others.map(({ from }) => `'${from.entry.name}'`).join(", ");
      first.from.note(name, `the prompt is also on ${names}; without a server this one is used`);
    }
    return { from: first.from, prompt: name };
  }
}

interface Located {
  from: ContentCache;
  /** By the server's own name for it. */
  prompt: string;
}

function unknownPrompt(name: string, heard: readonly Heard<PromptList>[]): PlugboardError {
  const names = heard.flatMap(({ from, list }) =>
    list.prompts.flatMap((each) => [`${from.entry.name}/${each.name}`, each.name]),
  );
  const meant = closest(name, names);
  return new PlugboardError("UNKNOWN_PROMPT", `there is no prompt named '${oneLine(name, 200)}'`, {
    ...(meant !== undefined && { hint: `did you mean '${oneLine(meant, 200)}'?` }),
  });
}
