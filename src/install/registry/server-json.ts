// What a registry says about one server: its server.json, and the registry's own word on it. Checked, because anybody
// can publish one; keys that this version does not know are ignored.

import { createHash } from "node:crypto";
import { z } from "zod";
import { isJsonObject } from "../../core/types/json.ts";
import { canonicalJson } from "../../util/canonical-json.ts";
import { oneLine } from "../../util/text.ts";

/** Longer than anything that a person could read before they agree to it. */
const MOST_TEXT = 10_000;
const MOST_ITEMS = 100;

const text = z.string().max(MOST_TEXT);
const word = text.min(1);
const flag = z.boolean().default(false);

const inputKeys = {
  description: text.optional(),
  isRequired: flag,
  isSecret: flag,
  format: z.enum(["string", "number", "boolean", "filepath"]).default("string").catch("string"),
  default: text.optional(),
  placeholder: text.optional(),
  choices: z.array(text).max(1000).optional(),
  /** Fixed. What stands in braces is a key of `variables`. */
  value: text.optional(),
};

const input = z.object(inputKeys);

/** As entries: a variable may have any name, also one that an object has already. */
const variables = z
  .custom<object>(isJsonObject, "expected an object")
  .transform((value) => Object.entries(value))
  .pipe(z.array(z.tuple([word, input])).max(MOST_ITEMS))
  .default([]);

const withVariables = { ...inputKeys, variables };

const named = z.object({ ...withVariables, name: word });

const argument = z.discriminatedUnion("type", [
  z.object({
    ...withVariables,
    type: z.literal("positional"),
    valueHint: text.optional(),
    isRepeated: flag,
  }),
  z.object({ ...withVariables, type: z.literal("named"), name: word, isRepeated: flag }),
]);

const list = <Item extends z.ZodType>(item: Item) => z.array(item).max(MOST_ITEMS).default([]);

const pack = z.object({
  registryType: word,
  registryBaseUrl: text.optional(),
  identifier: word,
  version: text.optional(),
  fileSha256: z
    .string()
    .regex(/^[a-f0-9]{64}$/, "expected 64 hexadecimal digits")
    .optional(),
  runtimeHint: text.optional(),
  transport: z.object({ type: word }).default({ type: "stdio" }),
  runtimeArguments: list(argument),
  packageArguments: list(argument),
  environmentVariables: list(named),
});

const remote = z.object({
  type: word,
  url: word,
  headers: list(named),
  variables,
});

/** The registry's pattern: reverse DNS, one slash, the server. */
const NAME = /^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/;
const VERSION = /^[^\s\p{Cc}\p{Cf}/]+$/u;

const serverJson = z.object({
  name: z.string().max(200).regex(NAME, "expected a name such as io.github.owner/server"),
  title: text.optional(),
  description: text.default(""),
  version: z.string().max(255).regex(VERSION, "expected a version such as 1.2.0"),
  repository: z.object({ url: text.optional() }).optional().catch(undefined),
  packages: list(pack),
  remotes: list(remote),
});

const official = z.object({
  status: z.enum(["active", "deprecated", "deleted"]).catch("active"),
  statusMessage: text.optional().catch(undefined),
  isLatest: z.boolean().optional().catch(undefined),
});

const entry = z.object({ server: serverJson, _meta: z.unknown().optional() });

export type ServerInput = z.output<typeof input>;
export type ServerVariables = z.output<typeof variables>;
export type ServerArgument = z.output<typeof argument>;
export type NamedInput = z.output<typeof named>;
export type ServerPackage = z.output<typeof pack>;
export type ServerRemote = z.output<typeof remote>;

/** One version of a server in a registry. */
export interface RegistryEntry {
  server: z.output<typeof serverJson>;
  /** `deleted`: its publisher took it back. */
  status: "active" | "deprecated" | "deleted";
  /** Why, in the publisher's words. */
  statusMessage?: string | undefined;
  isLatest?: boolean | undefined;
  /** Of the server.json as the registry has it: `sha256-<hex>`. */
  hash: string;
}

const OFFICIAL_META = "io.modelcontextprotocol.registry/official";

/** The entry, or what is wrong with it, to be put after the name of whoever sent it. */
export function readEntry(value: unknown): RegistryEntry | string {
  const read = entry.safeParse(value);
  if (!read.success) return problemOf(read.error);
  const { server, _meta: meta } = read.data;
  const said = isJsonObject(meta) && Object.hasOwn(meta, OFFICIAL_META) ? meta[OFFICIAL_META] : {};
  const { status, statusMessage, isLatest } = official.catch({ status: "active" }).parse(said);
  // The whole of it, with what this version does not know.
  const whole = isJsonObject(value) ? value["server"] : undefined;
  const hash = `sha256-${createHash("sha256").update(canonicalJson(whole)).digest("hex")}`;
  return { server, status, statusMessage, isLatest, hash };
}

function problemOf({ issues }: z.ZodError): string {
  const [first] = issues;
  const path = (first?.path ?? []).map(String).join(".");
  const more = issues.length > 1 ? `, and ${issues.length - 1} more` : "";
  return `has a server.json that is not valid: ${oneLine(path, 100)}: ${oneLine(first?.message ?? "", 200)}${more}`;
}

/** What a person types: `io.github.owner/server`, and a version behind `@`. */
export interface RegistryName {
  name: string;
  version?: string;
}

/** Undefined for a word that cannot be a name in a registry. The first part must look like a domain. */
export function readRegistryName(typed: string): RegistryName | undefined {
  const [, name = "", version] = /^([^@]+)(?:@(.+))?$/s.exec(typed) ?? [];
  if (!NAME.test(name) || !/^[a-zA-Z0-9][a-zA-Z0-9-]*\.[a-zA-Z0-9]/.test(name)) return undefined;
  if (version === undefined) return { name };
  return VERSION.test(version) ? { name, version } : undefined;
}
