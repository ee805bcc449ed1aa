// Finds the files of other applications on this machine, and reads the servers in them in our keys.

import { stat } from "node:fs/promises";
import { dirname, isAbsolute, resolve } from "node:path";
import { PlugboardError } from "../types/errors.ts";
import { isJsonObject, type JsonObject, objectIn, valueIn } from "../types/json.ts";
import type { OfferInput } from "../types/server-offer.ts";
import { readConfigFile } from "./config-file.ts";
import { APPLICATIONS } from "./foreign/applications.ts";
import { type FilePlace, places, type PlacesOptions } from "./foreign/places.ts";
import { formatProblem, type Issue, quote, toProblems } from "./issue.ts";
import { loadConfig } from "./load.ts";
import { DEFAULT_SERVERS } from "./schema/file-schema.ts";

export interface OtherFile extends Pick<FilePlace, "application" | "path"> {
  /** As people call the application. */
  name: string;
  /** Absent for a file that was named. */
  scope?: FilePlace["scope"];
  /** In our keys, by name. */
  servers: ReadonlyMap<string, JsonObject>;
  /** What the application asks its user for. The servers refer to each by its variable. */
  inputs: readonly OfferInput[];
  /** Why a server in the file is not among them, by name. */
  leftOut: ReadonlyMap<string, string>;
  /** Sentences about what does not work here as it does there. */
  warnings: readonly string[];
  /** Why it cannot be read. It has no servers then. */
  problem?: string;
}

/** The files that exist, in the order of places.ts. A file that cannot be read is listed with the reason. */
export async function findOtherFiles(options: PlacesOptions): Promise<OtherFile[]> {
  const all = places(options);
  // In the home directory, files of the user are files of the project too.
  const unique = all.filter(
    ({ path }, index) => all.findIndex((each) => each.path === path) === index,
  );
  const found = await Promise.all(
    unique.map(async (place) => {
      if (!(await isFile(place.path))) return [];
      const name = applicationName(place.application);
      try {
        return [{ ...place, name, ...(await readServers(place.path, options)) }];
      } catch (error) {
        if (!(error instanceof PlugboardError)) throw error;
        const problem = error.problems.map(formatProblem).join("; ") || error.message;
        return [{ ...place, name, ...NOTHING, problem }];
      }
    }),
  );
  return found.flat();
}

/** Rejects with CONFIG_INVALID for a file that cannot be read, or has no servers that can be found. */
export async function readOtherFile(
  path: string,
  options: Pick<PlacesOptions, "cwd" | "homedir">,
): Promise<OtherFile> {
  // `loadConfig` rejects a file that belongs to no known application, and names its mistakes.
  await loadConfig(path, undefined, options);
  const { application } = await readConfigFile(path, options);
  return {
    path,
    application: application?.id ?? "plugboard",
    name: application?.name ?? "Plugboard",
    ...(await readServers(path, options)),
  };
}

function applicationName(id: string): string {
  return APPLICATIONS.find((application) => application.id === id)?.name ?? id;
}

const NOTHING: Pick<OtherFile, "servers" | "inputs" | "leftOut" | "warnings"> = {
  servers: new Map(),
  inputs: [],
  leftOut: new Map(),
  warnings: [],
};

async function readServers(
  path: string,
  { cwd, homedir }: Pick<PlacesOptions, "cwd" | "homedir">,
): Promise<Pick<OtherFile, "servers" | "inputs" | "leftOut" | "warnings">> {
  const {
    value,
    warnings,
    leftOut = [],
    inputs = [],
    source,
    application,
  } = await readConfigFile(path, { cwd });
  const given = valueIn(value, DEFAULT_SERVERS);
  const isNobodys = application === undefined && !isJsonObject(given);
  // Settings of an application that has no servers yet.
  if (isNobodys) return NOTHING;
  await loadConfig(path, undefined, { cwd, homedir });
  const sentences = (issues: readonly Issue[]): string[] =>
    toProblems(issues, { locate: source.locate }).map(formatProblem);
  const entries = Object.entries(objectIn(given));
  return {
    servers: new Map(
      entries.flatMap(([name, server]) =>
        isJsonObject(server) ? [[name, withAbsolutePaths(server, dirname(path))]] : [],
      ),
    ),
    inputs,
    leftOut: new Map([...leftOut].map(([name, issue]) => [name, sentences([issue]).join()])),
    warnings: [
      ...sentences(warnings),
      ...agentsWithServers(value).map((id) => `the servers of the agent ${id} are ignored`),
    ],
  };
}

/**
 * The agents that have servers of their own. These servers are ignored: here they would become servers of every agent.
 */
function agentsWithServers(value: unknown): string[] {
  const list = valueIn(value, ["agents", "list"]);
  return (Array.isArray(list) ? (list as unknown[]) : []).flatMap((agent) => {
    const servers = valueIn(agent, ["mcp", "servers"]);
    const isEmpty = !isJsonObject(servers) || Object.keys(servers).length === 0;
    return isEmpty ? [] : [quote(String(valueIn(agent, ["id"])))];
  });
}

/** Paths that are relative to the old file would lead elsewhere from the new one. */
function withAbsolutePaths(server: JsonObject, directory: string): JsonObject {
  const absolute = (path: unknown): unknown =>
    typeof path === "string" && !isAbsolute(path) && !/^[~$]/.test(path)
      ? resolve(directory, path)
      : path;
  const { cwd, roots, tls } = server;
  return {
    ...server,
    ...(cwd !== undefined && { cwd: absolute(cwd) }),
    ...(Array.isArray(roots) && { roots: roots.map(absolute) }),
    ...(isJsonObject(tls) && {
      tls: Object.fromEntries(Object.entries(tls).map(([key, path]) => [key, absolute(path)])),
    }),
  };
}

async function isFile(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}
