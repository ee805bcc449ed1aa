// The ways to run a server of a registry: at a URL, or as a package that npx, uvx, docker or dnx gets and starts. Each
// becomes an offer, whose command line nobody but the package's runner reads: no shell is involved.

import { inText } from "../../core/types/secret-reference.ts";
import type { ServerConfig } from "../../core/types/server-config.ts";
import type { InputValues, ServerOffer } from "../../core/types/server-offer.ts";
import { codeVariableReason } from "../../core/config/code-variables.ts";
import { plainHost } from "../../core/net/host-list.ts";
import { isLocal } from "../../core/net/policy.ts";
import { oneLine } from "../../util/text.ts";
import { type Fill, OfferInputs, published } from "./fill.ts";
import type {
  NamedInput,
  RegistryEntry,
  ServerArgument,
  ServerPackage,
  ServerRemote,
} from "./server-json.ts";

interface WayCommon {
  /** What `--package` takes: `remote`, `npm`, and `npm-2` for a second one. */
  id: string;
  /** What is run or reached, in a few words. */
  target: string;
}

export type Way = WayCommon &
  (
    | {
        kind: "offer";
        /** The program that must be on this machine. Absent for a URL. */
        program?: string;
        /** The server must have been started by somebody: the URL is on this machine. */
        isLocal?: true;
        offer: ServerOffer;
      }
    /** A file to be fetched, checked and unpacked. */
    | { kind: "bundle"; url: string; sha256: string }
    | { kind: "unusable"; why: string }
  );

/** `registry` is the address that the entry is from. */
export function waysOf(entry: RegistryEntry, registry: string): Way[] {
  const { packages, remotes } = entry.server;
  const counts = new Map<string, number>();
  const numbered = (kind: string): string => {
    const count = (counts.get(kind) ?? 0) + 1;
    counts.set(kind, count);
    return count === 1 ? kind : `${kind}-${count}`;
  };
  // SSE is what servers spoke before.
  const ordered = remotes.toSorted((a, b) => Number(a.type === "sse") - Number(b.type === "sse"));
  return [
    ...ordered.map((remote) => remoteWay(remote, { id: numbered("remote"), entry, registry })),
    ...packages.map((each) => {
      const id = numbered(oneLine(each.registryType, 40));
      return packageWay(each, { id, entry, registry });
    }),
  ];
}

/** `isPresent` says whether a program is on this machine. Undefined if none of the ways can be used here. */
export function chooseWay(
  ways: readonly Way[],
  isPresent: (program: string) => boolean,
): Way | undefined {
  const offers = ways.filter((way) => way.kind === "offer");
  return (
    offers.find(({ program, isLocal: needsServer }) => program === undefined && !needsServer) ??
    offers.find(({ program }) => program !== undefined && isPresent(program)) ??
    ways.find(({ kind }) => kind === "bundle") ??
    offers.find(({ program }) => program === undefined)
  );
}

/** The name that a server gets if nobody gives one. */
export function suggestedName(registryName: string): string {
  const [owner = "", last = ""] = registryName.split("/");
  const name = last.slice(0, 64);
  return name === "native" ? `${owner.split(".").at(-1)}-native`.slice(0, 64) : name;
}

interface Origin {
  id: string;
  entry: RegistryEntry;
  registry: string;
}

/**
 * The recipe that makes an offer of a package or an address. Otherwise the reason why there is none, to be put after
 * its name.
 */
type Recipe =
  | { build: (values: InputValues) => ServerConfig; notes: string[] }
  | { problem: string };

