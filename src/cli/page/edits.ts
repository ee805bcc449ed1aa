// How single settings of a server's entry are changed, so that everything else in it stays as it is written.

import { type ServerText, withServerValue, writtenServer } from "../../core/config/server-text.ts";
import type { KeyPath } from "../../core/config/issue.ts";
import { removeValue } from "../../core/config/text/edit.ts";
import { PlugboardError } from "../../core/types/errors.ts";
import { isJsonObject, type JsonObject, objectIn } from "../../core/types/json.ts";
import { canonicalJson } from "../../util/canonical-json.ts";
import { compileGlob } from "../../util/glob.ts";
import { oneLine } from "../../util/text.ts";

export type Verdict = "allow" | "ask" | "deny";

/** The entry as `after` has it. What is the same keeps its place and its comments. */
export function withEntry(servers: ServerText, name: string, after: JsonObject): string {
  const before = writtenServer(servers, name);
  if (!isJsonObject(before)) return withServerValue(servers, name, [], after);
  return withDifferences(servers, name, [], before, after);
}

function withDifferences(
  servers: ServerText,
  name: string,
  path: KeyPath,
  before: JsonObject,
  after: JsonObject,
): string {
  let { text } = servers;
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const own = [...path, key];
    const [was, is] = [before[key], after[key]];
    const current = { ...servers, text };
    if (!Object.hasOwn(after, key)) {
      text = removeValue(text, [...servers.place, name, ...own]);
    } else if (isJsonObject(was) && isJsonObject(is)) {
      text = withDifferences(current, name, own, was, is);
    } else if (!Object.hasOwn(before, key) || canonicalJson(was) !== canonicalJson(is)) {
      text = withServerValue(current, name, own, is);
    }
  }
  return text;
}

/** What a rule would read as something else than a tool's name. */
const NO_NAME = /[*?[\]{}@/:]/;

/**
 * The entry with a rule for one tool: `deny` refuses it, `ask` asks before each call, `allow` does neither. Throws
 * UNSUPPORTED for a name that a pattern cannot have.
 */
export function withRule(
  servers: ServerText,
  name: string,
  tool: string,
  verdict: Verdict,
): string {
  if (NO_NAME.test(tool)) {
    const message = `a rule cannot name '${oneLine(tool, 100)}' alone, because of the characters in it`;
    throw new PlugboardError("UNSUPPORTED", message, {
      hint: "write a rule with a pattern into the file",
    });
  }
  const written = writtenServer(servers, name);
  const entry = objectIn(written);
  const rules = objectIn(entry["tools"]);
  const listed = (key: "allow" | "deny"): string[] | undefined =>
    Array.isArray(rules[key]) ? rules[key].filter((each) => typeof each === "string") : undefined;
  const deny = (listed("deny") ?? []).filter((pattern) => pattern !== tool);
  const allow = listed("allow");
  if (verdict === "deny") {
    const next = { ...entry, tools: { ...rules, deny: [...deny, tool] } };
    return withEntry(servers, name, next);
  }
  const isNamed = allow === undefined || allow.some((pattern) => compileGlob(pattern)(tool));
  const { deny: _, ...others } = rules;
  const tools = {
    ...others,
    ...(!isNamed && { allow: [...allow, tool] }),
    ...(deny.length > 0 && { deny }),
  };
  const { tools: __, ...rest } = entry;
  return withEntry(servers, name, {
    ...rest,
    ...(Object.keys(tools).length > 0 && { tools }),
    approval: withException(entry["approval"], tool, verdict === "ask" ? "ask" : "never"),
  });
}

function withException(approval: unknown, tool: string, mode: "ask" | "never"): JsonObject {
  const known = isJsonObject(approval)
    ? approval
    : { ...(typeof approval === "string" && { default: approval }) };
  const tools = objectIn(known["tools"]);
  return { ...known, tools: { ...tools, [tool]: mode } };
}

/** Patterns of the same entry that refuse the tool, whatever is said about it alone. */
export function otherDenials(servers: ServerText, name: string, tool: string): string[] {
  const written = writtenServer(servers, name);
  const rules = isJsonObject(written) ? written["tools"] : undefined;
  const deny: unknown[] = isJsonObject(rules) && Array.isArray(rules["deny"]) ? rules["deny"] : [];
  return deny.filter(
    (pattern): pattern is string =>
      typeof pattern === "string" && pattern !== tool && compileGlob(pattern)(tool),
  );
}
