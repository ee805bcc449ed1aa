// Shows how a server is started or reached without the credentials in it. They are hidden by where they stand, so
// that those are hidden too which are too short to be searched for, and nothing else is.

import type { ServerAuth, ServerConfig } from "../types/server-config.ts";
import type { ServerTarget } from "../types/server-definition.ts";
import type { Provenance } from "../types/server-offer.ts";
import { tryParseJson } from "../types/json.ts";
import {
  BEGINS_AS_JSON,
  certain,
  GO_USER_INFO,
  HARMLESS_HEADERS,
  headerLikeness,
  NAMED_ARGUMENT,
  passwordOf,
  splitScheme,
  TOKEN_LENGTH,
  USER_INFO,
  USER_OPTION,
} from "./collect.ts";
import {
  credentialLikeness,
  isCredential,
  type Likeness,
  looksRandom,
  memberLikeness,
} from "./credential-name.ts";

/** What stands in place of a credential, in every text that people or models read. */
export const MARK = "[REDACTED]";

/** A text in JSON: a member's name with its value, if that is a text, or a text in a list. */
const JSON_TEXT = /"((?:[^"\\]|\\.)*)"(?:(\s*:\s*)(?:"((?:[^"\\]|\\.)*)")?)?/g;

/** The command line or the URL, or that the server is in the editor. References such as `${TOKEN}` stay. */
export function describeTarget(target: ServerTarget): string {
  if (target.kind === "acp") return "in the editor";
  if (target.kind !== "stdio") return hideInValue(target.url);
  const { command, args } = target;
  return [command, ...args.map((arg, index) => hideInArgument(arg, args[index - 1]))].join(" ");
}

/** A server as it is written. References such as `${TOKEN}` stay. */
export function withoutCredentials(server: ServerConfig): ServerConfig {
  const { args, env, url, headers, auth, oauth, provenance } = server;
  const { clientSecret, privateKey } = typeof oauth === "object" ? oauth : {};
  const hide = (value: string): string => hidden(value, "password");
  return {
    ...server,
    ...(args && { args: args.map((arg, index) => hideInArgument(arg, args[index - 1])) }),
    ...(env && { env: mapped(env, (value, name) => hidden(value, credentialLikeness(name))) }),
    ...(url !== undefined && { url: hideInValue(url) }),
    ...(headers && { headers: mapped(headers, hideInHeader) }),
    ...(auth && { auth: hideInAuth(auth, hide) }),
    ...(typeof oauth === "object" && {
      oauth: {
        ...oauth,
        ...(clientSecret !== undefined && { clientSecret: hide(clientSecret) }),
        // Without this line it is the path of a file.
        ...(privateKey?.includes("-----BEGIN") && { privateKey: MARK }),
      },
    }),
    ...(provenance?.inputs && { provenance: hideInInputs(provenance) }),
  };
}

/** A publisher may have forgotten to say that an input is secret. */
function hideInInputs(provenance: Provenance): Provenance {
  const inputs = Object.entries(provenance.inputs ?? {}).map(([key, values]) => {
    const likeness = credentialLikeness(key);
    return [key, values.map((value) => hidden(value, likeness))] as const;
  });
  return { ...provenance, inputs: Object.fromEntries(inputs) };
}

export function mapped(
  map: Readonly<Record<string, string>>,
  change: (value: string, name: string) => string,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(map).map(([name, value]) => [name, change(value, name)]),
  );
}

function hidden(value: string, likeness: Likeness): string {
  return isHidden(value, likeness) && !isAddress(value) ? MARK : hideInValue(value);
}

/** The scheme before a credential stays, as in `Bearer [REDACTED]`. */
function hideInHeader(value: string, name: string): string {
  const [scheme, credential] = splitScheme(value, name);
  if (HARMLESS_HEADERS.has(name.toLowerCase())) return hideInValue(value);
  const likeness = headerLikeness(name);
  const isDoubtful = likeness === undefined && looksRandom(credential);
  return `${scheme}${isDoubtful ? MARK : hidden(credential, likeness)}`;
}

function hideInAuth(auth: ServerAuth, hide: (value: string) => string): ServerAuth {
  return auth.type === "bearer"
    ? { ...auth, token: hide(auth.token) }
    : { ...auth, key: hide(auth.key) };
}

