// Opens a bundle (`.mcpb`, `.dxt`): gets the file, checks and unpacks it, and offers the server in it. Nothing of it runs.

import { execFile } from "node:child_process";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { PlugboardError } from "../../core/types/errors.ts";
import { escaped } from "../../core/types/server-config.ts";
import { type OfferInput, type ServerOffer, variableOf } from "../../core/types/server-offer.ts";
import type { GuardedFetch } from "../../core/net/fetch.ts";
import { showUrl } from "../../core/net/policy.ts";
import type { Clock } from "../../util/clock.ts";
import type { Environment } from "../../util/environment.ts";
import { isOnPath } from "../../util/on-path.ts";
import { oneLine } from "../../util/text.ts";
import { visible } from "../../util/visible.ts";
import { type Archive, fault, openArchive } from "./archive.ts";
import { requirePlatform, runtimeNote } from "./compatibility.ts";
import { buildEntry, defaultValues, executablesIn, launchOf, type Place } from "./launch.ts";
import {
  LARGEST_MANIFEST,
  type Manifest,
  MANIFEST,
  type Option,
  readManifest,
} from "./manifest.ts";
import { type BundleSource, receive, type Received } from "./receive.ts";
import { bundleDirectory, type BundleStore, inPartialDirectory, place } from "./store.ts";

export interface BundleRequest {
  source: BundleSource;
  /** What the file must have, in hexadecimal. */
  sha256?: string;
}

export interface BundleSurroundings {
  /** Plugboard's. */
  home: string;
  homedir: string;
  env: Environment;
  platform: string;
  /** What runs this process, and so a server for Node. */
  node: { path: string; version: string };
  fetch: GuardedFetch;
  clock: Clock;
  signal: AbortSignal;
}

/** A URL or a path; `cwd` is where a relative one begins. */
export function bundleSource(word: string, cwd: string): BundleSource {
  return /^https?:\/\//i.test(word)
    ? { kind: "url", url: word }
    : { kind: "file", path: resolve(cwd, word) };
}

/**
 * The server in a bundle, which is unpacked by then. Once its entry is written, or is not wanted, call `removeUnusedBundles`.
 * Rejects with INVALID_ARGUMENTS for a bundle that cannot be used; then nothing is left of it.
 */
export async function openBundle(
  { source, sha256 }: BundleRequest,
  around: BundleSurroundings,
): Promise<ServerOffer> {
  const store: BundleStore = around;
  try {
    return await inPartialDirectory(store, async (partial) => {
      const file = join(partial, "bundle.zip");
      const received = await receive(source, file, sha256, around);
      const archive = await openArchive(file, received.size, around.signal);
      try {
        return await unpacked(archive, received, source, partial, around);
      } finally {
        archive.close();
      }
    });
  } catch (error) {
    throw named(error, source);
  }
}

async function unpacked(
  archive: Archive,
  received: Received,
  source: BundleSource,
  partial: string,
  around: BundleSurroundings,
): Promise<ServerOffer> {
  const { files } = archive;
  const bytes = await archive.read(MANIFEST, LARGEST_MANIFEST);
  if (bytes === undefined) throw fault(noManifest(files));
  const manifest = readManifest(bytes);
  requirePlatform(manifest, around.platform);
  const { name, version } = manifest;
  const id = { name, version, sha256: received.sha256 };
  const where: Place = { ...around, directory: bundleDirectory(around, id) };
  const programs = findPrograms(manifest, around);
  const findProgram = (command: string): string => programs.get(command) ?? command;
  const build: ServerOffer["build"] = (values) =>
    buildEntry(manifest, values, where, { files, findProgram });
  const inputs = Object.entries(manifest.user_config ?? {}).map(([key, option]) =>
    inputOf(key, option, serverName(name), where),
  );
  // A manifest that cannot be used is refused before anything is unpacked.
  build(new Map());
  await place(around, id, partial, (directory) =>
    archive.unpack(directory, executablesIn(manifest, where, files)),
  );
  return {
    name: serverName(name),
    title: manifest.display_name,
    description: manifest.description,
    version,
    notes: await notesOn(manifest, received, programs, around),
    inputs,
    provenance: {
      kind: "bundle",
      source: shownSource(source),
      name,
      version,
      hash: `sha256-${received.sha256}`,
    },
    build,
  };
}

function noManifest(files: ReadonlySet<string>): string {
  const inside = [...files].find((path) => /^[^/]+\/manifest\.json$/.test(path));
  return inside === undefined
    ? `it has no ${MANIFEST}, so it is no bundle`
    : `its ${MANIFEST} is in a directory, and must be at the top: pack what is in the directory, not the directory`;
}

