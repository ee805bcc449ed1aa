// One script of 20 tool calls with their results, the same for every adapter: what a model calls on one
// side, and what it gets to read on the other.

import type { ServerConfig } from "../../src/core/types/server-config.ts";
import type { JsonObject } from "../../src/core/types/json.ts";
import type { NativeTool } from "../../src/core/types/tool.ts";
import { afterEach } from "vitest";
import { fixture } from "../support/boards.ts";
import {
  type Model,
  type ModelOptions,
  startModel,
  type ToolResult,
} from "../support/model/start.mjs";

/** What a result may hold beside text. A blob is a resource's, whose address is said in words as well. */
export type Medium = "image" | "audio" | "blob";

type ExpectedPart = string | { medium: Medium; mediaType: string; words: string };

export interface ScriptedCall {
  /** On the board. */
  name: string;
  args: JsonObject;
  parts: readonly ExpectedPart[];
  isError: boolean;
  /** The words are a server's, so they stand between markers. */
  framed: boolean;
}

/** What a model was given as the result of one call, in a form that adapters can be compared by. */
export interface Seen {
  text: string;
  /** Media types, in their order. */
  media: string[];
  isError: boolean;
  framed: boolean;
}

export const SCRIPT_SERVERS: Record<string, ServerConfig> = {
  echo: fixture("echo"),
  content: fixture("content"),
};

export const SCRIPT_NATIVE: NativeTool[] = [
  {
    name: "greet",
    description: "Greets somebody by name.",
    parameters: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
    execute: (_id, { name }) => ({ content: [{ type: "text", text: `Hello, ${String(name)}!` }] }),
  },
];

const WORDS = 'Zürich 🌧️ "und" \\ mehr\n\tÄ';
const image: ExpectedPart = {
  medium: "image",
  mediaType: "image/png",
  words: "[image result: image/png, 70 B]",
};
const audio: ExpectedPart = {
  medium: "audio",
  mediaType: "audio/wav",
  words: "[audio result: audio/wav, 44 B]",
};
const blob: ExpectedPart = {
  medium: "blob",
  mediaType: "image/png",
  words: "[resource: file:///dot.png, image/png, 70 B]",
};

export const SCRIPT: readonly ScriptedCall[] = [
  call("greet", { name: "world" }, ["Hello, world!"], { framed: false }),
  call("mcp__echo__echo", { text: "hello" }, ["hello"]),
  call("mcp__echo__echo", { text: WORDS }, [WORDS]),
  call("mcp__echo__echo", { text: "" }, ["(empty result)"], { framed: false }),
  call("mcp__echo__add", { a: 2, b: 3 }, ["5"]),
  call("mcp__echo__sleep", { ms: 5 }, ["slept 5 ms"]),
  call("mcp__echo__progress", { steps: 3, ms: 1 }, ["3 steps done"]),
  call("mcp__echo__fail", {}, ["it failed"], { isError: true }),
  call(
    "mcp__echo__rpc_error",
    { message: "no way" },
    ["server 'echo' refused 'rpc_error': no way (-32000)"],
    {
      isError: true,
    },
  ),
  call("mcp__echo__big", { bytes: 10_000 }, ["x".repeat(10_000)]),
  call("mcp__content__text", {}, ["some text"]),
  call("mcp__content__image", {}, [image]),
  call("mcp__content__audio", {}, [audio]),
  call("mcp__content__mixed", {}, ["some text", image, audio]),
  call("mcp__content__resource_text", {}, ["# Notes"]),
  call("mcp__content__resource_blob", {}, [blob]),
  call("mcp__content__resource_link", {}, [
    "[resource link: The report, A long report., file:///report.pdf]",
  ]),
  call("mcp__content__structured_only", {}, ['{"value":1}']),
  call("mcp__content__null_block", {}, ["[content without a type] null", "some text"]),
  call("mcp__content__error_empty", {}, ["(the tool reported an error without details)"], {
    isError: true,
    framed: false,
  }),
];

/** What a model sees that is given these media as they are. */
export function expectedOf(
  { parts, isError, framed }: ScriptedCall,
  carried: readonly Medium[],
): Seen {
  const isCarried = (part: ExpectedPart): boolean =>
    typeof part !== "string" && carried.includes(part.medium);
  const words = parts.flatMap((part) => {
    if (typeof part === "string") return [part];
    return isCarried(part) && part.medium !== "blob" ? [] : [part.words];
  });
  const media = parts.flatMap((part) =>
    typeof part !== "string" && isCarried(part) ? [part.mediaType] : [],
  );
  return { text: words.join("\n"), media, isError, framed };
}

const FRAME =
  /<<<EXTERNAL_UNTRUSTED_CONTENT id="([0-9a-f]{16})">>>\nSource: .*\nThis is output from .*\n---([^]*)<<<END_EXTERNAL_UNTRUSTED_CONTENT id="\1">>>/;

/** The script as a model plays it: in two steps, with words beside the calls of the second. */
export const SCRIPT_TURNS: ModelOptions["turns"] = [
  { toolCalls: SCRIPT.slice(0, 10).map(({ name, args }) => ({ name, arguments: args })) },
  {
    text: "And now the rest.",
    toolCalls: SCRIPT.slice(10).map(({ name, args }) => ({ name, arguments: args })),
  },
  { text: "Done." },
];

/** What the model's last request had of the results of calls. */
export function resultsIn({ requests }: Model): ToolResult[] {
  return requests.at(-1)?.toolResults ?? [];
}

/** Texts in their order, `isError` as the API says it, or as the words do where the API cannot. */
export function seenOf(texts: readonly string[], media: string[], isError?: boolean): Seen {
  const all = texts.join("\n");
  const failed = all.startsWith("The call failed:\n");
  const said = failed ? all.slice("The call failed:\n".length) : all;
  const framed = FRAME.exec(said);
  return {
    text: framed === null ? said : (framed[2] ?? "").replace(/^\n|\n$/g, ""),
    media,
    isError: isError ?? failed,
    framed: framed !== null,
  };
}

function call(
  name: string,
  args: JsonObject,
  parts: readonly ExpectedPart[],
  { isError = false, framed = true } = {},
): ScriptedCall {
  return { name, args, parts, isError, framed };
}

/** To be called at the top of a suite: gives the function that starts its scripted model, which ends with the test. */
export function useModel(): (turns: ModelOptions["turns"]) => Promise<Model> {
  let started: Model | undefined;
  afterEach(() => started?.close());
  return async (turns) => (started = await startModel({ turns }));
}
