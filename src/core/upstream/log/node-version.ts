// Tells whether a server failed because its package needs another Node.js than the one that runs it. Node only says that
// some syntax or class is not known.

import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { isJsonObject, tryParseJson } from "../../types/json.ts";
import { oneLine } from "../../../util/text.ts";

const UNKNOWN_LANGUAGE =
  /^(?:\S{1,40}: )?(?:SyntaxError|ReferenceError)\b|Class extends value undefined/;
const RUNS_WITH = /^Node\.js v(\d{1,3}\.\d{1,3}\.\d{1,3})/;
const PACKAGE =
  /((?:(?<![A-Za-z])[A-Za-z]:)?[\\/][^\s:'"()*]{0,400}[\\/]node_modules[\\/](?:@[\w.-]{1,100}[\\/])?[\w.-]{1,100})[\\/]/;
/** No package.json is larger. */
const MAX_BYTES = 256 * 1024;

/** What to do, if `line` may come from a Node.js that is too old. `stderr` is all that the server wrote. */
export function nodeRemedy(line: string, stderr: readonly string[]): string | undefined {
  if (!UNKNOWN_LANGUAGE.test(line)) return undefined;
  const inUse = firstIn(stderr, RUNS_WITH);
  const directory = firstIn(stderr, PACKAGE);
  const wanted = directory === undefined ? undefined : enginesIn(directory);
  if (inUse === undefined || wanted === undefined || !isOlder(inUse, wanted)) return undefined;
  return `it needs Node.js ${oneLine(wanted, 60)} and runs with ${inUse}: install a newer one, or give the path of its npx or node as command`;
}

function firstIn(lines: readonly string[], pattern: RegExp): string | undefined {
  for (const line of lines) {
    const [, found] = pattern.exec(line.slice(0, 2000)) ?? [];
    if (found !== undefined) return found;
  }
  return undefined;
}

function enginesIn(directory: string): string | undefined {
  const file = join(directory, "package.json");
  try {
    const facts = statSync(file);
    if (!facts.isFile() || facts.size > MAX_BYTES) return undefined;
    const manifest = tryParseJson(readFileSync(file, "utf8"));
    const engines = isJsonObject(manifest) ? manifest["engines"] : undefined;
    const node = isJsonObject(engines) ? engines["node"] : undefined;
    return typeof node === "string" ? node : undefined;
  } catch {
    return undefined;
  }
}

/** By the lowest version that the range names. */
function isOlder(version: string, range: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const lowest = [...range.matchAll(/(?<![.\d])(\d{1,3})(?:\.(\d{1,3}))?/g)]
    .map(([, first, second = "0"]) => [Number(first), Number(second)] as const)
    .sort((one, other) => one[0] - other[0] || one[1] - other[1])[0];
  if (lowest === undefined) return false;
  return major < lowest[0] || (major === lowest[0] && minor < lowest[1]);
}
