// `plugboard add`, `add-json`, `remove`, `enable`, `disable`, `get`, `list`, `init`, `registry`, `outdated` and `update`
// on the command line.

import { SECRET_STORES, type SecretStoreName } from "../../core/types/secret-provider.ts";
import { type Argument, type Command, command } from "../command.ts";
import type { Option } from "../option.ts";
import { CHECK, REFRESH, SCOPE, YES, wholeNumber } from "../shared-options.ts";
import { exceptionsIn, URL_OPTIONS, type UrlExceptions } from "../typed-server.ts";

/**
 * Which file: the one in this directory, or the one in Plugboard's home. Without it, the one that is in use. `local`, as
 * `claude mcp add` has it, means that nobody else gets it: that is your own file too.
 */
export type Scope = "project" | "user" | "local";

const TRANSPORTS = ["stdio", "http", "sse"] as const;

type Transport = (typeof TRANSPORTS)[number];

interface Place {
  scope?: Scope;
}

interface AddOptions extends Place {
  name: string;
  yes: boolean;
  /** Connect to it before it is written. */
  check: boolean;
  /** Replace a server of the same name. */
  force: boolean;
}

/** How to sign in to a URL, as a client that was registered with its authorization server. */
export interface ClientChoice {
  clientId?: string;
  /** Ask for its secret, or take it from MCP_CLIENT_SECRET. */
  clientSecret: boolean;
  callbackPort?: number;
}

export interface AddRequest extends AddOptions, OfferChoice, UrlExceptions, ClientChoice {
  kind: "add";
  /** The command with its arguments, the URL, or what is to be looked up in the registry. */
  words: string[];
  env: string[];
  headers: string[];
  transport?: Transport;
}

/** What is said about a server that somebody publishes. */
interface OfferChoice {
  /** Values for its inputs: `KEY=value`. */
  set: string[];
  /** Which way to run it: `remote`, or the type of a package. */
  way?: string;
  registry?: string;
  /** Where the secrets go that are typed for it. Absent: where it fits. */
  secrets?: { to?: SecretStoreName };
}

export interface AddJsonRequest extends AddOptions {
  kind: "add-json";
  json: string;
}

export type ChangeRequest = Place & { name: string } & (
    | { kind: "enable" | "disable" }
    /** `yes`: do not ask, even if somebody uses it now. */
    | { kind: "remove"; yes: boolean }
  );

export interface GetRequest extends Place {
  name: string;
}

export interface InitRequest extends Place {}

export interface RegistryRequest {
  words: string[];
  limit: number;
  registry?: string;
}

export interface OutdatedRequest extends Place {
  registry?: string;
}

export interface UpdateRequest extends Place, Pick<OfferChoice, "set" | "secrets"> {
  /** Servers, each with a version behind `@` if it is not the newest. All where it is empty. */
  names: string[];
  yes: boolean;
  /** Start the old and the new version to compare their tools. */
  check: boolean;
  registry?: string;
}

const ADD_NOTES = `
Shows what would be started or used, connects to it once, and writes it. It asks
first, except for an ordinary server in your own file. If the server says that
it needs a value, you are asked for it, and it is stored as a secret. What you
add is trusted.

In single quotes, \${NAME} stays as it is: the file has the name of the
variable, and the value is read whenever the server starts.

You are asked for the values that a server of the registry needs, or give them
with --set. A secret that you type goes into a store, and the file refers to it.
If you press Enter instead, the file names a variable that you set yourself.`;

const REMOVE_NOTES = `
It asks first if somebody uses a running gateway that has the server. plugboard
undo brings it back as it was. Secrets that are stored for it stay, and are
named.`;

const REGISTRY_NOTES = `
The words must all be in a server's name, title or description.`;

const LIST_NOTES = `
A server that an earlier run has listed in the last 24 hours is shown as
remembered, and is not started, unless its last start failed. --check, --json
and --refresh start and await every server; lazy ones only with --refresh.`;

const OUTDATED_NOTES = `
The exit code is 1 if a version is newer or was taken back, and 3 if a registry
did not answer.`;

const UPDATE_NOTES = `
Shows the new command, and how the tools change: read the new descriptions,
because a model will. The values that you gave are kept. Nothing is written
before you agree.`;

const DEFAULT_LIMIT = 30;
const MOST_FOUND = 500;

