// Builds the environment of a server's process: a small baseline, the way to the network, what is configured, and the cookie.
// The rest of the host's environment holds secrets of others, so servers do not get it.

import { COOKIE_VARIABLE, type Environment } from "../../util/environment.ts";

export type ChildEnvironment = Record<string, string>;

/**
 * Where programs are, who the user is, and their language and time zone. LOGNAME is the standard name of
 * USER; without LC_* a Python server may write ASCII; without TZ it tells the wrong time.
 */
const POSIX = [
  "PATH",
  "HOME",
  "LANG",
  "LC_ALL",
  "LC_CTYPE",
  "TERM",
  "USER",
  "LOGNAME",
  "SHELL",
  "TMPDIR",
  "TZ",
];

/** Without these, programs on Windows find neither their system libraries nor their user's files. */
const WINDOWS = [
  "PATH",
  "PATHEXT",
  "ComSpec",
  "SystemRoot",
  "SystemDrive",
  "windir",
  "APPDATA",
  "LOCALAPPDATA",
  "ProgramData",
  "ProgramFiles",
  "ProgramFiles(x86)",
  "ProgramW6432",
  "CommonProgramFiles",
  "PUBLIC",
  "USERPROFILE",
  "HOMEDRIVE",
  "HOMEPATH",
  "USERNAME",
  "USERDOMAIN",
  "TEMP",
  "TMP",
  "OS",
  "NUMBER_OF_PROCESSORS",
  "PROCESSOR_ARCHITECTURE",
];

/**
 * How a network is left, and where packages come from in it. A closed list, since other variables of npm and pip hold
 * tokens.
 */
const NETWORK = [
  "HTTPS_PROXY",
  "HTTP_PROXY",
  "ALL_PROXY",
  "NO_PROXY",
  "NODE_USE_ENV_PROXY",
  "NODE_EXTRA_CA_CERTS",
  "NODE_USE_SYSTEM_CA",
  "SSL_CERT_FILE",
  "SSL_CERT_DIR",
  "REQUESTS_CA_BUNDLE",
  "CURL_CA_BUNDLE",
  "PIP_CERT",
  "NPM_CONFIG_CAFILE",
];
const REGISTRIES = [
  "NPM_CONFIG_REGISTRY",
  "PIP_INDEX_URL",
  "PIP_EXTRA_INDEX_URL",
  "UV_INDEX_URL",
  "UV_DEFAULT_INDEX",
];
const PROXIES = new Set(["HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY"]);
const bothCases = (names: readonly string[]): string[] =>
  names.flatMap((name) => [name, name.toLowerCase()]);
const OF_NETWORK = new Set(bothCases([...NETWORK, ...REGISTRIES]));
const OF_REGISTRIES = new Set(bothCases(REGISTRIES));

/** The variables of the network that are set and that servers get. The address of a registry may hold a token: then not. */
export function networkVariables(env: Environment): string[] {
  return Object.entries(env).flatMap(([name, value]) => (isOfNetwork(name, value) ? [name] : []));
}

function isOfNetwork(name: string, value: string | undefined): boolean {
  if (!OF_NETWORK.has(name) || !value) return false;
  // Before the host, or in a query.
  return !(OF_REGISTRIES.has(name) && /[@?]/.test(value));
}

/** The variables that name a proxy, and the proxies as they are written there. */
export function proxiesIn(env: Environment): { variable: string; proxy: string }[] {
  return Object.entries(env).flatMap(([variable, proxy]) =>
    proxy && PROXIES.has(variable.toUpperCase()) ? [{ variable, proxy }] : [],
  );
}

/**
 * The host's environment as programs get it: with the configured proxy in place of its own, or without anything about the
 * network.
 */
export function programEnvironment(
  env: Environment,
  {
    networkProxy: proxy,
    networkInherit = true,
  }: { networkProxy?: string; networkInherit?: boolean },
): Environment {
  if (!networkInherit) {
    return Object.fromEntries(Object.entries(env).filter(([name]) => !OF_NETWORK.has(name)));
  }
  if (proxy === undefined) return env;
  const all = bothCases(["HTTPS_PROXY", "HTTP_PROXY"]).map((name) => [name, proxy]);
  return { ...env, ...Object.fromEntries(all) };
}

/** The part of the host's environment that every server gets. */
export function baseEnvironment(
  env: NodeJS.ProcessEnv,
  platform: NodeJS.Platform,
): ChildEnvironment {
  const nameOf = normalise(platform);
  const wanted = new Set((platform === "win32" ? WINDOWS : POSIX).map(nameOf));
  const base: ChildEnvironment = {};
  // Of the process's own environment, each value that is read costs a copy.
  for (const name of Object.keys(env)) {
    const isWanted = wanted.has(nameOf(name));
    const value = isWanted || OF_NETWORK.has(name) ? env[name] : undefined;
    // Old versions of bash run a value that begins like this as a function.
    if (value === undefined || value.startsWith("()")) continue;
    if (isWanted || isOfNetwork(name, value)) base[name] = value;
  }
  return base;
}

/**
 * What is configured overrides the baseline, and the cookie overrides both. The cookie comes first because
 * the process table reads only the beginning of a very large environment.
 */
export function childEnvironment(
  base: ChildEnvironment,
  configured: ChildEnvironment,
  cookie: string,
  platform: NodeJS.Platform,
): ChildEnvironment {
  const nameOf = normalise(platform);
  const variables = new Map<string, [name: string, value: string]>();
  variables.set(COOKIE_VARIABLE, [COOKIE_VARIABLE, cookie]);
  for (const [name, value] of [...Object.entries(base), ...Object.entries(configured)]) {
    if (nameOf(name) !== COOKIE_VARIABLE) variables.set(nameOf(name), [name, value]);
  }
  return Object.fromEntries(variables.values());
}

/** On Windows, PATH and Path are the same variable. */
export function readVariable(
  env: ChildEnvironment,
  name: string,
  platform: NodeJS.Platform,
): string | undefined {
  const nameOf = normalise(platform);
  const found = Object.keys(env).find((key) => nameOf(key) === nameOf(name));
  return found === undefined ? undefined : env[found];
}

function normalise(platform: NodeJS.Platform): (name: string) => string {
  return platform === "win32" ? (name) => name.toUpperCase() : (name) => name;
}
