// Versions: what the package's own manifest says, and which of two is older.

import { readFileSync } from "node:fs";

export function packageVersion(): string {
  return readManifest().version;
}

/** The lowest version of Node that it runs with: `20.19`. */
export function neededNodeVersion(): string {
  return readManifest().engines.node.replace(/^\D+/, "");
}

/** Below zero if the first is older. Only numbers are compared. */
export function compareVersions(first: string, second: string): number {
  const [a, b] = [first, second].map((version) => version.split(".").map(Number));
  const at = [0, 1, 2].find((part) => (a?.[part] ?? 0) !== (b?.[part] ?? 0)) ?? 0;
  return (a?.[at] ?? 0) - (b?.[at] ?? 0);
}

interface Manifest {
  version: string;
  engines: { node: string };
}

/** Written in by the build: a program that has bundled Plugboard has no manifest of it. */
declare const PLUGBOARD_MANIFEST: Manifest | undefined;

function readManifest(): Manifest {
  if (typeof PLUGBOARD_MANIFEST !== "undefined") return PLUGBOARD_MANIFEST;
  return JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
}
