// Finds the credentials that are written out in a server's configuration, and puts references such as `${GITHUB_TOKEN}` in
// their place, so that it can be written to a file.

import type { ServerAuth, ServerConfig } from "../types/server-config.ts";
import { variableName } from "../../util/environment.ts";
import { isKeyInPath } from "./credential-name.ts";
import { mapped, MARK, withoutCredentials } from "./hide.ts";

export interface Referred {
  server: ServerConfig;
  /** The variables that must be set, in the order in which they are used. */
  variables: string[];
}

const IS_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Values by the names of their variables. Shared by servers, so that one name never stands for two values. */
export type Variables = Map<string, string>;

export function withReferences(
  name: string,
  server: ServerConfig,
  known: Variables,
  options?: FindOptions,
): Referred {
  const variables: string[] = [];
  /** The variable for a value: the preferred name, unless it stands for another value already. */
  const refer = (value: string, { what, isOwn }: CredentialPlace): string => {
    const own = variableName(`${name}_${what}`);
    const wanted = isOwn ? own : what;
    const plain = IS_NAME.test(wanted) ? wanted : variableName(wanted);
    const free = [plain, own].find((each) => (known.get(each) ?? value) === value);
    const variable = free ?? nextFree(own, value, known);
    known.set(variable, value);
    if (!variables.includes(variable)) variables.push(variable);
    return `\${${variable}}`;
  };
  return { server: replaceCredentials(server, refer, options), variables };
}

/** Where a credential stands in a server. */
export interface CredentialPlace {
  /** `["env", "TOKEN"]`, `["headers", "Authorization"]`, `["args", 2]`. */
  path: readonly (string | number)[];
  /** What it is, in a word or two: the name of the variable, the option or the header. */
  what: string;
  /** `what` says little without the name of the server. */
  isOwn: boolean;
  /** There is other text around it, such as `Bearer `. */
  isInText: boolean;
}

interface FindOptions {
  /** Counts what looks like a key in the path or the query of a URL too. Elsewhere it is no credential: most of it only names something. */
  inPath?: boolean;
}

/** Puts what `replace` gives in place of each credential that is written out. What has a reference in it stays. */
export function replaceCredentials(
  server: ServerConfig,
  replace: (value: string, place: CredentialPlace) => string,
  { inPath = false }: FindOptions = {},
): ServerConfig {
  const hidden = inPath
    ? withoutKeysInPath(withoutCredentials(server))
    : withoutCredentials(server);
  const { args, env, url, headers, auth, oauth } = server;
  const { clientSecret, privateKey } = typeof oauth === "object" ? oauth : {};
  const hiddenOAuth = typeof hidden.oauth === "object" ? hidden.oauth : {};
  const at =
    (place: Omit<CredentialPlace, "isInText">): Replace =>
    (secret, isInText) =>
      hasReference(secret) ? secret : replace(secret, { ...place, isInText });
  const own = (what: string, ...path: CredentialPlace["path"]): Replace =>
    at({ path, what, isOwn: true });
  return {
    ...server,
    ...(args && {
      args: args.map((arg, index) => {
        const what = optionIn(arg) ?? optionIn(args[index - 1]) ?? "secret";
        return replaced(arg, hidden.args?.[index], own(what, "args", index));
      }),
    }),
    ...(env && {
      env: mapped(env, (value, key) => {
        const shown = hidden.env?.[key];
        const put = at({ path: ["env", key], what: key, isOwn: false });
        // A variable is one whole, such as the address of a database, unless a part of it is a reference already.
        return shown === value || hasReference(value)
          ? replaced(value, shown, put)
          : put(value, false);
      }),
    }),
    ...(url !== undefined && { url: replaced(url, hidden.url, own("url_secret", "url")) }),
    ...(headers && {
      headers: mapped(headers, (value, key) => {
        const what = /^authorization$/i.test(key) ? "token" : key;
        return replaced(value, hidden.headers?.[key], own(what, "headers", key));
      }),
    }),
    ...(auth && { auth: replaceAuth(auth, hidden.auth, own) }),
    ...(typeof oauth === "object" && {
      oauth: {
        ...oauth,
        ...(clientSecret !== undefined && {
          clientSecret: replaced(
            clientSecret,
            hiddenOAuth.clientSecret,
            own("client_secret", "oauth", "clientSecret"),
          ),
        }),
        ...(privateKey !== undefined && {
          privateKey: replaced(
            privateKey,
            hiddenOAuth.privateKey,
            own("private_key", "oauth", "privateKey"),
          ),
        }),
      },
    }),
  };
}

