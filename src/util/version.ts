// What the package's own manifest says, read when it is needed.

import { readFileSync } from "node:fs";

export function packageVersion(): string {
  return readManifest().version;
}

/** The lowest version of Node that it runs with: `20.19`. */
export function neededNodeVersion(): string {
  return readManifest().engines.node.replace(/^\D+/, "");
}

function readManifest(): { version: string; engines: { node: string } } {
  return JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
}
