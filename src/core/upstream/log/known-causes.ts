// The causes of failure that we know by what programs write about them, and what to do about each. Every pattern is
// linear in its line, because a server may write anything.

export const INSTALL_QUESTION =
  "npx asks before it installs: put -y before the name of the package";

/** For programs. Only a cause that a program acts on has a name. */
export type CauseName =
  | "npm-asks-first"
  | "npm-package-missing"
  | "npm-version-missing"
  | "npm-unreachable"
  | "module-missing"
  | "python-module-missing"
  | "docker-not-running"
  | "port-in-use"
  | "connection-refused"
  | "variable-missing"
  | "credential-missing"
  | "path-missing";

interface KnownCause {
  pattern: RegExp;
  name?: CauseName;
  /** Undefined if it is another cause after all. `next` is the line and the two that follow. */
  remedy: (found: RegExpExecArray, next: readonly string[]) => string | undefined;
  /** The remedy repeats nothing that the server wrote. */
  isFixed?: boolean;
  /** The variables that the server lacks, for a cause that is about them. */
  lacks?: (line: string) => string[];
}

const is = (pattern: RegExp, remedy: string, name?: CauseName): KnownCause => ({
  pattern,
  remedy: () => remedy,
  isFixed: true,
  ...(name && { name }),
});

export const WRONG_ARGS = "correct its arguments";
const WRONG_PATH =
  "correct the path that it is given; a relative one is taken from its working directory";

const BROKEN_PACKAGE =
  "the package is broken, since a file that it needs is missing: install it again, or another version of it, and tell its author";

function isInPackage(path: string): boolean {
  return /[\\/]node_modules[\\/]/.test(path);
}

const START_IT =
  "start what it connects to, such as its database, or correct the address that it is given";

const NAMES_VARIABLES = /variable|env\b|KeyError/i;

