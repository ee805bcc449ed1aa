// Replaces references in configured values by what they refer to. This happens late: each time a server starts or a model is opened,
// so that a changed variable counts without loading the configuration again. The values of secrets are given: whoever starts
// a server finds out here which ones it needs, and gets them first.

import { homedir as systemHome } from "node:os";
import { resolve } from "node:path";
import { credentialLikeness } from "../redaction/credential-name.ts";
import type { OAuthSettings } from "../types/authorization.ts";
import { type ErrorDetails, PlugboardError } from "../types/errors.ts";
import type { RootsSetting } from "../types/roots.ts";
import { type SecretReference, secretUnavailable } from "../types/secret-provider.ts";
import { mentionsSecret } from "../types/secret-reference.ts";
import { isRemote, type ServerTarget, type ServerDefinition } from "../types/server-definition.ts";
import type { Environment } from "../../util/environment.ts";
import { expandHome } from "../../util/home-path.ts";
import { formatPath, type KeyPath } from "./issue.ts";
import { parseReference, parseTemplate, type Template } from "./schema/references.ts";
import { headerValueProblem, urlProblem } from "./schema/values.ts";

/** A private key as text. Anything else is the path of a file. */
const PEM = "-----BEGIN";

type Expand = (value: string, path: KeyPath) => string;

/** The value of a secret. `key` names where it is needed: `env.TOKEN`. */
export type SecretOf = (reference: SecretReference, key: string) => string;

/** For a comparison of targets: a reference stands for itself. */
export const asWritten: SecretOf = ({ text }) => text;

/** A reference, and where it is needed: `env.TOKEN`, `headers.Authorization`. */
export interface NeededSecret {
  key: string;
  reference: SecretReference;
}

/**
 * Throws UNRESOLVED_VALUE for a variable that is not set, and CONFIG_INVALID for what expansion made unusable. Both are
 * permanent. Without `secretOf`, it throws SECRET_UNAVAILABLE for a reference to a secret.
 */
export function resolveTarget(
  definition: ServerDefinition,
  env: Environment = process.env,
  homedir: string = env["HOME"] || systemHome(),
  secretOf: SecretOf = noSecrets(definition.name),
): ServerTarget {
  const { target, name } = definition;
  const resolved = expandTarget(definition, env, homedir, secretOf);
  if (!isRemote(resolved)) return resolved;
  const { url, headers } = resolved;
  // A reference that stands for itself is not the URL.
  if (secretOf !== asWritten || !mentionsSecret(url)) refuse(urlProblem(url), name, ["url"]);
  for (const [header, value] of Object.entries(headers)) {
    refuse(headerValueProblem(value), name, ["headers", header]);
  }
  const written = isRemote(target) && target.oauth ? target.oauth.privateKey : undefined;
  const { privateKey } = resolved.oauth || {};
  if (secretOf !== asWritten && written !== undefined && mentionsSecret(written)) {
    const isKey = privateKey?.includes(PEM) === true;
    refuse(isKey ? undefined : "is not a private key in PEM", name, ["oauth", "privateKey"]);
  }
  return resolved;
}

/** The secrets that the target needs. Throws UNRESOLVED_VALUE and CONFIG_INVALID as `resolveTarget` does. */
export function secretsNeeded(
  definition: ServerDefinition,
  env: Environment = process.env,
): NeededSecret[] {
  return secretsIn((secretOf) => expandTarget(definition, env, "", secretOf));
}

/** What `expand` asks for. Nothing stands in place of the values. */
function secretsIn(expand: (secretOf: SecretOf) => unknown): NeededSecret[] {
  const needed: NeededSecret[] = [];
  expand((reference, key) => {
    needed.push({ key, reference });
    return "";
  });
  return needed;
}

function expandTarget(
  { target, name }: ServerDefinition,
  env: Environment,
  homedir: string,
  secretOf: SecretOf,
): ServerTarget {
  // The client's id is its own word, and nothing in it is a reference.
  if (target.kind === "acp") return target;
  const { baseDir } = target;
  const expand: Expand = (value, path) => expandValue(value, formatPath(path), env, name, secretOf);
  const toPath = (path: string): string => {
    const expanded = expandHome(path, homedir);
    return baseDir === undefined ? expanded : resolve(baseDir, expanded);
  };
  if (target.kind === "stdio") {
    const { command, args, cwd } = target;
    // As in a shell: only a `~` that is written, at the beginning of a word, and none that a variable holds.
    const expandWord: Expand = (word, path) =>
      word.startsWith("~") ? expandHome(expand(word, path), homedir) : expand(word, path);
    return {
      kind: "stdio",
      command: expandWord(command, ["command"]),
      args: args.map((arg, index) => expandWord(arg, ["args", index])),
      env: expandMap(target.env, "env", expand),
      // Absent rather than undefined: it is spread over the directory that the host chose.
      ...(cwd !== undefined && { cwd: toPath(expand(cwd, ["cwd"])) }),
    };
  }
  const { kind, allowInsecure, allowPrivate, tls, oauth } = target;
  const file = (path: string | undefined, key: string): string | undefined =>
    path && toPath(expand(path, ["tls", key]));
  return {
    kind,
    url: expand(target.url, ["url"]),
    headers: expandMap(target.headers, "headers", expand),
    allowInsecure,
    allowPrivate,
    oauth: oauth && resolveOAuth(oauth, expand, toPath),
    tls: tls && { ca: file(tls.ca, "ca"), cert: file(tls.cert, "cert"), key: file(tls.key, "key") },
  };
}

