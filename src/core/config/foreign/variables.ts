// How other applications write variables in their values, and the same in our syntax: `${NAME}`, `${NAME:-default}`,
// and `$${` for a literal `${`. What stays the same in every application: a variable that is not set is an error
// that names it, also where the application itself would go on with an empty text.

import { basename } from "node:path";
import { escaped } from "../../types/server-config.ts";
import type { FileContext } from "./application.ts";

type Converted =
  | { kind: "text"; text: string }
  /** The application fills this in from something that only it has. */
  | { kind: "unresolvable"; written: string };

export type Convert = (text: string) => Converted;

/**
 * Finds what may be a reference. One that is not closed takes the rest of the text with it, so that no text is read
 * twice.
 */
interface Syntax {
  /** With the groups `inside` and `close`, and `bare` for a reference without braces. */
  pattern: RegExp;
  /** In our syntax; undefined for what only the application knows. */
  replace: (inside: string, isBare: boolean) => string | typeof NO_REFERENCE | undefined;
}

const NO_REFERENCE = Symbol("no reference");

const IN_BRACES = /\$\{(?<inside>[^}]*)(?<close>\})?/g;

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

const NAME_OR_DEFAULT = /^(?<name>[A-Za-z_][A-Za-z0-9_]*)(?::-(?<fallback>[^]*))?$/;

/** The application knows no variables: all text is meant as it stands. */
export const LITERAL: Convert = (text) => ({ kind: "text", text: escaped(text) });

/** The application writes variables as we do. */
export const OURS: Convert = (text) => ({ kind: "text", text });

/** Claude's `${NAME}` and `${NAME:-default}`. */
export const BRACES = converter({ pattern: IN_BRACES, replace: plain });

/** Gemini's `$NAME`, `${NAME}` and `${NAME:-default}`. A `$word` that is no variable stays as it is, as there. */
export const DOLLAR = converter({
  pattern: /\$(?:(?<bare>[A-Za-z_][A-Za-z0-9_]*)|\{(?<inside>[^}]*)(?<close>\})?)/g,
  replace: (inside, isBare) => {
    if (!isBare) return plain(inside);
    return reference(inside, inside === inside.toUpperCase() ? undefined : `$${inside}`);
  },
});

/** OpenCode's `{env:NAME}`; of `{file:path}` we cannot know the content. */
export const ENV_IN_BRACES = converter({
  pattern: /\{(?<inside>(?:env|file):[^}]*)(?<close>\})?/g,
  replace: (inside) => {
    const [kind, name = ""] = split(inside);
    if (kind === "file") return undefined;
    return NAME.test(name) ? reference(name) : NO_REFERENCE;
  },
});

/**
 * The variables of VS Code and its relatives: `${env:NAME}`, `${workspaceFolder}`, `${userHome}` and so on. Their
 * users also write `${NAME}`, which means nothing else there. `input` gives the reference for `${input:id}`.
 */
export function editorVariables(
  { folder, platform }: FileContext,
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
    pattern: IN_BRACES,
    replace: (inside) => {
      const [kind, rest] = split(inside);
      if (Object.hasOwn(known, kind)) return known[kind];
      if (kind === "env" && rest !== undefined && NAME.test(rest)) return reference(rest);
      if (kind === "input" && rest) return input(rest);
      const isOther = rest !== undefined && NAME.test(kind) && !rest.startsWith("-");
      return isOther ? undefined : plain(inside);
    },
  });
}

export function reference(name: string, fallback?: string): string {
  return fallback === undefined || fallback.includes("${") || fallback.includes("}")
    ? `\${${name}}`
    : `\${${name}:-${fallback}}`;
}

/** `NAME` or `NAME:-default` */
function plain(inside: string): string | typeof NO_REFERENCE {
  const { name, fallback } = NAME_OR_DEFAULT.exec(inside)?.groups ?? {};
  return name === undefined ? NO_REFERENCE : reference(name, fallback);
}

/** At the first colon. */
function split(inside: string): [kind: string, rest?: string] {
  const colon = inside.indexOf(":");
  return colon === -1 ? [inside] : [inside.slice(0, colon), inside.slice(colon + 1)];
}

function converter({ pattern, replace }: Syntax): Convert {
  return (text) => {
    let converted = "";
    let end = 0;
    for (const match of text.matchAll(pattern)) {
      const { inside, close, bare } = match.groups ?? {};
      if (bare === undefined && close === undefined) continue;
      const replacement = replace(bare ?? inside ?? "", bare !== undefined);
      if (replacement === undefined) return { kind: "unresolvable", written: match[0] };
      if (replacement === NO_REFERENCE) continue;
      converted += escaped(text.slice(end, match.index)) + replacement;
      end = match.index + match[0].length;
    }
    return { kind: "text", text: converted + escaped(text.slice(end)) };
  };
}