const SET = {
  kind: "list",
  name: "--set",
  value: "KEY=value",
  about: "a value that the server needs; for a secret, a reference; may be repeated",
} as const satisfies Option;

const REGISTRY = {
  kind: "value",
  name: "--registry",
  value: "url",
  about: "ask this registry; by default the configured one",
} as const satisfies Option;

const SECRETS = {
  kind: "optional",
  name: "--secrets",
  value: "provider",
  about: "where secrets go that you type; by default as for secrets move",
  choices: SECRET_STORES,
} as const satisfies Option;

function secretsIn(to: SecretStoreName | true | undefined): Pick<OfferChoice, "secrets"> {
  return to === undefined ? {} : { secrets: to === true ? {} : { to } };
}

/** The options of every command that adds a server. */
const ADDING = {
  scope: SCOPE,
  yes: YES,
  check: {
    kind: "denial",
    name: "--no-check",
    about: "do not connect to it before it is written",
  },
  force: { kind: "flag", name: "--force", about: "replace a server of the same name" },
} as const satisfies Record<string, Option>;

const NAME = {
  kind: "one",
  name: "name",
  about: "the name to give it",
} as const satisfies Argument;

const SERVER = [
  { kind: "one", name: "server", about: "its name", offers: "server" },
] as const satisfies Argument[];

function change(kind: "enable" | "disable", about: string): Command {
  return command({
    name: kind,
    about,
    args: SERVER,
    options: { scope: SCOPE },
    examples: [`plugboard ${kind} files`],
    read: ([name], { scope }): ChangeRequest => ({ kind, name, scope }),
    run: async (request, context) => (await import("./change.ts")).runChange(request, context),
  });
}