/** The most frequent causes. Those that could be mistaken for another one come first. */
export const CAUSES: readonly KnownCause[] = [
  is(
    /\bok to proceed\? \(y\)|npx canceled due to missing packages/i,
    INSTALL_QUESTION,
    "npm-asks-first",
  ),
  is(
    /^npm err(?:or|!) (?:404 )?.*(?:is not in this registry|could not be found or you do not have)/i,
    "there is no such package: correct its name; a private one needs npm to be signed in",
    "npm-package-missing",
  ),
  is(
    /No matching version found for/,
    "there is no such version: correct it, or leave it out",
    "npm-version-missing",
  ),
  is(
    /^npm err(?:or|!) could not determine executable to run/i,
    "the package has no program: check that it is an MCP server, and its name",
  ),
  is(
    /^npm err(?:or|!).*(?:E401|E403|Unauthorized|Forbidden)/i,
    "npm is not signed in to the registry of this package: run npm login, or check your .npmrc",
  ),
  is(
    /^npm err(?:or|!).*(?:SELF_SIGNED_CERT_IN_CHAIN|DEPTH_ZERO_SELF_SIGNED_CERT|UNABLE_TO_GET_ISSUER_CERT|UNABLE_TO_VERIFY_LEAF_SIGNATURE)/i,
    "npm does not know the authority that signs for your network: set NODE_EXTRA_CA_CERTS to its certificate, a PEM file, where you start Plugboard; or set cafile in your .npmrc",
  ),
  is(
    /^npm err(?:or|!).*(?:EACCES|EPERM|root-owned files)/i,
    "npm cannot write to its cache: give yourself its files back, or set npm_config_cache in env to another directory",
  ),
  is(
    /^npm err(?:or|!).*(?:ENOTFOUND|ECONNREFUSED|ETIMEDOUT|ECONNRESET|EAI_AGAIN)\b.* |^npm err(?:or|!) network request/i,
    "npm cannot reach its registry: check your network, proxy and .npmrc; or install the package, and give its program as command",
    "npm-unreachable",
  ),
  is(/\bENOSPC\b|No space left on device/i, "the disk is full: free some space"),
  is(
    /\bE[MN]FILE\b|Too many open files/i,
    "it may not open as many files as it needs: raise the limit, such as with ulimit -n 1024",
  ),
  is(
    /(?:heap out of memory|MemoryError|Cannot allocate memory|OutOfMemoryError)/,
    'it ran out of memory: close other programs, or raise its limit, for Node with --max-old-space-size=4096 before its script in "args"',
  ),
  {
    name: "module-missing",
    pattern: /Cannot find (?:module|package) '([^']{1,400})'(?: imported from (.{1,400}))?/,
    remedy: ([, name = "", importer]) => missingModule(name, importer),
  },
  {
    name: "python-module-missing",
    pattern: /No module named '?([\w.]{1,200})'?/,
    remedy: ([, name = ""]) =>
      `install the Python package of ${name} for this Python, or give the Python that has it as command`,
  },
  is(/can't open file '|Unable to access jarfile/, WRONG_PATH, "path-missing"),
  is(
    /Could not find or load main class/,
    'check the class and the class path in its arguments; a jar is started with "-jar"',
  ),
  is(
    /UnsupportedClassVersionError|has been compiled by a more recent version/,
    "install a newer Java, or give its path as command",
  ),
  is(
    /ERR_UNKNOWN_BUILTIN_MODULE|requires? node(?:\.js)? ?(?:version )?[v>=^~\d]|Unsupported engine|EBADENGINE|Unsupported Node/i,
    "it needs a newer Node.js: install one, or give the path of its npx or node as command",
  ),
  is(
    /was compiled against a different Node\.js version|NODE_MODULE_VERSION|ERR_DLOPEN_FAILED|invalid ELF header/,
    "its native parts were built for another Node.js: install it again with this one",
  ),
  is(
    /version `?GLIBC_[\d.]+'? not found/,
    "the program was built for a newer system: use another build of it, or run it in a container",
  ),
  is(
    /Cannot use import statement outside a module|Unexpected token 'export'/,
    'start the built server instead of its source, or set "type": "module" in its package.json',
  ),
  is(
    /Unknown file extension "\.tsx?"|ERR_UNKNOWN_FILE_EXTENSION/,
    "this is TypeScript: build it and start the result, or start it with tsx",
  ),
  is(
    /Cannot connect to the Docker daemon|docker daemon is not running|dockerDesktopLinuxEngine|permission denied.*docker\.sock/i,
    "start Docker, and check that you may use it: docker ps",
    "docker-not-running",
  ),
  is(
    /pull access denied for|manifest (?:for .{1,200} not found|unknown)|repository does not exist/i,
    "there is no such image, or it needs a login: correct its name, or run docker login",
  ),
  {
    pattern: /Executable doesn't exist at|distribution '[\w-]{1,40}' is not found at/,
    remedy: (_, next) => {
      const [, command] = /(npx playwright install[\w -]{0,40})/.exec(next.join(" ")) ?? [];
      return `install the browser: run ${command?.trim() ?? "npx playwright install"}`;
    },
  },
  is(
    /Could not find Chrom(?:e|ium)|Failed to launch the browser process/i,
    "install the browser that it drives, or give it the browser's path",
  ),
  {
    name: "port-in-use",
    pattern: /EADDRINUSE.*?:(\d{1,5})\b|address already in use.*?(\d{1,5})?$/i,
    remedy: ([, port, otherPort]) =>
      `another program uses port ${port ?? otherPort ?? "it wants"}: stop it, or give the server another port`,
  },
  {
    name: "connection-refused",
    // The address is looked for in what follows the first of these words: a line may repeat them without end.
    pattern: /(?:\bECONNREFUSED\b|connection refused|connection to the server)(.{0,120})/i,
    remedy: ([, behind = ""]) => {
      const [, host, port] = /(?<![\w.:-])([\w.:-]{1,60}):(\d{1,5})\b/.exec(behind) ?? [];
      return host === undefined || port === undefined ? START_IT : startIt(host, port);
    },
  },
  {
    name: "connection-refused",
    pattern: /Connect call failed \('([\w.:-]{1,255})', (\d{1,5})/,
    remedy: ([, host = "", port = ""]) => startIt(host, port),
  },
  is(
    /\bECONNREFUSED\b|connection refused|ConnectionRefusedError|Connect call failed/i,
    START_IT,
    "connection-refused",
  ),
  {
    pattern: /(?:ENOTFOUND|EAI_AGAIN)[ :]+([\w.-]{1,255})/,
    remedy: ([, host = ""]) =>
      `the host ${host} is not known: correct it in its settings, or check your network`,
  },
  is(
    /getaddrinfo failed|Name or service not known|Temporary failure in name resolution|nodename nor servname/i,
    "a host name is not known: correct it in its settings, or check your network",
  ),
  is(
    /self[- ]signed certificate|unable to (?:verify the first|get (?:local )?issuer) certificate|UNABLE_TO_VERIFY|CERTIFICATE_VERIFY_FAILED|certificate has expired|CERT_HAS_EXPIRED/i,
    'the certificate is not trusted: give the server your authority\'s, for Node with NODE_EXTRA_CA_CERTS in "env"',
  ),
  is(
    /password authentication failed|Access denied for user|Authentication failed|WRONGPASS|NOAUTH|SASL/i,
    "the user or the password is refused: correct them in its settings",
  ),
  is(
    /database "[^"]{1,200}" does not exist|Unknown database/,
    "there is no such database: create it, or correct its name",
  ),
  is(
    /\bunauthori[sz]ed\b|bad credentials|invalid[ _](?:api[ _-]?key|token|x-api-key|auth|grant)|(?:status(?: code)?:? ?|HTTP (?:error )?)401\b/i,
    "the service refuses the credential: check the token or key that the server is given",
  ),
  {
    name: "variable-missing",
    pattern:
      /\b(?:required|missing|not set|unset|not provided|not found|not defined|undefined|not configured|must be|must set|must provide|please (?:set|provide|specify|add|configure)|need(?:s|ed)?|empty|environment variable|env var|export|KeyError)\b/i,
    remedy: (_, [line = ""]) => setVariables(line, NAMES_VARIABLES.test(line)),
    lacks: (line) => variablesNamed(line, NAMES_VARIABLES.test(line)),
  },
  {
    name: "path-missing",
    pattern: /ENOENT: no such file or directory, \w+ '([^']{1,400})'/,
    remedy: ([, path = ""]) =>
      isInPackage(path) ? BROKEN_PACKAGE : `${path} does not exist: create it, or correct the path`,
  },
  is(
    /\b(?:cannot|can't|could not) access (?:director(?:y|ies)|folder|path|file)\b/i,
    WRONG_PATH,
    "path-missing",
  ),
  is(
    /\b(?:EACCES|EPERM)\b|Permission denied/i,
    "the server may not use that file: check its rights",
  ),
  {
    pattern: /^(?:[\w./-]{1,40}: )?(?:line )?(?:\d+: )?([\w./@-]{1,100}): (?:command )?not found$/,
    remedy: ([, name = ""]) => `install ${name}, or give its absolute path`,
  },
  is(
    /arguments? (?:is|are) required|as a command[- ]line argument|missing (?:required )?argument/i,
    "add what is missing to its arguments",
  ),
  is(
    /bad option|(?:unknown|unrecogni[sz]ed|unexpected|invalid) (?:option|argument|flag)s?\b/i,
    WRONG_ARGS,
  ),
  is(
    /No such file or directory|unable to open database file|\b(?:director(?:y|ies)|folder|path|file)\b.{0,60}\b(?:accessible|not exist|not found)\b/i,
    WRONG_PATH,
  ),
  {
    name: "credential-missing",
    pattern:
      /\bno (?:[\w-]{1,40} ){0,4}(?:key|token|credentials?)\b.{0,20}\b(?:configured|provided|set|found|given|specified)\b/i,
    // A variable in the lines below says more.
    remedy: (_, next) =>
      variablesNamed(next.join(" ")).length > 0
        ? undefined
        : "give it the credential that it lacks: its documentation says in which variable or argument",
    isFixed: true,
  },
];

const SERVICES: ReadonlyMap<string, string> = new Map([
  ["1433", "SQL Server"],
  ["3306", "MySQL"],
  ["5432", "PostgreSQL"],
  ["6333", "Qdrant"],
  ["6379", "Redis"],
  ["7687", "Neo4j"],
  ["8123", "ClickHouse"],
  ["9200", "Elasticsearch"],
  ["9222", "Chrome with --remote-debugging-port"],
  ["11434", "Ollama"],
  ["27017", "MongoDB"],
]);

function startIt(host: string, port: string): string {
  const what = SERVICES.get(port) ?? "what it connects to";
  return `nothing answers at ${host}:${port}: start ${what}, or correct the address`;
}

function missingModule(name: string, importer: string | undefined): string {
  // Whoever installed it is not to blame, and a build would not help.
  if (isInPackage(importer ?? "") || (importer === undefined && isInPackage(name))) {
    return BROKEN_PACKAGE;
  }
  const isFile = /^(?:[./~]|[A-Za-z]:[\\/]|file:)/.test(name);
  if (!isFile) {
    return "its dependencies are not installed: run npm install (or npm ci) in its directory";
  }
  const isBuilt = /[\\/](?:dist|build|lib|out)[\\/]/.test(name);
  const build = "build the server (npm run build)";
  if (importer !== undefined) return isBuilt ? build : "install the server again";
  return isBuilt ? `${build}, or correct the path` : WRONG_PATH;
}

/** Names of errors look like names of variables. */
const NO_VARIABLE = /^(?:ERR|E|UV|CERT|UNABLE|DEPTH|SELF|MODULE|NODE_MODULE|HTTP|JSON|GLIBC)_/;

/** The variables that a text names. With `isShort`, a single word such as TOKEN counts as one. */
export function variablesNamed(text: string, isShort = false): string[] {
  const long = text.match(/\b[A-Z][A-Z0-9]{0,60}(?:_[A-Z0-9]{1,60}){1,12}\b/g) ?? [];
  const short = isShort && long.length === 0 ? (text.match(/\b[A-Z][A-Z0-9]{3,60}\b/g) ?? []) : [];
  const found = [...long, ...short].filter((name) => !NO_VARIABLE.test(name));
  return [...new Set(found)].slice(0, 4);
}

/** Undefined if the text names no variable. */
export function setVariables(text: string, isShort = false): string | undefined {
  const names = variablesNamed(text, isShort);
  if (names.length === 0) return undefined;
  // Between the names: elsewhere the word is about something else, such as an option.
  const [first = "", last = first] = [names[0], names.at(-1)];
  const between = text.slice(text.indexOf(first) + first.length, text.lastIndexOf(last));
  const list = names.join(/\bor\b/.test(between) ? " or " : " and ");
  return `set ${list} in its "env"; the variables of your shell are not passed on by themselves`;
}
