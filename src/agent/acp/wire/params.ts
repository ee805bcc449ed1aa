// Checks the parameters that a client sends. A mistake is answered with −32602 and the path to it.

import { isAbsolute } from "node:path";
import { type ContentBlock, RequestError } from "@agentclientprotocol/sdk";
import { z } from "zod";
import type { ErrorCode } from "../../../core/types/errors.ts";

const pair = z.object({ name: z.string().min(1), value: z.string() });

/** `mcp-servers.ts` checks the rest, which depends on the entry's transport. */
const mcpServer = z.looseObject({
  name: z.string().min(1),
  type: z.string().optional(),
  command: z.string().min(1).optional(),
  args: z.array(z.string()).optional(),
  env: z.array(pair).optional(),
  url: z.string().min(1).optional(),
  headers: z.array(pair).optional(),
});

export type McpServerParams = z.infer<typeof mcpServer>;

const sessionId = z.string().min(1);
const absolute = z.string().refine(isAbsolute, "expected an absolute path");
const directories = z
  .array(absolute)
  .nullish()
  .transform((value) => value ?? []);
const servers = z
  .array(mcpServer)
  .nullable()
  .transform((value) => value ?? []);

const contents = z.looseObject({ uri: z.string() });

/** The SDK's content blocks. Other keys pass unchecked. */
const block = z.discriminatedUnion("type", [
  z.looseObject({ type: z.literal("text"), text: z.string() }),
  z.looseObject({ type: z.literal("image"), data: z.string(), mimeType: z.string() }),
  z.looseObject({ type: z.literal("audio"), data: z.string(), mimeType: z.string() }),
  z.looseObject({ type: z.literal("resource_link"), uri: z.string(), name: z.string() }),
  z.looseObject({
    type: z.literal("resource"),
    resource: z.union([
      contents.extend({ text: z.string() }),
      contents.extend({ blob: z.string() }),
    ]),
  }),
]);

/**
 * The convention of clients such as acpx: a text takes the place of the agent's system prompt, `append` is added to it.
 * Anything else under `_meta` is not ours.
 */
const meta = z
  .looseObject({
    systemPrompt: z
      .union([z.string(), z.object({ append: z.string() })])
      .optional()
      .catch(undefined),
  })
  .nullish()
  .catch(undefined);

export type ClientSystemPrompt = string | { append: string };

const opened = z.object({ cwd: absolute, additionalDirectories: directories, _meta: meta });

export const parseNew = parser(opened.extend({ mcpServers: servers }));
export const parseLoad = parser(opened.extend({ sessionId, mcpServers: servers }));
export const parseResume = parser(
  opened.extend({ sessionId, mcpServers: servers.optional().transform((value) => value ?? []) }),
);
export const parseAuthenticate = parser(z.object({ methodId: z.string() }));
export const parseSession = parser(z.object({ sessionId }));
export const parseMode = parser(z.object({ sessionId, modeId: z.string() }));
export const parseConfigOption = parser(
  z.object({ sessionId, configId: z.string(), value: z.string() }),
);
export const parseList = parser(
  z
    .object({ cwd: absolute.nullish(), cursor: z.string().nullish() })
    .nullish()
    .transform((value) => value ?? {}),
);
export const parsePrompt: (params: unknown) => { sessionId: string; prompt: ContentBlock[] } =
  parser(z.object({ sessionId, prompt: z.array(block) }));

/** `path` is written as in code: `mcpServers[0].args`. */
export function invalidParams(
  path: string,
  message: string,
  code: ErrorCode = "INVALID_ARGUMENTS",
): RequestError {
  return RequestError.invalidParams(
    { path, message, code },
    path === "" ? message : `${path}: ${message}`,
  );
}

function parser<Schema extends z.ZodType>(schema: Schema): (params: unknown) => z.output<Schema> {
  return (params) => {
    const result = schema.safeParse(params);
    if (result.success) return result.data;
    const [issue] = result.error.issues;
    throw invalidParams(pathText(issue?.path ?? []), issue?.message ?? "invalid");
  };
}

function pathText(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, key) => {
    if (typeof key === "number") return `${text}[${key}]`;
    return text === "" ? String(key) : `${text}.${String(key)}`;
  }, "");
}
