// What does not fit a tool's schema in the arguments of a call, in words for a model that has made the call.

import { isJsonObject, type JsonObject } from "../../types/json.ts";
import type { CallOutcome } from "../../types/tool.ts";
import type { ErrorCode } from "../../types/errors.ts";
import { isDeeperThan, MAX_DEPTH } from "../../../util/json-depth.ts";
import { oneLine } from "../../../util/text.ts";
import { checkArguments, shortName } from "./check.ts";
import { SchemaView } from "./schema-view.ts";

const MOST_MISFITS = 10;
const LONGEST_MISFIT = 300;

/** How a call ends that a server has got. Other failures have nothing to do with its arguments. */
const OF_SERVER: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "SERVER_ERROR",
  "HTTP_STATUS",
  "PROTOCOL",
  "INVALID_RESULT",
  "CONNECTION_CLOSED",
  "TIMEOUT",
]);

/** Undefined if everything fits, as far as that can be told. Never throws. */
export function misfitsIn(args: unknown, schema: JsonObject): string[] | undefined {
  try {
    if (!isJsonObject(args) || isDeeperThan(MAX_DEPTH, args)) return undefined;
    const view = new SchemaView(schema);
    const misfits = checkArguments(args, schema, view).flatMap((finding) => {
      if (finding.kind === "warning") return [];
      if (finding.kind === "problem") return [oneLine(finding.text, LONGEST_MISFIT)];
      const type = view.typeName(finding.parameter.schema);
      return [oneLine(`${shortName(finding.path)}: missing, expected ${type}`, LONGEST_MISFIT)];
    });
    if (misfits.length === 0) return undefined;
    const more = misfits.length - MOST_MISFITS;
    return [...misfits.slice(0, MOST_MISFITS), ...(more > 0 ? [`and ${more} more`] : [])];
  } catch {
    // A getter that throws.
    return undefined;
  }
}

/** For a call that a server has answered with an error, or not at all: what may be the reason for that. */
export function misfitNote(
  { isError, failure }: CallOutcome,
  args: unknown,
  schema: JsonObject,
): string | undefined {
  if (isError !== true || (failure !== undefined && !OF_SERVER.has(failure.code))) return undefined;
  const misfits = misfitsIn(args, schema);
  if (misfits === undefined) return undefined;
  return ["The arguments do not fit the tool's schema:", ...misfits].join("\n- ");
}
