// Puts references such as `${GITHUB_TOKEN}` in place of the credentials in a server's configuration, so that it can be
// written to a file. The values go nowhere.

import type { ServerAuth, ServerConfig } from "../model/server-config.ts";
import { MARK, withoutCredentials } from "./hide.ts";

export interface Referred {
  server: ServerConfig;
  /** The variables that must be set, in the order in which they are used. */
  variables: string[];
}

const IS_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Values by the names of their variables. Shared by servers, so that one name never stands for two values. */
export type Variables = Map<string, string>;

export function withReferences(name: string, server: ServerConfig, known: Variables): Referred {
  const hidden = withoutCredentials(server);
  const variables: string[] = [];
  /** The variable for a value: the wanted one, unless it stands for something else. */
  const refer = (value: string, wanted: string): string => {
    const own = variableName(`${name}_${wanted}`);
    const plain = IS_NAME.test(wanted) ? wanted : variableName(wanted);
    const free = [plain, own].find((each) => (known.get(each) ?? value) === value);
    const variable = free ?? nextFree(own, value, known);
    known.set(variable, value);
    if (!variables.includes(variable)) variables.push(variable);
    return `\${${variable}}`;
  };
  const own = (what: string): string => variableName(`${name}_${what}`);
  const { args, env, url, headers, auth, oauth } = server;
  const { clientSecret, privateKey } = typeof oauth === "object" ? oauth : {};
  const referred: ServerConfig = {
    ...server,
    ...(args && {
      args: args.map((arg, index) =>
        replaced(arg, hidden.args?.[index], (secret) =>
          refer(secret, own(optionIn(arg) ?? optionIn(args[index - 1]) ?? "secret")),
        ),
      ),
    }),
    ...(env && {
      env: mapped(env, (value, key) => (hidden.env?.[key] === value ? value : refer(value, key))),
    }),
    ...(url !== undefined && {
      url: replaced(url, hidden.url, (secret) => refer(secret, own("url_secret"))),
    }),
    ...(headers && {
      headers: mapped(headers, (value, key) => {
        const wanted = own(/^authorization$/i.test(key) ? "token" : key);
        return replaced(value, hidden.headers?.[key], (secret) => refer(secret, wanted));
      }),
    }),
    ...(auth && { auth: referAuth(auth, hidden.auth, (secret) => refer(secret, own("token"))) }),
    ...(typeof oauth === "object" &&
      typeof hidden.oauth === "object" && {
        oauth: {
          ...oauth,
          ...(clientSecret !== undefined && {
            clientSecret: replaced(clientSecret, hidden.oauth.clientSecret, (secret) =>
              refer(secret, own("client_secret")),
            ),
          }),
          ...(privateKey !== undefined && {
            privateKey: replaced(privateKey, hidden.oauth.privateKey, (secret) =>
              refer(secret, own("private_key")),
            ),
          }),
        },
      }),
  };
  return { server: referred, variables };
}

function referAuth(
  auth: ServerAuth,
  hidden: ServerAuth | undefined,
  refer: (secret: string) => string,
): ServerAuth {
  return auth.type === "bearer"
    ? { ...auth, token: replaced(auth.token, hidden?.type === "bearer" ? hidden.token : "", refer) }
    : { ...auth, key: replaced(auth.key, hidden?.type === "api-key" ? hidden.key : "", refer) };
}

/** What is hidden in a text becomes a reference, and the rest stays. */
function replaced(
  text: string,
  hidden: string | undefined,
  refer: (secret: string) => string,
): string {
  if (hidden === undefined || hidden === text) return text;
  const [first = "", ...rest] = hidden.split(MARK);
  let written = first;
  let at = first.length;
  for (const [index, part] of rest.entries()) {
    const isLast = index === rest.length - 1;
    const end = isLast ? text.length - part.length : text.indexOf(part, at);
    if (end < at) return refer(text);
    written += refer(text.slice(at, end)) + part;
    at = end + part.length;
  }
  return written;
}

/** `--api-key`, or the name in `--api-key=…`. */
function optionIn(arg: string | undefined): string | undefined {
  return /^-{1,2}([A-Za-z][\w.-]*)(?:=|$)/.exec(arg ?? "")?.[1];
}

function mapped(
  map: Readonly<Record<string, string>>,
  change: (value: string, name: string) => string,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(map).map(([name, value]) => [name, change(value, name)]),
  );
}

function nextFree(name: string, value: string, known: Variables): string {
  for (let count = 2; ; count++) {
    const variable = `${name}_${count}`;
    if ((known.get(variable) ?? value) === value) return variable;
  }
}

/** `github-token` becomes `GITHUB_TOKEN`. */
function variableName(text: string): string {
  const name = text
    .toUpperCase()
    .replace(/[^A-Z0-9]+/g, "_")
    .replace(/^_|_$/g, "");
  return /^[A-Z]/.test(name) ? name : `_${name}`;
}
