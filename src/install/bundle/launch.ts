// How the server of a bundle is started: the manifest's command with its variables filled in, as an entry of the
// configuration.

import { join, resolve } from "node:path";
import { codeVariableReason } from "../../core/config/code-variables.ts";
import { inText, isReference, mentionsSecret } from "../../core/types/secret-reference.ts";
import { escaped, type ServerConfig } from "../../core/types/server-config.ts";
import type { InputValues } from "../../core/types/server-offer.ts";
import { contains } from "../../util/contains.ts";
import { oneLine } from "../../util/text.ts";
import { fault, shown } from "./archive.ts";
import { type Launch, type Manifest, MANIFEST, type Option } from "./manifest.ts";

export interface Place {
  /** Where the bundle is unpacked. */
  directory: string;
  homedir: string;
  platform: string;
}

/** Stands in the entry as it is, whether it is a text or a reference; a list is several values. */
interface Given {
  kind: "given";
  values: readonly string[];
}

type Part =
  | { kind: "text"; text: string }
  | Given
  /** An option without a value. */
  | { kind: "unset" };

/**
 * Throws INVALID_ARGUMENTS. `findProgram` gives the program for a command without a path, `files` are those of the
 * bundle.
 */
export function buildEntry(
  manifest: Manifest,
  values: InputValues,
  place: Place,
  { files, findProgram }: { files: ReadonlySet<string>; findProgram: (command: string) => string },
): ServerConfig {
  const { command, args = [], env = {} } = launchOf(manifest, place.platform);
  const read = (text: string): Part[] =>
    partsOf(text, (name) => lookUp(name, manifest, values, place));
  const program = findProgram(programIn(joined(read(command)) ?? "", manifest, place, files));
  const expanded = argumentsOf(args.map(read));
  refuseCodeVariables(Object.keys(env));
  const variables = Object.entries(env).flatMap(([name, text]) => {
    const content = joined(read(text));
    return content === undefined ? [] : [[name, content] as const];
  });
  refuseSecrets([program, ...expanded, ...variables.map(([, text]) => text)], values);
  return {
    command: program,
    ...(expanded.length > 0 && { args: expanded }),
    ...(variables.length > 0 && { env: Object.fromEntries(variables) }),
    // Manifests name their files from there: "args": ["server/index.js"].
    cwd: escaped(place.directory),
  };
}

/** With what the manifest overrides for this system. */
export function launchOf({ server }: Manifest, platform: string): Launch {
  const { entry_point: entry, mcp_config: config } = server;
  // Only the manifest of one for uv may leave it out.
  const base = config ?? { command: "uv", args: ["run", "--directory", "${__dirname}", entry] };
  const overrides = config?.platform_overrides ?? {};
  const own = Object.hasOwn(overrides, platform) ? overrides[platform] : undefined;
  const { command, args, env } = own ?? {};
  return {
    command: command ?? base.command,
    args: args ?? base.args ?? [],
    env: env ?? config?.env ?? {},
  };
}

function refuseCodeVariables(names: readonly string[]): void {
  for (const name of names) {
    const reason = codeVariableReason(name, undefined, "publisher");
    if (reason === undefined) continue;
    throw fault(`its ${MANIFEST} sets ${oneLine(name, 100)}, which ${reason}`);
  }
}

/**
 * A bundle could otherwise have your secret store asked for anything, and pass it to its own program. It looks at the
 * finished texts: a reference may be put together from parts.
 */
function refuseSecrets(texts: readonly string[], given: InputValues): void {
  const own = new Set([...given.values()].flat());
  const references = [...own].filter(isReference);
  const foreign = (text: string): string =>
    references.reduce((rest, reference) => rest.replaceAll(inText(reference), "\n"), text);
  if (!texts.some((text) => !own.has(text) && mentionsSecret(foreign(text)))) return;
  throw fault(
    `its ${MANIFEST} makes a reference to your secrets (secret:// or op://), which only you may give`,
  );
}

const LONGEST_VARIABLE = 200;

function partsOf(text: string, find: (name: string) => Part | undefined): Part[] {
  const parts: Part[] = [];
  let [at, end] = [0, -1];
  // By positions: a pattern could be made to read a text of many `${` again and again.
  for (;;) {
    const start = text.indexOf("${", at);
    if (start !== -1 && end < start) end = text.indexOf("}", start);
    if (start === -1 || end === -1) break;
    const isName = end - start < LONGEST_VARIABLE;
    const found = isName ? find(text.slice(start + 2, end)) : undefined;
    if (found === undefined) {
      parts.push({ kind: "text", text: text.slice(at, start + 2) });
      at = start + 2;
      continue;
    }
    parts.push({ kind: "text", text: text.slice(at, start) }, found);
    at = end + 1;
  }
  parts.push({ kind: "text", text: text.slice(at) });
  return parts.filter((part) => part.kind !== "text" || part.text !== "");
}

const FOLDERS: ReadonlyMap<string, string> = new Map([
  ["DESKTOP", "Desktop"],
  ["DOCUMENTS", "Documents"],
  ["DOWNLOADS", "Downloads"],
]);