/** The directories of a list of roots; `file:` URLs stay. Throws as `resolveTarget` does. */
export function resolveDirectories(
  { directories, baseDir }: Exclude<RootsSetting, boolean>,
  path: KeyPath,
  env: Environment,
  server: string,
  homedir: string = env["HOME"] || systemHome(),
): string[] {
  return directories.map((directory, index) => {
    const expanded = expandValue(directory, formatPath([...path, index]), env, server);
    if (expanded.startsWith("file:")) return expanded;
    const local = expandHome(expanded, homedir);
    return baseDir === undefined ? local : resolve(baseDir, local);
  });
}

function resolveOAuth(
  oauth: OAuthSettings,
  expand: Expand,
  toPath: (path: string) => string,
): OAuthSettings {
  const given = Object.entries(oauth).filter(([, value]) => value !== undefined);
  const expanded = Object.fromEntries(
    given.map(([key, value]) => [key, expand(String(value), ["oauth", key])]),
  ) as OAuthSettings;
  const { privateKey } = expanded;
  // What a secret holds is never the path of a file.
  const isSecret = mentionsSecret(oauth.privateKey ?? "");
  if (privateKey === undefined || privateKey.includes(PEM) || isSecret) return expanded;
  return { ...expanded, privateKey: toPath(privateKey) };
}

function expandMap(
  map: Record<string, string>,
  key: string,
  expand: Expand,
): Record<string, string> {
  const expanded: Record<string, string> = Object.create(null);
  for (const [name, value] of Object.entries(map)) expanded[name] = expand(value, [key, name]);
  return expanded;
}

/**
 * A value with its references filled in. `key` names it in messages. Throws UNRESOLVED_VALUE for a variable that is not
 * set, and CONFIG_INVALID for a malformed value. Without `secretOf`, it throws SECRET_UNAVAILABLE for a secret.
 */
export function expandValue(
  value: string,
  key: string,
  env: Environment,
  server?: string,
  secretOf: SecretOf = noSecrets(server),
): string {
  const details: ErrorDetails = { server, permanent: true };
  const template = parseTemplate(value);
  // A value that was set in code has not been through the schema.
  if (template.kind === "malformed") {
    throw new PlugboardError("CONFIG_INVALID", `${key} ${template.reason}`, details);
  }
  const { parts, isReference } = template;
  const expanded = parts.map((part) => {
    switch (part.kind) {
      case "text":
        return part.text;
      case "variable":
        return valueOfVariable(part, key, env, details);
      case "secret":
        return secretOf(part.reference, key);
    }
  });
  if (isReference !== true) {
    const given = expanded.filter((_, index) => parts[index]?.kind !== "secret").join("");
    if (!mentionsSecret(given)) return expanded.join("");
    // Never sent as it is: the server would get the reference in place of the secret.
    const message = `${key} becomes a reference to a secret only with the values of its variables`;
    const hint = "write the reference itself into the configuration";
    throw new PlugboardError("UNRESOLVED_VALUE", message, { ...details, hint });
  }
  const reference = parseReference(expanded.join(""));
  if (reference !== undefined) return secretOf(reference, key);
  throw new PlugboardError("CONFIG_INVALID", `${key} is a malformed secret reference`, details);
}

/** A value with its references filled in, as `expandValue` gives it, with the secrets that `valueOf` gives. */
export async function resolveValue(
  value: string,
  key: string,
  env: Environment,
  valueOf: (needed: NeededSecret) => Promise<string>,
): Promise<string> {
  const needed = secretsIn((secretOf) => expandValue(value, key, env, undefined, secretOf));
  const values = new Map(
    await Promise.all(
      needed.map(async (each) => [each.reference.text, await valueOf(each)] as const),
    ),
  );
  return expandValue(value, key, env, undefined, ({ text }) => values.get(text) ?? "");
}

type Variable = Extract<
  Extract<Template, { kind: "parts" }>["parts"][number],
  { kind: "variable" }
>;

function valueOfVariable(
  { name, fallback }: Variable,
  key: string,
  env: Environment,
  details: ErrorDetails,
): string {
  const found = Object.hasOwn(env, name) ? env[name] : undefined;
  // As in a shell, `:-` also stands in for an empty value.
  const result = fallback === undefined ? found : found || fallback;
  if (result !== undefined) return result;
  const message = `${key} needs the variable ${name}, which is not set`;
  // A default would be a credential that is written out.
  const isCredential = credentialLikeness(name) !== undefined;
  const hint = `export ${name}${isCredential ? "" : `, or give a default with \${${name}:-…}`}`;
  throw new PlugboardError("UNRESOLVED_VALUE", message, { ...details, hint });
}

/** Where nobody can get secrets. */
function noSecrets(server: string | undefined): SecretOf {
  return (reference, key) => {
    const message = `${key}: ${reference.text} cannot be resolved here`;
    throw secretUnavailable(message, { server });
  };
}

/** `problem` never quotes the value: after expansion it may hold a secret. */
function refuse(problem: string | undefined, server: string, path: KeyPath): void {
  if (problem === undefined) return;
  const message = `${formatPath(path)} ${problem}`;
  throw new PlugboardError("CONFIG_INVALID", message, { server, permanent: true });
}