function offerOf(
  recipe: Recipe,
  inputs: OfferInputs,
  { id, entry, registry }: Origin,
  needs: { program?: string; isLocal?: true },
): (typeof needs & { kind: "offer"; offer: ServerOffer }) | { kind: "unusable"; why: string } {
  if ("problem" in recipe) return { kind: "unusable", why: recipe.problem };
  const { server, hash } = entry;
  const { name, title, description, version } = server;
  const offer: ServerOffer = {
    name: suggestedName(name),
    title,
    ...(description !== "" && { description }),
    version,
    notes: recipe.notes,
    inputs: inputs.all,
    provenance: { kind: "registry", registry, name, version, hash, way: id },
    build: recipe.build,
  };
  return { kind: "offer", ...needs, offer };
}

// At a URL

const REMOTE_TYPES = new Map([
  ["streamable-http", "http"],
  ["http", "http"],
  ["sse", "sse"],
] as const);

function remoteWay(remote: ServerRemote, origin: Origin): Way {
  const { id, entry } = origin;
  const inputs = new OfferInputs(suggestedName(entry.server.name));
  const target = remote.url;
  const recipe = remoteRecipe(remote, inputs);
  const needs = isOfThisMachine(remote.url) ? { isLocal: true as const } : {};
  return { id, target, ...offerOf(recipe, inputs, origin, needs) };
}

function isOfThisMachine(url: string): boolean {
  return URL.canParse(url) && isLocal(plainHost(new URL(url).hostname));
}

