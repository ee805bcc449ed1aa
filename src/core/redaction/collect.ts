// Finds the secrets among the values that a server is started or reached with.

import { tryParseJson } from "../types/json.ts";
import { isRemote, type ServerTarget } from "../types/server-definition.ts";
import type { Environment } from "../../util/environment.ts";
import {
  credentialLikeness,
  isCredential,
  type Likeness,
  memberLikeness,
} from "./credential-name.ts";

/** A user name in a URL without a password is a token if it is at least this long. */
export const TOKEN_LENGTH = 16;

/** `--token=x`, `NAME=x`, and `--token:x` or `/token:x` as programs of Windows take it. */
export const NAMED_ARGUMENT =
  /^((?:-{0,2}([A-Za-z][\w.-]*)=)|(?:(?:--?|\/)([A-Za-z][\w.-]*):))(.+)$/s;
/** Options that take `user:password`. */
export const USER_OPTION = /^(?:u|user)$/;

const SHORTEST_COOKIE = 6;

/** An object, a list, or one of these once more in quotes. */
export const BEGINS_AS_JSON = /^\s*(?:[{[]|"\s*[{[])/;
/** Settings are not nested deeper. */
const DEEPEST_JSON = 10;

/** `${NAME}` or `${NAME:-fallback}`. `$${` is a literal `${`. */
const VARIABLE = /(?<!\$)\$\{([A-Za-z_]\w*)(?::-([^}]*))?\}/g;

/** The whole value is a secret. One inside other text is known by itself, and not the text around it. */
const IS_REFERENCE = /^(?:secret|op):\/\/|^\$\{(?:secret|op):\/\/[^}]*\}$/i;

const SCHEME = /^((?:bearer|basic|token|apikey|api-key|key|bot|dpop|digest|negotiate)\s+)(\S.*)$/is;
const ANY_SCHEME = /^([A-Za-z-]+\s+)(\S.*)$/s;
export const USER_INFO = /^[a-z][a-z0-9+.:-]*:\/\/([^/?#@:]*)(?::([^/?#]*))?@/i;
/** `user:password@tcp(host)/db`. */
export const GO_USER_INFO = /^([^\s:@/]+):([^\s]+)@(?:tcp|unix)\(/;

/** Stands in place of a secret whose value is not known yet. What it is a part of is not collected. */
export const UNKNOWN_SECRET = "a-secret-that-nobody-knows-yet";

/** A credential among the values that a server is started or reached with. */
export interface Credential {
  value: string;
  /** Where it is configured: `env.DB_PASS`, `args`, `url`. */
  place: string;
  /** The value with what stands around it, as in `:value@`. Such a phrase is not ordinary text, however short it is. */
  phrases: string[];
  /** Only its place, a header, suggests that it is a credential. */
  isDoubtful: boolean;
}

/** The headers whose values are no secrets. */
export const HARMLESS_HEADERS = new Set(["accept", "content-type", "user-agent"]);

/**
 * The credentials in a target: values from `secret://`, values of a `${VAR}` that is named like a credential, and
 * values in places that hold credentials. `unresolved` is the same target with its references unresolved, `env` what
 * they were resolved with.
 */
export function collectSecrets(
  unresolved: ServerTarget,
  resolved: ServerTarget,
  env: Environment,
): Credential[] {
  const found = new Collection(env);
  if (resolved.kind === "stdio") {
    const before = unresolved.kind === "stdio" ? unresolved : undefined;
    found.in("command").value(resolved.command, before?.command);
    for (const [name, value] of Object.entries(resolved.env)) {
      found.in(`env.${name}`, `${name}=`);
      found.value(value, ownValue(before?.env, name), credentialLikeness(name));
    }
    resolved.args.forEach((arg, index) => {
      found.in("args");
      found.value(arg, before?.args[index]);
      found.argument(arg, resolved.args[index - 1]);
    });
  } else if (isRemote(resolved)) {
    const before = isRemote(unresolved) ? unresolved : undefined;
    found.in("url").value(resolved.url, before?.url);
    for (const [name, value] of Object.entries(resolved.headers)) {
      found.in(`headers.${name}`, `${name}: `);
      found.configuredHeader(name, value);
      found.value(value, ownValue(before?.headers, name));
    }
    const { clientSecret, privateKey } = resolved.oauth || {};
    found.in("oauth");
    if (clientSecret !== undefined) found.value(clientSecret, undefined, "credential");
    // A private key without this line is the path of a file.
    if (privateKey?.includes("-----BEGIN")) {
      found.value(privateKey, undefined, "credential");
    }
  }
  return found.credentials();
}

/** The password or token in a URL, which may lack its scheme as proxies do. */
export function credentialsInUrl(url: string): string[] {
  const found = new Collection({});
  found.in("url").value(url.includes("://") ? url : `http://${url}`, undefined);
  return found.credentials().map(({ value }) => value);
}

function ownValue(map: Record<string, string> | undefined, name: string): string | undefined {
  return map !== undefined && Object.hasOwn(map, name) ? map[name] : undefined;
}

class Collection {
  readonly #env: Environment;
  readonly #found = new Map<string, Credential>();
  #place = "";
  /** What stands before a value that is a credential as a whole. */
  #before = "";

  constructor(env: Environment) {
    this.#env = env;
  }

  credentials(): Credential[] {
    return [...this.#found.values()];
  }

  /** Credentials that are found from now on belong to this place. */
  in(place: string, before = ""): this {
    this.#place = place;
    this.#before = before;
    return this;
  }

  /** Judges a configured value by its name, by its unresolved form, and by its content. */
  value(value: string, unresolved: string | undefined, likeness?: Likeness): void {
    if (unresolved !== undefined) {
      if (IS_REFERENCE.test(unresolved)) this.#add(value);
      this.#variables(unresolved);
    }
    this.#named(value, likeness);
  }

  /** A header of the configuration may identify the caller, whatever its name is. */
  configuredHeader(name: string, value: string): void {
    if (/^cookie$/i.test(name)) return this.header(name, value);
    const before = this.#found.size;
    this.header(name, value);
    const isFound = this.#found.size > before || this.#found.has(value.trim());
    if (isFound || HARMLESS_HEADERS.has(name.toLowerCase())) return;
    this.#add(value, this.#before, "", true);
  }

  header(name: string, value: string): void {
    const likeness = headerLikeness(name);
    if (/^(?:set-)?cookie$/i.test(name)) return this.#cookies(value);
    const [scheme, credential] = splitScheme(value, name);
    if (likeness === undefined || scheme === "") return this.#named(value, likeness);
    this.#ofScheme(scheme, credential);
  }

  /** What is behind `Bearer` or the like. Servers repeat it alone. */
  #ofScheme(scheme: string, credential: string): void {
    this.#add(credential, `${scheme.trimEnd()} `);
    if (/^basic\s/i.test(scheme)) {
      this.#password(Buffer.from(credential, "base64").toString("utf8"));
    }
  }

  /** `--token=x`, `--token x`, `--user me:x`, `NAME=x` as for `docker -e`, `Name: x` as for `--header`. */
  argument(arg: string, previous: string | undefined): void {
    const [, before = "", long, other, value] = NAMED_ARGUMENT.exec(arg) ?? [];
    const name = long ?? other;
    if (name !== undefined && value !== undefined) {
      this.#before = before.replace(/^[-/]+/, "");
      this.value(value, undefined, credentialLikeness(name));
      if (USER_OPTION.test(name)) this.#userAndPassword(value);
      // The value may be a pair itself: `--header=Authorization: Bearer x`, `--env=API_KEY=x`.
      if (arg.startsWith("-")) this.argument(value, undefined);
    }
    const [, header, credential] = /^([A-Za-z][\w-]*):\s*(\S.*)$/s.exec(arg) ?? [];
    if (header !== undefined && credential !== undefined) {
      this.#before = `${header}: `;
      this.header(header, credential);
    }
    const [, option] = /^--?([A-Za-z][\w.-]*)$/.exec(previous ?? "") ?? [];
    if (option === undefined || arg.startsWith("-")) return;
    this.#before = `${option} `;
    this.#named(arg, credentialLikeness(option));
    if (USER_OPTION.test(option)) this.#userAndPassword(arg);
  }

  /** Not of `user:group`, nor of two numbers. */
  #userAndPassword(pair: string): void {
    const password = passwordOf(pair);
    if (password !== undefined) this.#add(password, ":");
  }

  /** The values of variables that are named like credentials. */
  #variables(unresolved: string): void {
    for (const [, name = "", fallback = ""] of unresolved.matchAll(VARIABLE)) {
      const given = Object.hasOwn(this.#env, name) ? this.#env[name] : undefined;
      this.#named(given || fallback, credentialLikeness(name));
    }
  }

  #named(value: string, likeness: Likeness): void {
    this.#json(value);
    // In a connection string only the password is secret; the rest helps the reader of a log.
    if (this.#url(value) || this.#pairs(value) || !isCredential(value, likeness)) return;
    const [scheme, credential] = splitScheme(value);
    // A password may begin like this too.
    if (scheme !== "" && likeness !== "password" && /^\S+$/.test(credential)) {
      return this.#ofScheme(scheme, credential);
    }
    this.#add(value);
    if (likeness === "maybe") this.#password(value);
  }

  /** Adds the credentials in a URL. False if it has no password and no token before the `@`. */
  #url(value: string): boolean {
    const query = /^[a-z][a-z0-9+.:-]*:\/\/[^?#]*\?([^#]*)/i.exec(value)?.[1] ?? "";
    for (const pair of query.split("&")) {
      const [name = "", ...rest] = pair.split("=");
      const part = rest.join("=");
      const likeness = certain(credentialLikeness(decode(name)));
      if (isCredential(part, likeness)) this.#encoded(part, `${name}=`);
    }
    // The URL parser rejects `postgres://user:50%@host`, which has a password all the same.
    const [, user = "", password] = USER_INFO.exec(value) ?? GO_USER_INFO.exec(value) ?? [];
    if (password !== undefined) this.#encoded(password, ":", "@");
    else if (user.length >= TOKEN_LENGTH) this.#encoded(user);
    return password !== undefined || user.length >= TOKEN_LENGTH;
  }

  /** Adds the credentials in `Server=db;Password=x` and `host=db password=x`. False if there are none. */
  #pairs(value: string): boolean {
    let isFound = false;
    const pairs = [...value.matchAll(/(?:^|[;\s])([A-Za-z][\w ]*)=([^;\s]+)/g)];
    for (const [, name = "", part = ""] of pairs.length > 1 ? pairs : []) {
      if (!isCredential(part, credentialLikeness(name))) continue;
      this.#add(part, `${name}=`);
      isFound = true;
    }
    return isFound;
  }

  #cookies(value: string): void {
    for (const pair of value.split(";")) {
      const at = pair.indexOf("=") + 1;
      // A short cookie is a setting, such as `theme=dark`.
      if (pair.length - at >= SHORTEST_COOKIE) this.#add(pair.slice(at), pair.slice(0, at).trim());
    }
  }

  /** Adds the password of `user:password`. */
  #password(pair: string): void {
    const colon = pair.indexOf(":");
    if (colon !== -1) this.#add(pair.slice(colon + 1));
  }

  /** Adds the credentials in JSON, such as a service account or headers: each may appear without the rest. */
  #json(value: string): void {
    if (BEGINS_AS_JSON.test(value)) this.#member("", tryParseJson(value));
  }

  #member(name: string, value: unknown, isInList = false, depth = 0): void {
    if (typeof value === "string") return this.#named(value, memberLikeness(name, value, isInList));
    if (typeof value !== "object" || value === null || depth >= DEEPEST_JSON) return;
    const isList = Array.isArray(value);
    for (const [key, part] of Object.entries(value)) {
      this.#member(isList ? name : key, part, isList, depth + 1);
    }
  }

  #encoded(value: string, before?: string, after?: string): void {
    this.#add(value, before, after);
    this.#add(decode(value), before, after);
  }

  #add(value: string, before = this.#before, after = "", isDoubtful = false): void {
    const secret = value.trim();
    if (secret === "" || secret.includes(UNKNOWN_SECRET)) return;
    const known = this.#found.get(secret);
    const phrase = before === "" ? [] : [`${before}${secret}${after}`];
    if (known === undefined) {
      const place = this.#place;
      this.#found.set(secret, { value: secret, place, phrases: phrase, isDoubtful });
    } else {
      known.phrases.push(...phrase);
      known.isDoubtful &&= isDoubtful;
    }
  }
}