/** Fit to be a key: `My Server` is `my-server`. */
function serverName(name: string): string {
  const plain = name
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, "-")
    .replace(/^[.-]+|[.-]+$/g, "")
    .slice(0, 64);
  return plain === "" || plain === "native" ? "bundle" : plain;
}

function inputOf(key: string, option: Option, server: string, where: Place): OfferInput {
  const { type, title, description, required = false, sensitive = false, multiple } = option;
  const defaults = defaultValues(option, where);
  // Several are taken where nothing is given, like a single one.
  const several = defaults.length > 1 ? `by default ${defaults.join(", ")}` : "";
  const about = [title, description, several].filter(Boolean).join(": ");
  return {
    key,
    ...(about !== "" && { description: about }),
    isRequired: required && defaults.length === 0,
    isSecret: sensitive,
    // Half of all bundles call theirs "api_key".
    ...(sensitive && { variable: variableOf(key, server) }),
    format: type,
    ...(defaults.length === 1 && { default: defaults[0] }),
    ...(multiple === true && { isMultiple: true }),
    min: option.min,
    max: option.max,
  };
}

/** Which program a command without a path is. Many systems have only `python3`. */
function findPrograms(
  manifest: Manifest,
  { node, env, platform }: BundleSurroundings,
): ReadonlyMap<string, string> {
  const { command } = launchOf(manifest, platform);
  if (command === "node" || command === "node.exe") return new Map([[command, escaped(node.path)]]);
  const isThree =
    command === "python" && !isOnPath(command, env, platform) && isOnPath("python3", env, platform);
  return isThree ? new Map([[command, "python3"]]) : new Map();
}

async function notesOn(
  manifest: Manifest,
  { isSigned }: Received,
  programs: ReadonlyMap<string, string>,
  { env, platform, node }: BundleSurroundings,
): Promise<string[]> {
  const { author, server, compatibility, privacy_policies: policies = [] } = manifest;
  const { node: wantsNode, python: wantsPython } = compatibility?.runtimes ?? {};
  const { command } = launchOf(manifest, platform);
  const program = programs.get(command) ?? command;
  const isBare = program === command && /^[\w.-]+$/.test(command);
  const isMissing = isBare && server.type !== "binary" && !isOnPath(command, env, platform);
  // Nobody has agreed to anything yet, so nothing is asked for its version but a Python on the PATH.
  const isPython = /^python[\d.]*(?:\.exe)?$/.test(program) && isOnPath(program, env, platform);
  const python =
    server.type === "python" && wantsPython !== undefined && isPython
      ? await versionOf(program, env)
      : undefined;
  const notes = [
    author && `its author is ${visible(author.name)}, as it says itself`,
    isSigned ? "it has a signature, which Plugboard does not verify" : "it is not signed",
    isMissing ? `warning: it needs ${command}, which is not on your PATH` : undefined,
    server.type === "node" ? runtimeNote("Node", wantsNode, node.version) : undefined,
    server.type === "python" ? runtimeNote("Python", wantsPython, python) : undefined,
    server.type === "uv" ? "uv downloads what it needs when it first starts" : undefined,
    ...policies.map((url) => `privacy: ${visible(url)}`),
  ];
  return notes.filter((note) => note !== undefined);
}

/** `3.12.1`, or undefined where that cannot be found out. */
async function versionOf(program: string, env: Environment): Promise<string | undefined> {
  try {
    const { stdout } = await promisify(execFile)(program, ["--version"], {
      timeout: 5000,
      maxBuffer: 4096,
      env: { PATH: env["PATH"] },
    });
    return /\d+(?:\.\d+)+/.exec(stdout)?.[0];
  } catch {
    return undefined;
  }
}

/** Without a query, which may hold a key: it is written to the file. */
function shownSource(source: BundleSource): string {
  if (source.kind === "file") return source.path;
  if (source.kind === "sent") return source.name;
  const { origin, pathname } = new URL(source.url);
  return `${origin}${pathname}`;
}

/** Says which bundle it is about. */
function named(error: unknown, source: BundleSource): unknown {
  if (!(error instanceof PlugboardError) || error.code !== "INVALID_ARGUMENTS") return error;
  const where =
    source.kind === "url" ? showUrl(new URL(source.url)) : oneLine(visible(shownSource(source)));
  const { hint, cause, permanent } = error;
  return new PlugboardError(error.code, `${where} cannot be used: ${error.message}`, {
    hint,
    cause,
    permanent,
  });
}