/** Undefined for a name that the format does not have. */
function lookUp(
  name: string,
  manifest: Manifest,
  values: InputValues,
  place: Place,
): Part | undefined {
  const fixed = fixedVariable(name, place);
  if (fixed !== undefined) return { kind: "text", text: fixed };
  if (!name.startsWith("user_config.")) return undefined;
  const key = name.slice("user_config.".length);
  const options = manifest.user_config ?? {};
  const option = Object.hasOwn(options, key) ? options[key] : undefined;
  return option === undefined ? undefined : optionValue(key, option, values, place);
}

function fixedVariable(name: string, { directory, homedir, platform }: Place): string | undefined {
  if (name === "__dirname") return directory;
  if (name === "HOME") return homedir;
  if (name === "/" || name === "pathSeparator") return platform === "win32" ? "\\" : "/";
  const folder = FOLDERS.get(name);
  return folder === undefined ? undefined : join(homedir, folder);
}

function optionValue(key: string, option: Option, values: InputValues, place: Place): Part {
  const found = values.get(key) ?? defaultValues(option, place);
  return found.length === 0 ? { kind: "unset" } : { kind: "given", values: found };
}

/** In the syntax of the configuration. */
export function defaultValues({ default: value }: Option, place: Place): string[] {
  if (value === undefined || value === "") return [];
  const defaults = (Array.isArray(value) ? value : [String(value)]).map((text) => {
    const parts = partsOf(text, (name) => {
      const fixed = fixedVariable(name, place);
      return fixed === undefined ? undefined : { kind: "text", text: fixed };
    });
    return joined(parts) ?? "";
  });
  refuseSecrets(defaults, new Map());
  return defaults;
}

/** Undefined where nothing but an option without a value is in it. */
function joined(parts: readonly Part[]): string | undefined {
  if (parts.length === 1 && parts[0]?.kind === "unset") return undefined;
  const isAlone = parts.length === 1 && parts[0]?.kind === "given" && parts[0].values.length === 1;
  // Neighbouring texts become one text. A value that the user gave stands between them unchanged.
  let [result, text] = ["", ""];
  const append = (piece: string): void => {
    // Two halves would mean something that neither of them says.
    if (result.endsWith("$") && /^[${]/.test(piece)) {
      throw fault(`its ${MANIFEST} has a "$" and an option side by side, which cannot be written`);
    }
    result += piece;
  };
  for (const part of parts) {
    if (part.kind === "unset") continue;
    if (part.kind === "text") {
      text += part.text;
      continue;
    }
    append(escaped(text));
    append((isAlone ? part.values : part.values.map(inText)).join(","));
    text = "";
  }
  append(escaped(text));
  return result;
}

/**
 * A list alone is several arguments. An option without a value is left out, and so is the flag before it, which would
 * take the next argument for its value.
 */
function argumentsOf(args: readonly Part[][]): string[] {
  const result: string[] = [];
  let isAfterFlag = false;
  for (const parts of args) {
    const [only] = parts;
    if (parts.length === 1 && only?.kind === "unset") {
      if (isAfterFlag) result.pop();
      isAfterFlag = false;
      continue;
    }
    if (parts.length === 1 && only?.kind === "given") result.push(...only.values);
    else result.push(joined(parts) ?? "");
    isAfterFlag =
      parts.length === 1 && only?.kind === "text" && /^--?[A-Za-z][\w-]*$/.test(only.text);
  }
  return result;
}

/** A command with a path is in the bundle, unless the path is absolute. */
function programIn(
  command: string,
  { server: { type } }: Manifest,
  { directory, platform }: Place,
  files: ReadonlySet<string>,
): string {
  const own = escaped(directory);
  const isOwn = command.startsWith(`${own}/`) || command.startsWith(`${own}\\`);
  const relative = (isOwn ? command.slice(own.length + 1) : command)
    .replaceAll("\\", platform === "win32" ? "/" : "\\")
    .replace(/^(?:\.\/)+/, "");
  const isAbsolute = !isOwn && (command.startsWith("/") || /^[A-Za-z]:[\\/]/.test(command));
  const hasPath = relative !== command || relative.includes("/");
  if (isAbsolute || (!hasPath && !(type === "binary" && files.has(command)))) return command;
  const name =
    platform === "win32" && type === "binary" && files.has(`${relative}.exe`)
      ? `${relative}.exe`
      : relative;
  if (!contains(directory, resolve(directory, name))) {
    throw fault(`its command ${shown(oneLine(command))} is outside of the bundle`);
  }
  return `${own}/${name}`;
}

/** The files that must be executable, whatever the archive says: one made on Windows says nothing. */
export function executablesIn(
  manifest: Manifest,
  place: Place,
  files: ReadonlySet<string>,
): Set<string> {
  const { command } = launchOf(manifest, place.platform);
  const program = command
    .replace(/^\$\{__dirname\}(?:\/|\$\{\/\}|\$\{pathSeparator\})/, "")
    .replace(/^(?:\.\/)+/, "");
  const { type, entry_point: entry } = manifest.server;
  const named = [program, `${program}.exe`, ...(type === "binary" ? [entry] : [])];
  return new Set(named.filter((each) => files.has(each)));
}
