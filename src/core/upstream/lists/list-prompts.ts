// How a server's prompts are listed: what makes one valid, and what is cleaned.

import { isJsonObject, type JsonObject } from "../../types/json.ts";
import type { PromptArgument, PromptDefinition } from "../../types/prompt.ts";
import { promptWithoutSecrets } from "../../types/without-secrets.ts";
import { dropSecretIcons, readIcons } from "./icons.ts";
import { copyMembers, type ListKind } from "./list-pages.ts";
import type { TextCleaner } from "./text-cleaner.ts";

export const MAX_PROMPTS = 1000;
export const MAX_ARGUMENTS = 100;
const MAX_TITLE = 200;

export const PROMPT_LIST: ListKind<PromptDefinition> = {
  method: "prompts/list",
  key: "prompts",
  noun: "prompt",
  maxItems: MAX_PROMPTS,
  maxItemBytes: 64 * 1024,
  id: "name",
  read: readPrompt,
  clean: cleanPrompt,
  withoutSecrets: promptWithoutSecrets,
};

function readPrompt(item: JsonObject): PromptDefinition | string {
  const { name, arguments: args } = item;
  if (typeof name !== "string" || name === "") return "it has no name";
  const prompt: PromptDefinition = { name, ...readIcons(item) };
  if (Array.isArray(args)) {
    if (args.length > MAX_ARGUMENTS) return `it has more than ${MAX_ARGUMENTS} arguments`;
    prompt.arguments = args.flatMap((argument) => readArgument(argument) ?? []);
    if (prompt.arguments.length < args.length) return "it has an argument without a name";
  }
  return copyMembers(item, prompt, ["title", "description"], ["_meta"]) ?? prompt;
}

function readArgument(item: unknown): PromptArgument | undefined {
  if (!isJsonObject(item) || typeof item.name !== "string" || item.name === "") return undefined;
  const argument: PromptArgument = { name: item.name };
  copyMembers(item, argument, ["title", "description"], []);
  if (typeof item.required === "boolean") argument.required = item.required;
  return argument;
}

/** Names stay as they are, because prompts and arguments are requested by them. */
function cleanPrompt(prompt: PromptDefinition, cleaner: TextCleaner): PromptDefinition {
  cleaner.check(prompt.name, "name");
  const cleaned: PromptDefinition = {
    ...prompt,
    ...cleaner.texts(prompt, { maxTitle: MAX_TITLE }),
  };
  dropSecretIcons(cleaned, cleaner.redact);
  if (prompt.arguments !== undefined) {
    cleaned.arguments = prompt.arguments.map((argument) => {
      cleaner.check(argument.name, "arguments");
      return {
        ...argument,
        ...cleaner.texts(argument, { maxTitle: MAX_TITLE, owner: "arguments' " }),
      };
    });
  }
  return cleaned;
}
