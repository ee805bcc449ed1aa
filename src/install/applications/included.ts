// Parts of OpenClaw's configuration that are in another file. OpenClaw itself cannot write to such a part any more once
// something stands beside its `$include`.

import { dirname, resolve } from "node:path";
import type { TextFile } from "../../core/config/text/text-file.ts";
import { PlugboardError } from "../../core/types/errors.ts";
import { includeOn } from "../../openclaw/config-entries.ts";
import { visible } from "../../util/visible.ts";

/** Throws CONFIG_INVALID. */
export function refuseIncluded({ file }: TextFile, value: unknown, path: readonly string[]): void {
  const include = includeOn(value, path);
  if (include === undefined) return;
  const place = include.path.length === 0 ? "everything" : include.path.join(".");
  const files = include.files.map((each) => visible(resolve(dirname(file), each))).join(", ");
  throw new PlugboardError(
    "CONFIG_INVALID",
    `in ${visible(file)}, ${place} comes from ${files} by $include, where Plugboard writes nothing`,
    { hint: `put ${path.join(".")} into ${visible(file)} itself, and try again` },
  );
}
