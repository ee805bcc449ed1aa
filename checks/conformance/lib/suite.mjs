// The official suite as a command, on the Node it needs, and what it can be asked about itself.

import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const MODULES = fileURLToPath(new URL("../node_modules/", import.meta.url));
const PACKAGE = `${MODULES}@modelcontextprotocol/conformance`;

/** The suite uses functions that Node 20 does not have. */
export const SUITE_NODE = `${MODULES}node24/bin/node`;
export const SUITE_ENTRY = `${PACKAGE}/dist/index.js`;

/** The revisions that have a frozen list of what they require. */
export const REVISIONS = ["2025-11-25", "2026-07-28"];

export function suiteVersion() {
  return JSON.parse(readFileSync(`${PACKAGE}/package.json`, "utf8")).version;
}

/** `[{ name, versions }]`; the one version of an extension is "extension". */
export function listScenarios(role) {
  return readScenarios(ask(["list", `--${role}`]));
}

/** Names of the scenarios that a client or a server of that revision must pass. */
export function listRequired(role, revision) {
  return readRequired(role, ask(["list", "--requirements", revision]));
}

export function readScenarios(text) {
  return [...text.matchAll(/^ {2}- (\S+) \[([^\]]+)\]$/gm)].map(([, name, versions]) => ({
    name,
    versions: versions.split(","),
  }));
}

/** The block under "Client scenarios" or "Server scenarios"; what is not scored is below both. */
export function readRequired(role, text) {
  const heading = { client: /^Client scenarios.*$/m, server: /^Server scenarios.*$/m }[role];
  const block = text.split(heading)[1]?.split(/\n\n/)[0] ?? "";
  return [...block.matchAll(/^ {2}- (\S+)$/gm)].map(([, name]) => name);
}

function ask(args) {
  const { status, stdout, stderr, error } = spawnSync(SUITE_NODE, [SUITE_ENTRY, ...args], {
    encoding: "utf8",
  });
  if (status === 0) return stdout;
  throw new Error(`the suite did not answer ${args.join(" ")}: ${stderr ?? error?.message}`, {
    cause: error,
  });
}
