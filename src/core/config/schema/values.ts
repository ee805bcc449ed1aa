// The single values of a configuration that have rules of their own: names, durations, headers, URLs, and
// values that may hold references. A function named `…Problem` says what is wrong and what was expected.

import { plainHost } from "../../net/host-list.ts";
import { isLocal } from "../../net/policy.ts";
import { inText, mentionsSecret } from "../../types/secret-reference.ts";
import { referenceProblem } from "./references.ts";
import { integer, type Schema, text, textOrEmpty, verified } from "./schema.ts";

const DAY = 24 * 60 * 60 * 1000;

const LONGEST_NAME = 64;

/** What `nameProblem` accepts, and `serverNameProblem`. */
export const NAME = /^(?!\s)[^/\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]{1,64}(?<!\s)$/u;
export const SERVER_NAME = new RegExp(`^(?!native$)${NAME.source.slice(1)}`, "u");

/** How every URL begins that `urlProblem` accepts. */
export const WEB_URL = /^\s*[Hh][Tt][Tt][Pp][Ss]?:/;

export const HEADER_NAME = /^[!#$%&'*+.^_`|~\w-]+$/;

export function milliseconds(min: 0 | 1 = 1): Schema<number> {
  return integer(min, DAY, "milliseconds");
}

export function bytes(max: number): Schema<number> {
  return integer(1024, max, "bytes");
}

export function serverNameProblem(name: string): string | undefined {
  return nameProblem(name, { name: "native", meaning: "the native tools" });
}

/** `reserved` is the one name that means something already. */
export function nameProblem(
  name: string,
  reserved?: { name: string; meaning: string },
): string | undefined {
  const length = Array.from(name).length;
  if (length < 1 || length > LONGEST_NAME) {
    return `is a name of ${length} characters; expected 1 to ${LONGEST_NAME}`;
  }
  if (name.includes("/")) return 'has a "/" in its name; expected one without';
  if (/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u.test(name)) {
    return "has a control character in its name; expected one without";
  }
  if (name !== name.trim()) return "has a space at an end of its name; expected one without";
  if (name === reserved?.name) return `is the name of ${reserved.meaning}; expected another one`;
  return undefined;
}

export function headerNameProblem(name: string): string | undefined {
  return HEADER_NAME.test(name)
    ? undefined
    : "is not a name for a header; expected letters, digits and hyphens";
}

/** Never quotes the value. */
export function headerValueProblem(value: string): string | undefined {
  return /[\r\n\0]/.test(value) ? "has a line break in it; expected a single line" : undefined;
}

/** For the URL of a remote server. Never quotes it: it may hold a key. */
export function urlProblem(url: string): string | undefined {
  if (!URL.canParse(url)) return "is not a URL; expected one such as https://example.com/mcp";
  const { protocol, username, password } = new URL(url);
  if (protocol !== "https:" && protocol !== "http:") {
    return `has the scheme "${protocol.slice(0, -1)}"; expected "https" or "http"`;
  }
  if (username !== "" || password !== "") {
    return "has a user name or password in it; expected them in headers";
  }
  return undefined;
}

/** `urlProblem`, for an address to which something goes that nobody else may read: `since` says what. */
export function httpsProblem(url: string, since: string): string | undefined {
  const problem = urlProblem(url);
  if (problem !== undefined) return problem;
  const { protocol, hostname } = new URL(url);
  return protocol === "https:" || isLocal(plainHost(hostname))
    ? undefined
    : `is plain http; expected https, since ${since}`;
}

/** A value that may hold `${VAR}` and `${secret://…}`, or be a `secret://` reference. */
export function resolvable(): Schema<string> {
  return verified(resolvableProblem);
}

/** The same for a value that becomes a part of a text, where a reference cannot hold variables. */
export function resolvablePart(): Schema<string> {
  return verified(
    (value) =>
      resolvableProblem(value) ??
      (inText(value) !== value && value.includes("${")
        ? "has a variable inside a secret reference; expected a reference without"
        : undefined),
  );
}

/** `alsoWrong` is a further check for values of one kind. */
export function resolvableOrEmpty(
  alsoWrong: (value: string) => string | undefined = () => undefined,
): Schema<string> {
  return verified((value) => resolvableProblem(value) ?? alsoWrong(value), textOrEmpty());
}

/** A URL with references in it is checked when they are resolved. */
export function resolvableUrl(): Schema<string> {
  return verified(
    (url) => {
      const isLiteral = !url.includes("${") && !mentionsSecret(url);
      return resolvableProblem(url) ?? (isLiteral ? urlProblem(url) : undefined);
    },
    text(),
    new RegExp(`${WEB_URL.source}|\\$\\{|^secret://|^op://`),
  );
}

/** A program or a path: it may hold `${VAR}`, and is no secret. */
export function resolvablePath(): Schema<string> {
  return verified((path) => resolvableProblem(path) ?? secretPathProblem(path));
}

function secretPathProblem(path: string): string | undefined {
  return mentionsSecret(path) ? "is a secret; expected a path" : undefined;
}

/** A directory on this machine, as a path or a `file:` URL. One with references is checked when they are resolved. */
export function resolvableDirectory(): Schema<string> {
  return verified((directory) => {
    const isOther = /^[a-z][a-z\d+.-]+:\/\//i.test(directory) && !/^file:/i.test(directory);
    return (
      resolvableProblem(directory) ??
      secretPathProblem(directory) ??
      (isOther ? "is not a directory on this machine; expected a path or a file: URL" : undefined)
    );
  });
}

function resolvableProblem(value: string): string | undefined {
  return value.includes("\0") ? "has a NUL character in it" : referenceProblem(value);
}