export const COMMANDS = [
  command({
    name: "add",
    about: "add a server by its command, URL, registry name or bundle",
    usage: [
      "[options] <name> -- <command> [arguments...]",
      "[options] <name> <url>",
      "[options] [name] <io.github.owner/server[@version]>",
      "[options] [name] <file.mcpb>",
    ],
    args: [
      NAME,
      { kind: "any", name: "words", about: "the command, the URL, or the name to look up" },
    ],
    options: {
      env: {
        kind: "list",
        name: "--env",
        short: "-e",
        value: "KEY=value",
        about: "a variable for the command; may be repeated",
      },
      header: {
        kind: "list",
        name: "--header",
        short: "-H",
        value: "header",
        about: "a header for the URL; may be repeated",
      },
      transport: {
        kind: "value",
        name: "--transport",
        short: "-t",
        value: "transport",
        about: "how to reach it, by default what fits",
        choices: TRANSPORTS,
      },
      ...URL_OPTIONS,
      clientId: {
        kind: "value",
        name: "--client-id",
        value: "id",
        about: "the OAuth client that you registered for the URL",
      },
      clientSecret: {
        kind: "flag",
        name: "--client-secret",
        about: "ask for the client's secret, or take it from MCP_CLIENT_SECRET",
      },
      callbackPort: {
        kind: "value",
        name: "--callback-port",
        value: "port",
        about: "the port of the client's redirect, http://localhost:<port>/callback",
        read: wholeNumber(1, 65_535, "a port from 1 to 65535"),
      },
      set: SET,
      package: {
        kind: "value",
        name: "--package",
        value: "type",
        about: "run it as npm, pypi, oci, nuget or mcpb; by default what fits",
      },
      remote: { kind: "flag", name: "--remote", about: "use it at its URL" },
      registry: REGISTRY,
      secrets: SECRETS,
      ...ADDING,
    },
    takesProgram: true,
    notes: ADD_NOTES,
    examples: [
      "plugboard add files -- npx -y @modelcontextprotocol/server-filesystem .",
      "plugboard add docs https://example.com/mcp -H 'Authorization: Bearer ${TOKEN}'",
      "plugboard add search io.github.owner/server@1.2.0 --set REGION=eu",
      "plugboard add ./server.mcpb",
    ],
    hint: "what belongs to the command comes after --, as in: plugboard add files -- npx -y some-server",
    read: ([name, ...words], given): AddRequest => ({
      kind: "add",
      name,
      words,
      scope: given.scope,
      yes: given.yes,
      check: given.check,
      force: given.force,
      env: given.env,
      headers: given.header,
      transport: given.transport,
      ...exceptionsIn(given),
      clientId: given.clientId,
      clientSecret: given.clientSecret,
      callbackPort: given.callbackPort,
      set: given.set,
      way: given.package ?? (given.remote ? "remote" : undefined),
      registry: given.registry,
      ...secretsIn(given.secrets),
    }),
    run: async (request, context) => (await import("./add.ts")).runAdd(request, context),
  }),
  command({
    name: "add-json",
    about: "add a server that is written as JSON",
    args: [NAME, { kind: "one", name: "json", about: "the server, also within mcpServers" }],
    options: ADDING,
    examples: [`plugboard add-json notes '{ "command": "notes-mcp", "toolPrefix": "n" }'`],
    read: ([name, json], given): AddJsonRequest => ({ kind: "add-json", name, json, ...given }),
    run: async (request, context) => (await import("./add.ts")).runAdd(request, context),
  }),
  command({
    name: "remove",
    aliases: ["rm"],
    about: "remove a server",
    args: SERVER,
    options: { scope: SCOPE, yes: YES },
    notes: REMOVE_NOTES,
    examples: ["plugboard remove files"],
    read: ([name], { scope, yes }): ChangeRequest => ({ kind: "remove", name, scope, yes }),
    run: async (request, context) => (await import("./change.ts")).runChange(request, context),
  }),
  change("enable", "let a disabled server start again"),
  change("disable", "keep a server, but do not start it"),
  command({
    name: "registry",
    about: "find servers in the MCP registry",
    args: [{ kind: "some", name: "words", about: "what to look for" }],
    options: {
      limit: {
        kind: "value",
        name: "--limit",
        value: "n",
        about: `show at most this many, by default ${DEFAULT_LIMIT}`,
        read: wholeNumber(1, MOST_FOUND, `a whole number from 1 to ${MOST_FOUND}`),
      },
      registry: REGISTRY,
    },
    notes: REGISTRY_NOTES,
    examples: ["plugboard registry github issues"],
    read: (words, { limit = DEFAULT_LIMIT, registry }): RegistryRequest => ({
      words,
      limit,
      registry,
    }),
    run: async (request, context) => (await import("./registry.ts")).runRegistry(request, context),
  }),
  command({
    name: "outdated",
    about: "show which servers have a newer version",
    options: { scope: SCOPE, registry: REGISTRY },
    notes: OUTDATED_NOTES,
    examples: ["plugboard outdated"],
    read: (_, given): OutdatedRequest => given,
    run: async (request, context) => (await import("./outdated.ts")).runOutdated(request, context),
  }),
  command({
    name: "update",
    about: "take newer versions, and see what changes",
    args: [
      {
        kind: "any",
        name: "servers",
        about: "only these; search@1.3.0 takes that version",
        offers: "server",
      },
    ],
    options: {
      scope: SCOPE,
      set: SET,
      yes: YES,
      check: {
        kind: "denial",
        name: "--no-check",
        about: "do not start the servers to compare their tools",
      },
      registry: REGISTRY,
      secrets: SECRETS,
    },
    notes: UPDATE_NOTES,
    examples: ["plugboard update", "plugboard update search@1.3.0"],
    read: (names, { secrets, ...given }): UpdateRequest => ({
      names,
      ...given,
      ...secretsIn(secrets),
    }),
    run: async (request, context) => (await import("./update.ts")).runUpdate(request, context),
  }),
  command({
    name: "get",
    about: "show how a server is configured, and where",
    args: SERVER,
    options: { scope: SCOPE },
    examples: ["plugboard get files"],
    read: ([name], { scope }): GetRequest => ({ name, scope }),
    run: async (request, context) => (await import("./get.ts")).runGet(request, context),
  }),
  command({
    name: "list",
    aliases: ["ls"],
    about: "show your servers, as plugboard alone does",
    notes: LIST_NOTES,
    tooMuch: "plugboard list shows all servers; for one, use plugboard tools or plugboard status",
    options: { check: CHECK, refresh: REFRESH },
    examples: ["plugboard list", "plugboard --refresh", "plugboard --check"],
    read: (_, { check, refresh }) => ({ check, refresh }),
    run: async (request, context) =>
      (await import("../status/overview.ts")).runOverview(context, request),
  }),
  command({
    name: "init",
    about: "write a first plugboard.json",
    options: { scope: SCOPE },
    examples: ["plugboard init", "plugboard init --scope user"],
    read: (_, given): InitRequest => given,
    run: async (request, context) => (await import("./init.ts")).runInit(request, context),
  }),
];