/** Where a server has credentials that are written out, unless they are `known` to come from elsewhere. */
export function plaintextCredentials(
  server: ServerConfig,
  known?: ReadonlySet<string | undefined>,
  options?: FindOptions,
): CredentialPlace[] {
  const found: CredentialPlace[] = [];
  const note = (value: string, place: CredentialPlace): string => {
    if (!known?.has(value)) found.push(place);
    return value;
  };
  replaceCredentials(server, note, options);
  return found;
}

function withoutKeysInPath({ args, url, ...server }: ServerConfig): ServerConfig {
  return {
    ...server,
    ...(args && { args: args.map(hideKeysInPath) }),
    ...(url !== undefined && { url: hideKeysInPath(url) }),
  };
}

/** In the query too, whatever the parameter is called. */
function hideKeysInPath(text: string): string {
  const [, origin = "", path = "", query = "", rest = ""] =
    /^(https?:\/\/[^/?#]*)([^?#]*)([^#]*)(.*)$/is.exec(text) ?? [];
  if (origin === "") return text;
  const hide = (part: string): string => (isKeyInPath(part) ? MARK : part);
  const parts = path.split("/").map(hide).join("/");
  const values = query.replace(/(?<==)[^&]+/g, hide);
  return `${origin}${parts}${values}${rest}`;
}

/** `$${` is a literal `${`. */
function hasReference(value: string): boolean {
  return /(?<!\$)\$\{/.test(value);
}

type Replace = (secret: string, isInText: boolean) => string;

function replaceAuth(
  auth: ServerAuth,
  hidden: ServerAuth | undefined,
  own: (what: string, ...path: CredentialPlace["path"]) => Replace,
): ServerAuth {
  if (auth.type === "bearer") {
    const shown = hidden?.type === "bearer" ? hidden.token : "";
    return { ...auth, token: replaced(auth.token, shown, own("token", "auth", "token")) };
  }
  const shown = hidden?.type === "api-key" ? hidden.key : "";
  return { ...auth, key: replaced(auth.key, shown, own("token", "auth", "key")) };
}

/** What is hidden in a text is replaced, and the rest stays. */
function replaced(text: string, hidden: string | undefined, replace: Replace): string {
  if (hidden === undefined || hidden === text) return text;
  const [first = "", ...rest] = hidden.split(MARK);
  const isInText = hidden !== MARK;
  let written = first;
  let at = first.length;
  for (const [index, part] of rest.entries()) {
    const isLast = index === rest.length - 1;
    const end = isLast ? text.length - part.length : text.indexOf(part, at);
    if (end < at) return replace(text, false);
    written += replace(text.slice(at, end), isInText) + part;
    at = end + part.length;
  }
  return written;
}

/** `--api-key`, or the name in `--api-key=…`. */
function optionIn(arg: string | undefined): string | undefined {
  return /^-{1,2}([A-Za-z][\w.-]*)(?:=|$)/.exec(arg ?? "")?.[1];
}

function nextFree(name: string, value: string, known: Variables): string {
  for (let count = 2; ; count++) {
    const variable = `${name}_${count}`;
    if ((known.get(variable) ?? value) === value) return variable;
  }
}
