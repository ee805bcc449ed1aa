// Credentials of an entry that somebody edits without seeing them: what stands for one becomes the one that is written.

import { isDeepStrictEqual } from "node:util";
import { MARK, withoutCredentials } from "../../core/board/without-credentials.ts";
import { PlugboardError } from "../../core/types/errors.ts";
import { isJsonObject, type JsonObject, objectIn } from "../../core/types/json.ts";

/**
 * `given` is `written` as `withoutCredentials` shows it, edited. Throws INVALID_ARGUMENTS where a credential was not
 * shown and what is around it differs: it may belong elsewhere.
 */
export function withHidden(given: JsonObject, written: unknown): JsonObject {
  const known = objectIn(written);
  return restoredObject(given, { shown: withoutCredentials(known), written: known }, "");
}

/** A value as it was shown, and as it is in the file. */
interface Before {
  shown: unknown;
  written: unknown;
}

function restored(value: unknown, before: Before, key: string): unknown {
  if (isDeepStrictEqual(value, before.shown)) return before.written;
  if (Array.isArray(value)) return restoredList(value, before, key);
  if (isJsonObject(value)) return restoredObject(value, before, `${key}.`);
  if (typeof value === "string" && value.includes(MARK)) {
    throw new PlugboardError(
      "INVALID_ARGUMENTS",
      `\`${key}\` still has ${MARK} in it; write the whole value`,
      { hint: "or a reference to it, such as ${TOKEN}" },
    );
  }
  return value;
}

function restoredObject(given: JsonObject, before: Before, prefix: string): JsonObject {
  const [shown, written] = [before.shown, before.written].map(objectIn);
  return Object.fromEntries(
    Object.entries(given).map(([key, value]) => [
      key,
      restored(value, { shown: shown?.[key], written: written?.[key] }, `${prefix}${key}`),
    ]),
  );
}

/** Items may have been moved, added and removed, so that their place says nothing. */
function restoredList(given: readonly unknown[], before: Before, key: string): unknown[] {
  const shown: readonly unknown[] = Array.isArray(before.shown) ? before.shown : [];
  const written: readonly unknown[] = Array.isArray(before.written) ? before.written : [];
  return given.map((value, at) => {
    const isSame = (other: unknown): boolean => isDeepStrictEqual(other, value);
    const all = [...shown.keys()].filter((index) => isSame(shown[index]));
    const isFurther = given.filter(isSame).length > all.length;
    // An option says whose value it is.
    const after = all.filter((index) => isDeepStrictEqual(shown[index - 1], given[at - 1]));
    const possible = [isFurther ? [] : all, after].map(
      (indexes) => new Set(indexes.map((index) => written[index])),
    );
    const [only] = possible.find(({ size }) => size === 1) ?? [];
    return restored(
      value,
      only === undefined ? NOTHING : { shown: value, written: only },
      `${key}[${at}]`,
    );
  });
}

const NOTHING: Before = { shown: undefined, written: undefined };
