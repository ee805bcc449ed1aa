// A server that somebody publishes, on its way into the configuration: found in the registry or in a bundle, shown with
// everything that a person should know, and filled in.

import { PlugboardError } from "../../core/types/errors.ts";
import type { ServerConfig } from "../../core/types/server-config.ts";
import type { Provenance, ServerOffer } from "../../core/types/server-offer.ts";
import type { RegistryClient } from "../../install/registry/client.ts";
import {
  readRegistryName,
  type RegistryEntry,
  type RegistryName,
} from "../../install/registry/server-json.ts";
import { chooseWay, suggestedName, type Way, waysOf } from "../../install/registry/ways.ts";
import { closest } from "../../util/closest.ts";
import { isOnPath } from "../../util/on-path.ts";
import { oneLine, shellWord } from "../../util/text.ts";
import { visible } from "../../util/visible.ts";
import type { CliContext } from "../context.ts";
import { openBundleFile } from "./bundles.ts";
import { type GivenValues, type ReadInputs, readInputs } from "./inputs.ts";
import { withRegistry } from "./open-registry.ts";
import type { ServerFile } from "./server-file.ts";
import { suspicions } from "./suspicious.ts";
import type { TypedSecrets } from "./typed-secrets.ts";

/** What a person typed about it. */
export interface OfferOptions extends GivenValues {
  /** Which way to run it. */
  way?: string;
  registry?: string;
}

export interface FoundOffer {
  offer: ServerOffer;
  /** The server's description and its publisher. */
  lines: string[];
  /** The other ways to run it, each with what is known about it. */
  others: { id: string; about: string }[];
}

export interface FilledOffer extends Pick<ReadInputs, "unset"> {
  server: ServerConfig;
  /** What a person should know before it is started. */
  notes: string[];
}

/** Where an offer is: in the registry, or in a bundle at a path or a URL. */
export type OfferSource =
  | ({ kind: "registry" } & RegistryName)
  | { kind: "bundle"; written: string };

/** Undefined for a word that names neither. */
export function readOfferSource(word: string): OfferSource | undefined {
  const path = URL.canParse(word) ? new URL(word).pathname : word;
  if (/\.(?:mcpb|dxt)$/i.test(path)) return { kind: "bundle", written: word };
  const found = readRegistryName(word);
  return found && { kind: "registry", ...found };
}

export async function readOffer(
  source: OfferSource,
  options: OfferOptions,
  file: ServerFile,
  context: CliContext,
): Promise<FoundOffer> {
  if (source.kind === "bundle") {
    if (options.way !== undefined || options.registry !== undefined) {
      throw new PlugboardError(
        "INVALID_ARGUMENTS",
        "--package, --remote and --registry are for servers of the registry, and this is a bundle",
        { hint: "leave them out" },
      );
    }
    const offer = await openBundleFile(source.written, undefined, file, context);
    return { offer, lines: aboutOffer(offer, visible(source.written)), others: [] };
  }
  const { name, version } = source;
  return withRegistry(options.registry, file, context, async (registry) =>
    offerFrom(await registry.get(name, version), registry, options.way, file, context),
  );
}

/** The offer of a bundle that somebody sends, under the name that they give it. */
export async function readSentBundle(
  name: string,
  chunks: AsyncIterable<Buffer>,
  file: ServerFile,
  context: CliContext,
): Promise<FoundOffer> {
  const offer = await openBundleFile({ kind: "sent", name, chunks }, undefined, file, context);
  return { offer, lines: aboutOffer(offer, visible(name)), others: [] };
}

/** Throws REFUSED_BY_POLICY for a version that was deleted, and UNSUPPORTED if it cannot be run here. */
export async function offerFrom(
  entry: RegistryEntry,
  registry: RegistryClient,
  wanted: string | undefined,
  file: ServerFile,
  context: CliContext,
): Promise<FoundOffer> {
  refuseDeleted(entry);
  const ways = waysOf(entry, registry.url);
  const way = pick(ways, wanted, entry, context);
  const offer =
    way.kind === "bundle"
      ? fromRegistry(await openBundleFile(way.url, way.sha256, file, context), way, entry, registry)
      : way.offer;
  const isPresent = presence(context);
  const others = ways
    .filter(({ id }) => id !== way.id)
    .map((each) => ({ id: each.id, about: wayLine(each, isPresent) }));
  return { offer, lines: aboutEntry(entry, registry.url, offer.notes), others };
}

/** For a terminal. */
export function otherWayLines({ others }: FoundOffer): string[] {
  if (others.length === 0) return [];
  const lines = others.map(({ about }) => `  ${about}`);
  return ["Other ways to run it, to be chosen with --package:", ...lines];
}

function refuseDeleted(entry: RegistryEntry): void {
  const { server, status } = entry;
  if (status !== "deleted") return;
  throw new PlugboardError(
    "REFUSED_BY_POLICY",
    `${server.name} ${server.version} was deleted from the registry${statusReason(entry)}`,
    {
      hint: `to look for another one: plugboard registry ${shellWord(suggestedName(server.name))}`,
    },
  );
}

/** Why a version was deprecated or deleted, to be put after that; empty if nobody says. */
export function statusReason({ statusMessage }: RegistryEntry): string {
  return statusMessage === undefined ? "" : `: ${oneLine(visible(statusMessage), 300)}`;
}

