// `plugboard outdated`: which servers from the MCP registry have a newer version, or were taken back.

import { writtenServers } from "../../core/config/server-text.ts";
import { PlugboardError } from "../../core/types/errors.ts";
import { isJsonObject } from "../../core/types/json.ts";
import type { Provenance } from "../../core/types/server-offer.ts";
import { isNewer } from "../../install/registry/newer.ts";
import type { RegistryClient } from "../../install/registry/client.ts";
import type { RegistryEntry } from "../../install/registry/server-json.ts";
import { visible } from "../../util/visible.ts";
import type { CliContext } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import { offeredCommand } from "../offered-command.ts";
import { type Column, renderTable, type Row } from "../terminal/table.ts";
import type { OutdatedRequest, Scope } from "./command.ts";
import { statusReason } from "./offer.ts";
import { withRegistry } from "./open-registry.ts";
import { openServerFile, otherFiles, type ServerFile } from "./server-file.ts";

export type RegistryProvenance = Extract<Provenance, { kind: "registry" }>;

/** A server that was added from a registry, where it is written. */
export interface InstalledServer {
  name: string;
  file: ServerFile;
  provenance: RegistryProvenance;
}

interface Checked extends InstalledServer {
  latest?: string;
  /** What is wrong with the version that is installed, or with the newest one. */
  notes: string[];
  isOutdated: boolean;
  /** Why nothing is known. */
  failure?: PlugboardError;
}

const COLUMNS: readonly Column[] = [
  { title: "SERVER" },
  { title: "INSTALLED", min: 8 },
  { title: "NEWEST", min: 8 },
  { title: "FROM", min: 16 },
];

export async function runOutdated(
  { scope, registry: flag }: OutdatedRequest,
  context: CliContext,
): Promise<number> {
  const { screen, options } = context;
  const installed = await installedServers(scope, context);
  const checked: Checked[] = [];
  for (const server of installed) checked.push(await check(server, flag, context));
  const outdated = checked.filter(({ isOutdated }) => isOutdated);
  const hasFailed = checked.some(({ failure }) => failure !== undefined);
  const code = hasFailed ? EXIT.unavailable : outdated.length > 0 ? EXIT.outdated : EXIT.ok;
  if (options.json) {
    screen.json({ servers: checked.map(toJson) });
    return code;
  }
  const rows = checked.filter(({ isOutdated, failure }) => isOutdated || failure !== undefined);
  const { width, paint } = screen.terminal.out;
  screen.lines(renderTable(COLUMNS, rows.map(toRow), { width, paint }));
  if (installed.length === 0) screen.note("no server was added from a registry");
  else if (rows.length === 0) screen.note("all servers from the registry are up to date");
  if (outdated.length > 0) screen.note(`to update them:\n  ${offeredCommand("update", options)}`);
  return code;
}

/** The servers of the file that is in use and, unless the user named one, of the other file. */
export async function installedServers(
  scope: Scope | undefined,
  context: CliContext,
): Promise<InstalledServer[]> {
  const file = await openServerFile(scope, context);
  const files = [file, ...(await otherFiles(file, scope, context))];
  return files.flatMap((each) =>
    Object.entries(writtenServers(each)).flatMap(([name, server]): InstalledServer[] => {
      const provenance = isJsonObject(server) ? server["provenance"] : undefined;
      // The file has passed the check of its schema.
      return isJsonObject(provenance) && provenance["kind"] === "registry"
        ? [{ name, file: each, provenance: provenance as unknown as RegistryProvenance }]
        : [];
    }),
  );
}

async function check(
  server: InstalledServer,
  flag: string | undefined,
  context: CliContext,
): Promise<Checked> {
  const { file, provenance } = server;
  try {
    // The file names the address of a registry, and an untrusted file must not decide whom Plugboard asks.
    if (file.trust.kind === "untrusted") {
      throw new PlugboardError("UNTRUSTED", `${visible(file.path)} is not trusted`, {
        hint: "to look at it: plugboard trust",
      });
    }
    return await withRegistry(flag ?? provenance.registry, file, context, async (registry) => {
      const latest = await registry.get(provenance.name);
      const notes = await notesOn(provenance, latest, registry);
      const isOutdated = isNewer(latest.server.version, provenance.version) || notes.length > 0;
      return { ...server, latest: latest.server.version, notes, isOutdated };
    });
  } catch (error) {
    if (!(error instanceof PlugboardError) || error.code === "CANCELLED") throw error;
    return { ...server, notes: [], isOutdated: false, failure: error };
  }
}

async function notesOn(
  { name, version, hash }: RegistryProvenance,
  latest: RegistryEntry,
  registry: RegistryClient,
): Promise<string[]> {
  const isSame = latest.server.version === version;
  const own = isSame ? latest : await registry.get(name, version).catch(unlessUnknown);
  if (own === undefined) return [`version ${visible(version)} is not in the registry any more`];
  const { status } = own;
  const why = statusReason(own);
  return [
    ...(status === "deleted" ? [`version ${visible(version)} was deleted${why}`] : []),
    ...(status === "deprecated" ? [`version ${visible(version)} is deprecated${why}`] : []),
    ...(own.hash === hash
      ? []
      : [
          `what the registry says about version ${visible(version)} has changed since you added it`,
        ]),
  ];
}

function unlessUnknown(error: unknown): undefined {
  if (error instanceof PlugboardError && error.code === "UNKNOWN_SERVER") return undefined;
  throw error;
}

function toRow({ name, provenance, latest, notes, failure }: Checked): Row {
  const isNew = latest !== undefined && isNewer(latest, provenance.version);
  return {
    cells: [
      visible(name),
      visible(provenance.version),
      isNew ? { text: visible(latest), tone: "green" } : visible(latest ?? "?"),
      visible(provenance.name),
    ],
    notes: [...notes, ...(failure === undefined ? [] : [failure.message])],
  };
}

function toJson({ name, file, provenance, latest, notes, isOutdated, failure }: Checked): object {
  return {
    name,
    file: file.path,
    registry: provenance.registry,
    from: provenance.name,
    installed: provenance.version,
    ...(latest !== undefined && { newest: latest }),
    outdated: isOutdated,
    ...(notes.length > 0 && { notes }),
    ...(failure !== undefined && { error: { code: failure.code, message: failure.message } }),
  };
}
