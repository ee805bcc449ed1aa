// Packages for the tests of the registry: an `npx` that starts a server whose tools are in a file named after the package
// and its version, and a person at a terminal.

import { chmodSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "../../../src/core/types/json.ts";
import { fixture } from "../../support/boards.ts";
import type { Scratch } from "../harness.ts";

export interface Packages {
  /** What a command needs to find `npx`, and nothing else. */
  env: (more?: Record<string, string>) => Record<string, string>;
  publish: (version: string, tools: readonly object[]) => void;
}

export const NAME = "io.github.someone/notes";

/** To be called in a test. */
export function packages(scratch: Scratch, registry: string): Packages {
  mkdirSync(join(scratch.directory, "bin"));
  const { command = "", args = [] } = fixture("from-file");
  const npx = scratch.file(
    "bin/npx",
    `#!/bin/sh\nexec "${command}" "${args[0]}" "--file=${scratch.directory}/$2.json"\n`,
  );
  chmodSync(npx, 0o755);
  return {
    env: (more = {}) => ({
      PATH: join(scratch.directory, "bin"),
      PLUGBOARD_REGISTRY: registry,
      NO_COLOR: "1",
      ...more,
    }),
    publish: (version, tools) => void scratch.file(`notes-mcp@${version}.json`, { tools }),
  };
}

/** The server.json of one version. */
export function notes(version: string, parts: JsonObject = {}): { server: JsonObject } {
  return {
    server: {
      name: NAME,
      description: "Keeps notes",
      version,
      packages: [
        {
          registryType: "npm",
          identifier: "notes-mcp",
          version,
          transport: { type: "stdio" },
          ...parts,
        },
      ],
    },
  };
}