/** The password of `user:password`, unless it is a word or a number, as in `user:group`. */
export function passwordOf(pair: string): string | undefined {
  const [, password] = /^[^\s:/]+:(\S+)$/.exec(pair) ?? [];
  return password !== undefined && isCredential(password, "maybe") ? password : undefined;
}

/** A header or a parameter of such a name never holds anything else. */
export function certain(likeness: Likeness): Likeness {
  return likeness === "maybe" ? "credential" : likeness;
}

/**
 * The scheme with the space behind it, as in `Bearer …`, and the credential. The scheme is "" where there is none. In
 * `Authorization` every first word is one; elsewhere an unknown word may be a part of the credential.
 */
export function splitScheme(value: string, header = ""): [scheme: string, credential: string] {
  const form = /^(?:proxy-)?authorization$/i.test(header) ? ANY_SCHEME : SCHEME;
  const [, scheme = "", credential = value] = form.exec(value) ?? [];
  return [scheme, credential];
}

export function headerLikeness(name: string): Likeness {
  const likeness = certain(credentialLikeness(name));
  return likeness ?? (/auth(?!or(?!i))/i.test(name) ? "maybe" : undefined);
}

function decode(value: string): string {
  try {
    return decodeURIComponent(value.replaceAll("+", " "));
  } catch {
    return value;
  }
}