function hideInArgument(arg: string, previous: string | undefined): string {
  const [, option] = /^--?([A-Za-z][\w.-]*)$/.exec(previous ?? "") ?? [];
  if (option !== undefined && !arg.startsWith("-")) {
    if (isHidden(arg, credentialLikeness(option))) return isAddress(arg) ? hideInValue(arg) : MARK;
    if (USER_OPTION.test(option)) return hideInValue(hidePassword(arg));
  }
  const [, before = "", long, other, value] = NAMED_ARGUMENT.exec(arg) ?? [];
  const name = long ?? other ?? "";
  if (value !== undefined && !isAddress(arg)) {
    if (isHidden(value, credentialLikeness(name)) && !isAddress(value)) return `${before}${MARK}`;
    const shown = USER_OPTION.test(name) ? hidePassword(value) : value;
    return `${before}${arg.startsWith("-") ? hideInArgument(shown, undefined) : hideInValue(shown)}`;
  }
  const [, head = "", header = "", content] = /^(([A-Za-z][\w-]*):\s*)(\S.*)$/s.exec(arg) ?? [];
  if (content !== undefined && !isAddress(arg) && isHidden(content, headerLikeness(header))) {
    return `${head}${MARK}`;
  }
  return hideInValue(arg);
}

function hidePassword(pair: string): string {
  const password = passwordOf(pair);
  return password === undefined || !isHidden(password, "maybe")
    ? pair
    : `${pair.slice(0, -password.length)}${MARK}`;
}

/** Hides the password or token and the parameters of an address, `Password=x` in a connection string, and a key as services form them. */
export function hideInValue(text: string): string {
  if (isHidden(text, undefined)) return MARK;
  const json = BEGINS_AS_JSON.test(text) ? tryParseJson(text) : undefined;
  if (json !== undefined) return hideInJson(text, json);
  const [found, user = "", password] = USER_INFO.exec(text) ?? GO_USER_INFO.exec(text) ?? [];
  if (found !== undefined && password !== undefined && isHidden(password, "password")) {
    const at = found.indexOf(`${user}:${password}@`) + user.length + 1;
    return hideInPairs(`${text.slice(0, at)}${MARK}${text.slice(at + password.length)}`);
  }
  if (found !== undefined && password === undefined && user.length >= TOKEN_LENGTH) {
    if (isHidden(user, "maybe")) return hideInPairs(text.replace(`${user}@`, () => `${MARK}@`));
  }
  return hideInPairs(text);
}

/** As text, so that the rest stays as it is written. */
function hideInJson(text: string, parsed: unknown): string {
  if (typeof parsed === "string") {
    const told = hideInValue(parsed);
    return told === parsed ? text : JSON.stringify(told);
  }
  let list: string | undefined;
  return text.replace(JSON_TEXT, (whole, first: string, colon?: string, quoted?: string) => {
    const name = colon === undefined ? undefined : String(tryParseJson(`"${first}"`));
    if (name !== undefined) list = quoted === undefined ? name : undefined;
    if (name !== undefined && quoted === undefined) return whole;
    const value = String(tryParseJson(`"${quoted ?? first}"`));
    const told = hideInMember(value, name ?? list ?? "", name === undefined);
    if (told === value) return whole;
    return `${name === undefined ? "" : `"${first}"${colon}`}${JSON.stringify(told)}`;
  });
}

/** What is in a list has the list's name, or none. The member may be a header, whose scheme stays. */
function hideInMember(value: string, name: string, isInList: boolean): string {
  const likeness = memberLikeness(name, value, isInList);
  const [scheme, credential] = splitScheme(value);
  const isHeader = scheme !== "" && likeness !== undefined && likeness !== "password";
  return isHeader ? `${scheme}${hidden(credential, likeness)}` : hidden(value, likeness);
}

function hideInPairs(text: string): string {
  return text.replace(
    /(^|[;\s?&])([A-Za-z][\w.%-]*)=([^;\s&#]+)/g,
    (whole, before: string, name: string, value: string) =>
      isHidden(value, certain(credentialLikeness(name))) ? `${before}${name}=${MARK}` : whole,
  );
}

/** A value that is still a reference reveals nothing, so it is not hidden. */
function isHidden(value: string, likeness: Likeness): boolean {
  const isReference = /^\$\{[^}]*\}$|^(?:secret|op):\/\//i.test(value) || value === MARK;
  return !isReference && value !== "" && isCredential(value, likeness);
}

function isAddress(text: string): boolean {
  return /^[a-z][a-z0-9+.:-]*:\/\//i.test(text);
}
