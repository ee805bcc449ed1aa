// Packages for the tests of the registry: an `npx` that starts a server whose tools are in a file named after the package
// and its version, and a person at a terminal.

import { chmodSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import type { JsonObject } from "../../../../src/model/json.ts";
import { fixture } from "../../../support/boards.ts";
import { type Scratch, Sink } from "../harness.ts";

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

/** Somebody at a terminal, who gives these answers one by one. */
export function asked(
  scratch: Scratch,
  argv: string[],
  env: Record<string, string>,
  ...answers: [question: string, answer: string][]
) {
  const stdin = Object.assign(new PassThrough(), { isTTY: true });
  const stderr = new Sink({ columns: 10_000, rows: 24 });
  const running = scratch.start(argv, { stdin, stderr, env });
  void (async () => {
    for (const [question, answer] of answers) {
      await stderr.until(question);
      stdin.write(answer);
    }
  })();
  return running.done;
}
