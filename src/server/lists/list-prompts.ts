// Lists a server's prompts, and checks and cleans each.

import { isJsonObject } from "../../model/json.ts";
import type { PromptList } from "../../model/server-content.ts";
import type { PromptArgument, PromptDefinition } from "../../model/prompt.ts";
import { isTooDeep } from "../../util/json-depth.ts";
import { type ItemFault, listPages, type PageRequest } from "./list-pages.ts";
import { TextCleaner } from "./text-cleaner.ts";

export const MAX_PROMPTS = 1000;
export const MAX_ARGUMENTS = 100;
const MAX_ITEM_BYTES = 64 * 1024;
const MAX_DESCRIPTION = 4 * 1024;

export async function listPrompts(
  server: string,
  requestPage: PageRequest,
  redact: (text: string) => string,
): Promise<PromptList> {
  const { items, diagnostics } = await listPages<PromptDefinition>(
    {
      method: "prompts/list",
      key: "prompts",
      noun: "prompt",
      maxItems: MAX_PROMPTS,
      maxItemBytes: MAX_ITEM_BYTES,
      id: "name",
      read: readPrompt,
      clean: (prompt, report) => cleanPrompt(prompt, redact, report),
    },
    server,
    requestPage,
  );
  return { prompts: items, diagnostics };
}

function readPrompt(item: unknown): PromptDefinition | ItemFault {
  if (!isJsonObject(item)) return { fault: "it is not an object" };
  const { name, title, description, arguments: args, _meta } = item;
  if (typeof name !== "string" || name === "") return { fault: "it has no name" };
  const prompt: PromptDefinition = { name };
  if (typeof title === "string") prompt.title = title;
  if (typeof description === "string") prompt.description = description;
  if (Array.isArray(args)) {
    if (args.length > MAX_ARGUMENTS) {
      return { fault: `it has more than ${MAX_ARGUMENTS} arguments` };
    }
    const read = args.map(readArgument);
    if (read.includes(undefined)) return { fault: "it has an argument without a name" };
    prompt.arguments = read.filter((argument) => argument !== undefined);
  }
  if (isJsonObject(_meta)) {
    if (isTooDeep(_meta)) return { fault: `"_meta" has too many levels` };
    prompt._meta = _meta;
  }
  return prompt;
}

function readArgument(item: unknown): PromptArgument | undefined {
  if (!isJsonObject(item) || typeof item.name !== "string" || item.name === "") return undefined;
  const { name, title, description, required } = item;
  return {
    name,
    ...(typeof title === "string" && { title }),
    ...(typeof description === "string" && { description }),
    ...(required === true && { required }),
  };
}

/** Names stay as they are, because prompts and arguments are requested by them. */
function cleanPrompt(
  prompt: PromptDefinition,
  redact: (text: string) => string,
  report: (message: string) => void,
): PromptDefinition {
  const cleaner = new TextCleaner(redact);
  const texts = ({ title, description }: Omit<PromptArgument, "name">, place: string) => ({
    ...(title !== undefined && { title: cleaner.title(title, `${place}title`) }),
    ...(description !== undefined && {
      description: cleaner.description(description, `${place}description`, MAX_DESCRIPTION),
    }),
  });
  cleaner.check(prompt.name, "name");
  const cleaned: PromptDefinition = { ...prompt, ...texts(prompt, "") };
  if (prompt.arguments !== undefined) {
    cleaned.arguments = prompt.arguments.map((argument) => {
      cleaner.check(argument.name, "arguments");
      return { ...argument, ...texts(argument, "arguments' ") };
    });
  }
  cleaner.reportTo(report);
  return cleaned;
}
