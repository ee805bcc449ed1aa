// How other applications write variables in their values, and the same in our syntax: `${NAME}`, `${NAME:-default}`,
// and `$${` for a literal `${`. What stays the same in every application: a variable that is not set is an error
// that names it, also where the application itself would go on with an empty text.

import { basename } from "node:path";
import type { Place } from "./application.ts";

export type Converted =
  | { kind: "text"; text: string }
  /** The application fills this in from something that only it has. */
  | { kind: "unresolvable"; written: string };

export type Convert = (text: string) => Converted;

const NAME = "[A-Za-z_][A-Za-z0-9_]*";

/** Where one reference begins and ends, and what it is in our syntax; undefined if only the application knows it. */
interface Syntax {
  pattern: RegExp;
  replace: (groups: Readonly<Record<string, string | undefined>>) => string | undefined;
}

/** The application knows no variables: all text is meant as it stands. */
export const LITERAL: Convert = (text) => ({ kind: "text", text: escaped(text) });

/** The application writes variables as we do. */
export const OURS: Convert = (text) => ({ kind: "text", text });

/** Claude's `${NAME}` and `${NAME:-default}`. */
export const BRACES = converter({
  pattern: new RegExp(`\\$\\{(?<name>${NAME})(?::-(?<fallback>[^}]*))?\\}`, "g"),
  replace: ({ name = "", fallback }) => reference(name, fallback),
});

/** Gemini's `$NAME`, `${NAME}` and `${NAME:-default}`. A `$word` that is no variable stays as it is, as there. */
export const DOLLAR = converter({
  pattern: new RegExp(
    `\\$(?:(?<bare>${NAME})|\\{(?<name>${NAME})(?::-(?<fallback>[^}]*))?\\})`,
    "g",
  ),
  replace: ({ bare, name = "", fallback }) => {
    if (bare === undefined) return reference(name, fallback);
    const isShout = bare === bare.toUpperCase();
    return reference(bare, isShout ? undefined : `$${bare}`);
  },
});

/** OpenCode's `{env:NAME}`; of `{file:path}` we cannot know the content. */
export const ENV_IN_BRACES = converter({
  pattern: new RegExp(`\\{(?:env:(?<name>${NAME})|(?<other>file:[^}]*))\\}`, "g"),
  replace: ({ name }) => name && reference(name),
});

/**
 * The variables of VS Code and its relatives: `${env:NAME}`, `${workspaceFolder}`, `${userHome}` and so on. Their
 * users also write `${NAME}`, which means nothing else there. `input` gives the reference for `${input:id}`.
 */
export function editorVariables(
  { folder, platform }: Place,
  input: (id: string) => string | undefined = () => undefined,
): Convert {
  const known: Readonly<Record<string, string>> = {
    workspaceFolder: escaped(folder),
    workspaceRoot: escaped(folder),
    cwd: escaped(folder),
    workspaceFolderBasename: escaped(basename(folder)),
    userHome: platform === "win32" ? "${USERPROFILE}" : "${HOME}",
    pathSeparator: platform === "win32" ? "\\" : "/",
    "/": platform === "win32" ? "\\" : "/",
  };
  return converter({
    pattern: new RegExp(
      `\\$\\{(?:env:(?<env>${NAME})|input:(?<input>[^}]+)|(?<name>${NAME}|/)(?<rest>:[^}]*)?)\\}`,
      "g",
    ),
    replace: ({ env, input: id, name = "", rest }) => {
      if (env !== undefined) return reference(env);
      if (id !== undefined) return input(id);
      if (Object.hasOwn(known, name)) return known[name];
      if (rest === undefined) return reference(name);
      return rest.startsWith(":-") ? reference(name, rest.slice(2)) : undefined;
    },
  });
}

/** The name of a variable for something that people name freely: `github-token` becomes `GITHUB_TOKEN`. */
export function variableName(id: string): string {
  const name = id
    .toUpperCase()
    .replace(/[^A-Z0-9]+/g, "_")
    .replace(/^_|_$/g, "");
  return /^[A-Z]/.test(name) ? name : `_${name}`;
}

export function reference(name: string, fallback?: string): string {
  return fallback === undefined || fallback.includes("${") || fallback.includes("}")
    ? `\${${name}}`
    : `\${${name}:-${fallback}}`;
}

function converter({ pattern, replace }: Syntax): Convert {
  return (text) => {
    let converted = "";
    let end = 0;
    for (const match of text.matchAll(pattern)) {
      const replacement = replace(match.groups ?? {});
      if (replacement === undefined) return { kind: "unresolvable", written: match[0] };
      converted += escaped(text.slice(end, match.index)) + replacement;
      end = match.index + match[0].length;
    }
    return { kind: "text", text: converted + escaped(text.slice(end)) };
  };
}

/** A function, since `$$` in a replacement stands for one `$`. */
function escaped(text: string): string {
  return text.replaceAll("${", () => "$${");
}