function remoteRecipe(
  { type, url, headers, variables }: ServerRemote,
  inputs: OfferInputs,
): Recipe {
  const transport = REMOTE_TYPES.get(type as "sse");
  if (transport === undefined) {
    return { problem: `it speaks '${oneLine(type, 40)}', which Plugboard does not` };
  }
  if (!/^(?:https?:\/\/|\{)/i.test(url)) return { problem: "its address is not an https URL" };
  if (/^http:/i.test(url) && !isOfThisMachine(url)) {
    return {
      problem: "its address is plain http, where anybody on the way can read and change everything",
    };
  }
  const address = inputs.template(url, variables, false, true);
  const filled = mapOf(headers, inputs, () => undefined);
  return {
    notes: [],
    build: (values) => ({
      transport,
      url: address(values)[0] ?? "",
      ...filledIn("headers", filled(values)),
    }),
  };
}

// As a package

interface Runner {
  /** Programs that run such packages; the first one where the publisher names none. */
  programs: readonly string[];
  identifier: RegExp;
  /** A version that is always the same package. `1.2` of npm is a range, and a word is a tag that its publisher moves. */
  version: RegExp;
  /** What the program gets before the package. */
  before: readonly string[];
  name: (pack: ServerPackage) => string;
  after?: readonly string[];
  /** Between the package and its arguments, if it has any. */
  separator?: string;
}

const behind =
  (mark: string) =>
  ({ identifier, version }: ServerPackage): string =>
    version ? `${identifier}${mark}${version}` : identifier;

/** To npm, whatever only looks like one is a tag: `1.2.3-a..b`, a number beyond 2^53, more than 256 characters. */
const SEMVER =
  /^(?=.{5,256}$)(?:0|[1-9]\d{0,14})(?:\.(?:0|[1-9]\d{0,14})){2}(?:-[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?$/;
/**
 * PEP 440: semver has no `1.2`, `1.2rc1` or `2024.1.post1`, which are exact for Python. Each part is there once: where they
 * could be repeated, `rc` or `r` and `c`, a publisher's version would keep the pattern busy for ever.
 */
const PYTHON_VERSION =
  /^(?:\d+!)?\d+(?:\.\d+)*(?:[._-]?(?:a|b|c|rc|alpha|beta|pre|preview)[._-]?\d*)?(?:[._-]?(?:post|rev|r)[._-]?\d*)?(?:[._-]?dev[._-]?\d*)?(?:\+[0-9a-z.]+)?$/i;

const RUNNERS: ReadonlyMap<string, Runner> = new Map([
  [
    "npm",
    {
      programs: ["npx"],
      // npm takes `evil.tgz` for a file of the directory that you work in.
      identifier: /^(?!.*\.(?:tgz|tar|tar\.gz)$)(?:@[\w.~][\w.~-]*\/)?[\w~][\w.~-]*$/i,
      version: SEMVER,
      // It would ask whether to install the package, and nobody could answer.
      before: ["-y"],
      name: behind("@"),
    },
  ],
  [
    "pypi",
    {
      programs: ["uvx"],
      identifier: /^[A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?(?:\[[\w.,-]+\])?$/,
      version: PYTHON_VERSION,
      before: [],
      name: behind("=="),
    },
  ],
  [
    "nuget",
    {
      programs: ["dnx"],
      identifier: /^[A-Za-z0-9_](?:[\w.-]*\w)?$/,
      // The fourth part is a habit of Windows.
      version: /^\d+\.\d+(?:\.\d+){0,2}(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?$/,
      before: [],
      name: behind("@"),
      after: ["--yes"],
      separator: "--",
    },
  ],
  [
    "oci",
    {
      programs: ["docker", "podman"],
      identifier:
        /^[a-z0-9][\w.-]*(?::\d+)?(?:\/[\w.-]+)*(?::[\w][\w.-]*)?(?:@sha256:[a-f0-9]{64})?$/i,
      // Images have no versions but tags: one that begins with a number is meant as one.
      version: /^v?\d[\w.-]*$/,
      before: ["run", "-i", "--rm"],
      name: image,
    },
  ],
]);

/** A registry on another machine must not make Plugboard ask this one for files. */
function fileProblem(url: string, registry: string): string | undefined {
  if (isOfThisMachine(url)) {
    return isOfThisMachine(registry) ? undefined : "its file is on this machine";
  }
  return /^https:\/\//i.test(url) ? undefined : "its file is not at an https URL";
}

function packageWay(pack: ServerPackage, origin: Origin): Way {
  const { id, entry } = origin;
  const { registryType, identifier, fileSha256, transport } = pack;
  const target = `${identifier}${pack.version ? ` ${pack.version}` : ""}`;
  const unusable = (why: string): Way => ({ id, target, kind: "unusable", why });
  if (transport.type !== "stdio") {
    return unusable(
      "it has to be started and then reached at a URL: start it yourself, and add the URL",
    );
  }
  if (registryType === "mcpb") {
    const problem = fileProblem(identifier, origin.registry);
    if (problem !== undefined) return unusable(problem);
    if (fileSha256 === undefined)
      return unusable("it has no hash (fileSha256) to check the file by");
    return { id, target, kind: "bundle", url: identifier, sha256: fileSha256 };
  }
  const runner = RUNNERS.get(registryType);
  if (runner === undefined) return unusable("Plugboard cannot run packages of this type");
  const [usual = ""] = runner.programs;
  const hint = pack.runtimeHint ?? usual;
  const program = runner.programs.find((each) => each === hint);
  if (program === undefined && pack.runtimeArguments.length > 0) {
    return unusable(`it has to be run with ${oneLine(hint, 40)}, which Plugboard does not use`);
  }
  const problem = identityProblem(pack, runner) ?? variableProblem(pack);
  if (problem !== undefined) return unusable(problem);
  const inputs = new OfferInputs(suggestedName(entry.server.name));
  const chosen = program ?? usual;
  const recipe = packageRecipe(pack, runner, chosen, inputs);
  return { id, target, ...offerOf(recipe, inputs, origin, { program: chosen }) };
}

/** The package's name is a word of a command line: it must not be an option, a URL or a path. */
function identityProblem(
  { identifier, version }: ServerPackage,
  { identifier: pattern, version: exact }: Runner,
): string | undefined {
  if (!pattern.test(identifier))
    return `'${oneLine(identifier, 100)}' is not the name of a package`;
  if (version && !exact.test(version)) {
    return `'${oneLine(version, 100)}' is not an exact version`;
  }
  return undefined;
}

/**
 * What the publisher sets would run code that the command does not show, or is more than a name: Docker gets the name as a word,
 * in which `${TOKEN}` would read your variable.
 */
function variableProblem({ environmentVariables }: ServerPackage): string | undefined {
  for (const { name } of environmentVariables) {
    if (!/^[A-Za-z_][\w.-]*$/.test(name)) {
      return `'${oneLine(name, 100)}' is not the name of a variable`;
    }
    const reason = codeVariableReason(name, undefined, "publisher");
    if (reason !== undefined) return `it sets ${oneLine(name, 100)}, which ${reason}`;
  }
  return undefined;
}

function packageRecipe(
  pack: ServerPackage,
  runner: Runner,
  program: string,
  inputs: OfferInputs,
): Recipe {
  const runtime = argumentWords(pack.runtimeArguments, inputs);
  const environment = mapOf(pack.environmentVariables, inputs, ({ name }) =>
    /^[A-Za-z_]\w*$/.test(name) ? name : undefined,
  );
  const own = argumentWords(pack.packageArguments, inputs);
  const name = runner.name(pack);
  const isNamed = namesPackage(pack.runtimeArguments, pack.identifier);
  const { runtimeHint: hint, registryBaseUrl: publishedAt } = pack;
  return {
    notes: [
      ...(publishedAt && pack.registryType !== "oci"
        ? [
            `the publisher has it at ${oneLine(publishedAt, 100)}; ${program} takes it from where it looks`,
          ]
        : []),
      ...(hasVersion(pack, name)
        ? []
        : ["the package has no version: what runs may change at any time"]),
      ...(isNamed && pack.runtimeArguments.length > 1
        ? ["the publisher's own words say which package is run: read the command"]
        : []),
      ...(hint !== undefined && hint !== program
        ? [`the publisher runs it with ${oneLine(hint, 40)}; here it is run with ${program}`]
        : []),
    ],
    build: (values) => {
      const before = withoutFirst(runner.before[0], runtime(values));
      const env = environment(values);
      const rest = own(values);
      const passed = pack.registryType === "oci" ? passedOn(Object.keys(env), before) : [];
      return {
        command: program,
        args: [
          ...runnerWords(runner.before, before),
          ...before,
          ...passed,
          ...(isNamed ? [] : [name]),
          ...(runner.after ?? []).filter((word) => !before.includes(word)),
          ...(runner.separator === undefined || rest.length === 0 ? [] : [runner.separator]),
          ...rest,
        ],
        ...filledIn("env", env),
      };
    },
  };
}

/** Some publishers write what the runner needs, and some leave it to us: it comes first, and once. */
function withoutFirst(ours: string | undefined, theirs: readonly string[]): string[] {
  return theirs[0] === ours ? theirs.slice(1) : [...theirs];
}

function runnerWords(ours: readonly string[], theirs: readonly string[]): string[] {
  const same: Readonly<Record<string, readonly string[]>> = {
    "-y": ["-y", "--yes", "-y=true", "--yes=true"],
    "-i": ["-i", "--interactive", "-it", "-ti"],
  };
  // The first word is what the program does, which is not the publisher's to say.
  return ours.filter(
    (word, at) =>
      (at === 0 && !word.startsWith("-")) ||
      !(same[word] ?? [word]).some((each) => theirs.includes(each)),
  );
}

function namesPackage(given: readonly ServerArgument[], identifier: string): boolean {
  const behindName = /^(?:$|@|==|:)/;
  return given.some(
    ({ value = "" }) =>
      value.startsWith(identifier) && behindName.test(value.slice(identifier.length)),
  );
}

/** Docker hands a variable on to the container only if an argument names it. */
function passedOn(names: readonly string[], given: readonly string[]): string[] {
  const isGiven = (name: string): boolean =>
    given.some((word) => word === name || word.startsWith(`${name}=`));
  return names.flatMap((name) => (isGiven(name) ? [] : ["-e", name]));
}

/** Older entries have the registry and the version beside the image. */
function image({ identifier, version, registryBaseUrl }: ServerPackage): string {
  const [first = ""] = identifier.split("/");
  const hasHost = identifier.includes("/") && /[.:]|^localhost$/.test(first);
  const host = URL.canParse(registryBaseUrl ?? "") ? new URL(registryBaseUrl ?? "").host : "";
  const isElsewhere = host !== "" && !/(?:^|\.)docker\.(?:io|com)$/.test(host);
  const full = isElsewhere && !hasHost ? `${host}/${identifier}` : identifier;
  const [, tag] = /[^/](:[^/]+|@sha256:.*)$/.exec(identifier) ?? [];
  return tag === undefined && version ? `${full}:${version}` : full;
}

function hasVersion({ version, registryType }: ServerPackage, name: string): boolean {
  if (registryType !== "oci") return Boolean(version);
  return /[^/]:[^/]+$/.test(name) && !name.endsWith(":latest");
}

// What is common to variables and headers

/** By name; those without a value are left out. */
function mapOf(
  given: readonly NamedInput[],
  inputs: OfferInputs,
  variableFor: (input: NamedInput) => string | undefined,
): (values: InputValues) => Record<string, string> {
  const fills = given.map((each): [string, Fill] => {
    const variable = variableFor(each);
    const place = { key: each.name, variable };
    return [each.name, inputs.fill(each, place)];
  });
  return (values) =>
    Object.fromEntries(
      fills.flatMap(([name, fill]) => fill(values).map((value): [string, string] => [name, value])),
    );
}

function filledIn<Key extends "env" | "headers">(
  key: Key,
  map: Record<string, string>,
): { [Name in Key]?: Record<string, string> } {
  const found: { [Name in Key]?: Record<string, string> } = {};
  if (Object.keys(map).length > 0) found[key] = map;
  return found;
}

/** The words that arguments become, in their order. */
function argumentWords(
  given: readonly ServerArgument[],
  inputs: OfferInputs,
): (values: InputValues) => string[] {
  const fills = given.map((argument) => wordsOf(argument, inputs));
  return (values) => fills.flatMap((fill) => fill(values));
}

function wordsOf(argument: ServerArgument, inputs: OfferInputs): Fill {
  const { isRepeated } = argument;
  if (argument.type === "positional") {
    const key = inputs.freeKey(argument.valueHint || "argument");
    return inputs.fill(argument, { key, isRepeated });
  }
  if (isPlainFlag(argument)) return () => [published(argument.name)];
  const key = inputs.freeKey(argument.name.replace(/^-+|=$/g, "") || argument.name);
  const fill = inputs.fill(argument, { key, isRepeated });
  const isSwitch = argument.format === "boolean" && argument.value === undefined;
  return (values) => {
    const name = published(argument.name);
    return fill(values).flatMap((value) =>
      isSwitch ? switchWords(name, value, argument.default) : withValue(name, value),
    );
  };
}

/** Nothing says that it has a value, so it is written as it is: `{ "type": "named", "name": "--stdio" }`. */
function isPlainFlag(argument: Extract<ServerArgument, { type: "named" }>): boolean {
  const { value, description, isRequired, isSecret, format, placeholder, choices } = argument;
  const said = [value, argument.default, description, placeholder, choices];
  return (
    said.every((each) => each === undefined) && !isRequired && !isSecret && format === "string"
  );
}

/** Programs that know `--flag` alone do not know `--flag true`. */
function switchWords(name: string, value: string, preset: string | undefined): string[] {
  if (value === "true") return [name];
  return value === "false" && preset !== "true" ? [] : [`${name}=${inText(value)}`];
}

/** Two words, as VS Code writes them, although the schema shows `--flag={value}`: servers are published for that. */
function withValue(name: string, value: string): string[] {
  if (name.endsWith("=")) return [`${name}${inText(value)}`];
  return value === "" ? [name] : [name, value];
}
