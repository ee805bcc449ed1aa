// A configured value with its `${VAR}` in place.

import type { Environment } from "../config/environment.ts";
import { mentionsSecret } from "../config/secret-reference.ts";
import { parseTemplate } from "../config/template.ts";
import { PlugboardError } from "../model/errors.ts";

/** `path` is the key, for messages. Throws UNRESOLVED_VALUE, or CONFIG_INVALID for a malformed value. */
export function expandSetting(value: string, path: string, env: Environment): string {
  const template = parseTemplate(value);
  if (template.kind === "malformed") {
    throw new PlugboardError("CONFIG_INVALID", `${path} ${template.reason}`);
  }
  const expanded = template.parts
    .map((part) => {
      if (part.kind === "text") return part.text;
      const found = Object.hasOwn(env, part.name) ? env[part.name] : undefined;
      // As in a shell, `:-` also stands in for an empty value.
      const result = part.fallback === undefined ? found : found || part.fallback;
      if (result !== undefined) return result;
      throw new PlugboardError(
        "UNRESOLVED_VALUE",
        `${path} needs the variable ${part.name}, which is not set`,
        { hint: `export ${part.name}` },
      );
    })
    .join("");
  if (!mentionsSecret(expanded)) return expanded;
  throw new PlugboardError("UNRESOLVED_VALUE", `${path} is a secret reference`, {
    hint: "secret references are not supported in this version; use ${VAR}",
  });
}