/** The entry is about the server in the registry, whatever its bundle calls itself. */
function fromRegistry(
  offer: ServerOffer,
  { id }: Way,
  { server, hash }: RegistryEntry,
  { url }: RegistryClient,
): ServerOffer {
  const { name, version } = server;
  const provenance: Provenance = { kind: "registry", registry: url, name, version, hash, way: id };
  return { ...offer, name: suggestedName(name), version, provenance };
}

function nearestWay(wanted: string, ways: readonly Way[]): string | undefined {
  const meant = closest(
    wanted,
    ways.map(({ id }) => id),
  );
  return meant && `did you mean '${oneLine(meant, 40)}'?`;
}

function pick(
  ways: readonly Way[],
  wanted: string | undefined,
  { server }: RegistryEntry,
  context: CliContext,
): Exclude<Way, { kind: "unusable" }> {
  const isPresent = presence(context);
  const way =
    wanted === undefined ? chooseWay(ways, isPresent) : ways.find(({ id }) => id === wanted);
  if (way !== undefined && way.kind !== "unusable") return way;
  const title = `${server.name} ${server.version}`;
  if (ways.length === 0) {
    const message = `${title} says neither which package it is in nor at which URL it is`;
    throw new PlugboardError("UNSUPPORTED", message, {
      hint: "look on its page how it is started, and add that command: plugboard add <name> -- <command>",
    });
  }
  const lines = ways.map((each) => `  ${wayLine(each, isPresent)}`);
  if (way !== undefined) {
    throw new PlugboardError(
      "UNSUPPORTED",
      [`${title} cannot be run as ${way.id}: ${way.why}; its ways are:`, ...lines].join("\n"),
      { hint: "choose another way with --package or --remote" },
    );
  }
  const [what, hint] =
    wanted === undefined
      ? [`${title} cannot be run here:`, missingHint(ways)]
      : [
          `${title} cannot be run as '${oneLine(wanted, 40)}'; its ways are:`,
          nearestWay(wanted, ways),
        ];
  throw new PlugboardError(
    wanted === undefined ? "UNSUPPORTED" : "INVALID_ARGUMENTS",
    [what, ...lines].join("\n"),
    { hint },
  );
}

/** Whether a program is on this machine. */
function presence({ io }: CliContext): (program: string) => boolean {
  return (program) => isOnPath(program, io.env, process.platform);
}

function missingHint(ways: readonly Way[]): string | undefined {
  const isMissing = ways.some((way) => way.kind === "offer" && way.program !== undefined);
  return isMissing ? "install what is missing, or choose a way with --package" : undefined;
}

function wayLine(way: Way, isPresent: (program: string) => boolean): string {
  const target = oneLine(visible(way.target), 200);
  switch (way.kind) {
    case "unusable":
      return `${way.id}: ${target}: ${visible(way.why)}`;
    case "bundle":
      return `${way.id}: ${target}`;
    case "offer": {
      const { program } = way;
      const isMissing = program !== undefined && !isPresent(program);
      const how = program === undefined ? "" : ` with ${program}`;
      return `${way.id}: ${target}${how}${isMissing ? ", which is not installed" : ""}`;
    }
  }
}

// What is shown

function aboutEntry(entry: RegistryEntry, registry: string, notes: readonly string[]): string[] {
  const { server, status } = entry;
  const { name, title, version, description, repository } = server;
  return [
    `${name} ${version}${title === undefined ? "" : `  ${oneLine(visible(title), 100)}`}`,
    ...(description === "" ? [] : [`  ${oneLine(visible(description), 300)}`]),
    `  published by ${publisher(name)}, in the registry ${registry}`,
    ...(repository?.url === undefined
      ? []
      : [`  source: ${oneLine(visible(repository.url), 200)}`]),
    ...(status === "deprecated" ? [`warning: it is deprecated${statusReason(entry)}`] : []),
    ...notes.map(noteLine),
  ];
}

/** The registry lets only the owner of an account or a domain publish under its name. */
function publisher(name: string): string {
  const [namespace = ""] = name.split("/");
  const [, account] = /^io\.github\.(.+)$/.exec(namespace) ?? [];
  return account === undefined
    ? namespace.split(".").toReversed().join(".")
    : `${account} on GitHub`;
}

function aboutOffer(
  { title, name, version, description, notes }: ServerOffer,
  from: string,
): string[] {
  return [
    `${oneLine(visible(title ?? name), 100)} ${visible(version)}, from ${from}`,
    ...(description === undefined ? [] : [`  ${oneLine(visible(description), 300)}`]),
    ...notes.map(noteLine),
  ];
}

function noteLine(note: string): string {
  return note.startsWith("warning: ") ? note : `note: ${note}`;
}

// What it becomes

/** Asks for missing values. The entry keeps its origin and the values that the person gave. */
export async function fillOffer(
  offer: ServerOffer,
  given: GivenValues,
  secrets: TypedSecrets,
  context: CliContext,
): Promise<FilledOffer> {
  const { values, unset, notes } = await readInputs(offer, given, secrets, context);
  const inputs = values.size === 0 ? {} : { inputs: Object.fromEntries(values) };
  const built = offer.build(values);
  const server = { ...built, provenance: { ...offer.provenance, ...inputs } };
  const code = "It runs code of its publisher on this machine, with your rights.";
  const warnings = suspicions(built, [...values.values()].flat());
  return {
    server,
    unset,
    notes: [
      ...(built.command === undefined ? [] : [code]),
      ...warnings,
      ...notes,
      ...secrets.lines(),
    ],
  };
}