/** Settings that name something: `PGUSER`, `--database`, `DB_HOST`. */
const NAMING = /(?:user|username|database|db|dbname|schema|host|hostname|server|name)$/i;
/** A name is words, perhaps with a number at the end. What looks random is never a name. */
const NAME = /^[a-z]{1,32}(?:[-_.][a-z]{1,32}){0,6}\d{0,4}$/i;

/**
 * The names in a target: command, host, user, database. A credential that equals one is found in every other text.
 * What comes from a variable that is named like a credential is never a name.
 */
export function namesInTarget(unresolved: ServerTarget, resolved: ServerTarget): string[] {
  const names: string[] = [];
  const address = (text: string): void => {
    const [, scheme = "", user, host = "", path = ""] = ADDRESS.exec(text) ?? [];
    names.push(...host.split(","));
    // The path of a web address may be a key, as that of a webhook is.
    if (!/^https?$/i.test(scheme)) names.push(path.split("/")[0] ?? "");
    if (user !== undefined) names.push(decode(user));
  };
  const setting = (name: string, value: string, before = ""): void => {
    if (mentionsCredential(before)) return;
    if (NAMING.test(name) && credentialLikeness(name) === undefined) names.push(value);
    address(value);
  };
  if (resolved.kind === "stdio") {
    const { command, args, env } = resolved;
    const given = unresolved.kind === "stdio" ? unresolved : undefined;
    names.push(command.split(/[\\/]/).at(-1) ?? "");
    for (const [name, value] of Object.entries(env)) {
      setting(name, value, ownValue(given?.env, name));
    }
    args.forEach((arg, index) => {
      const option = /^--?([A-Za-z][\w.-]*)$/.exec(args[index - 1] ?? "")?.[1];
      const [, name = option ?? "", value = arg] = /^-{0,2}([\w.-]+)=(.*)$/s.exec(arg) ?? [];
      setting(name, value, given?.args[index]);
    });
  } else if (
    isRemote(resolved) &&
    !mentionsCredential(isRemote(unresolved) ? unresolved.url : "")
  ) {
    address(resolved.url);
  }
  return names.filter((name) => NAME.test(name));
}

function mentionsCredential(unresolved: string): boolean {
  const variables = unresolved.matchAll(VARIABLE);
  return Array.from(variables, ([, name = ""]) => credentialLikeness(name)).some(
    (likeness) => likeness !== undefined,
  );
}

/** The user counts only beside a password: alone it may be a token. */
const ADDRESS =
  /^([a-z][a-z0-9+.:-]*):\/\/(?:([^/?#@:\s]*):[^/?#\s]*@)?(?:[^/?#@:\s]*@)?([^/?#:@\s]*)(?::\d+)?(?:\/([^?#\s]*))?/i;
