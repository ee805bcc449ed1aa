// The manifest of a bundle: what Plugboard reads of it, and its bounds. Other keys are ignored, so that a manifest
// may have more than Plugboard knows.

import { z } from "zod";
import { tryParseJson } from "../../core/types/json.ts";
import { isTooDeep } from "../../util/json-depth.ts";
import { oneLine } from "../../util/text.ts";
import { fault } from "./archive.ts";

export const MANIFEST = "manifest.json";
export const LARGEST_MANIFEST = 1024 * 1024;

/** `dxt_version` is the same under the format's earlier name. */
const VERSIONS = ["0.1", "0.2", "0.3", "0.4"];

const MOST_ARGUMENTS = 500;
const MOST_VARIABLES = 200;
const MOST_OPTIONS = 100;

const line = z.string().min(1).max(256);
const value = z.string().max(16_384);
/** Only shown, so cut and not refused. */
const words = z.string().transform((text) => oneLine(text, 1000));

function boundedRecord<Key extends z.core.$ZodRecordKey, Value extends z.ZodType>(
  key: Key,
  of: Value,
  most: number,
) {
  return z
    .record(key, of)
    .refine((record) => Object.keys(record).length <= most, `has more than ${most} entries`);
}

const launch = z.object({
  command: z.string().min(1).max(4096),
  args: z.array(value).max(MOST_ARGUMENTS).optional(),
  env: boundedRecord(z.string().min(1).max(256), value, MOST_VARIABLES).optional(),
});

const mcpConfig = launch.extend({
  platform_overrides: z.record(z.string(), launch.partial()).optional(),
});

const server = z.object({
  type: z.enum(["node", "python", "binary", "uv"]),
  entry_point: z.string().min(1).max(1024),
  mcp_config: mcpConfig.optional(),
});

const option = z.object({
  type: z.enum(["string", "number", "boolean", "directory", "file"]),
  title: words.optional(),
  description: words.optional(),
  required: z.boolean().optional(),
  default: z.union([value, z.number(), z.boolean(), z.array(value).max(MOST_ARGUMENTS)]).optional(),
  multiple: z.boolean().optional(),
  sensitive: z.boolean().optional(),
  min: z.number().optional(),
  max: z.number().optional(),
});

const manifest = z
  .object({
    manifest_version: z.string().optional(),
    dxt_version: z.string().optional(),
    name: line,
    display_name: words.optional(),
    version: line,
    description: words.optional(),
    author: z.object({ name: words }).optional(),
    server,
    user_config: boundedRecord(
      z.string().regex(/^[A-Za-z0-9_.-]{1,64}$/, "is not a name for an option"),
      option,
      MOST_OPTIONS,
    ).optional(),
    compatibility: z
      .object({
        platforms: z.array(z.string()).max(20).optional(),
        runtimes: z.object({ node: line.optional(), python: line.optional() }).optional(),
      })
      .optional(),
    privacy_policies: z.array(words).max(20).optional(),
  })
  .refine(({ server: { type, mcp_config } }) => type === "uv" || mcp_config !== undefined, {
    path: ["server", "mcp_config"],
    message: "is missing: it says how the server is started",
  });

export type Manifest = z.infer<typeof manifest>;
export type Option = z.infer<typeof option>;
export type Launch = z.infer<typeof launch>;

/** Throws INVALID_ARGUMENTS with everything that is wrong. */
export function readManifest(bytes: Buffer): Manifest {
  const parsed = tryParseJson(new TextDecoder().decode(bytes));
  if (parsed === undefined) throw fault(`its ${MANIFEST} is not JSON`);
  if (isTooDeep(parsed)) throw fault(`its ${MANIFEST} is nested too deep`);
  const { data, error } = manifest.safeParse(parsed);
  if (error !== undefined) {
    const problems = error.issues
      .slice(0, 10)
      .map(({ path, message }) => `  ${oneLine(path.join("."), 200)}: ${oneLine(message, 200)}`);
    throw fault([`its ${MANIFEST} is not valid:`, ...problems].join("\n"));
  }
  const version = data.manifest_version ?? data.dxt_version;
  if (version === undefined || !VERSIONS.includes(version)) {
    const found = version === undefined ? "no version" : `the version '${oneLine(version, 40)}'`;
    throw fault(
      `its ${MANIFEST} has ${found}, and Plugboard reads ${VERSIONS[0]} to ${VERSIONS.at(-1)}`,
    );
  }
  return data;
}
