// What is loaded with its first use must be known to those that load everything at their start.

import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { loadCallPath } from "../../../src/core/board/call-path.ts";

const CORE = fileURLToPath(new URL("../../../src/core", import.meta.url));
const CALL_PATH = "board/call-path.ts";

/** Loaded later by none of the processes that run for long, or only once, at their start. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  "process/reap-orphans.ts": "a board reaps when it is opened",
  "state/engines/open.ts": "a gateway opens its state before anything else",
  "board/agent-secrets.ts": "the passwords of its engines, at the same moment",
  "@humanwhocodes/momoa": "arguments that a person types",
};

/** The modules that each file of the core imports where it needs them. */
function importedLater(): Map<string, string[]> {
  const files = readdirSync(CORE, { recursive: true, encoding: "utf8" });
  return new Map(
    files
      .filter((file) => file.endsWith(".ts"))
      .map((file) => {
        const code = readFileSync(join(CORE, file), "utf8");
        const found = [...code.matchAll(/(?<!typeof )\bimport\("([^"]+)"\)/g)].map(
          ([, name = ""]) =>
            name.startsWith(".") ? relative(CORE, join(CORE, dirname(file), name)) : name,
        );
        return [file, found];
      }),
  );
}

it("every module that is loaded with its first use is among what a process loads at its start", () => {
  const all = importedLater();
  const loaded = new Set([...(all.get(CALL_PATH) ?? []), ...Object.keys(ELSEWHERE)]);
  all.delete(CALL_PATH);
  const missing = [...new Set([...all.values()].flat())].filter((name) => !loaded.has(name));
  expect(missing).toEqual([]);
});

it("all of it can be loaded", async () => {
  await expect(loadCallPath()).resolves.toBeUndefined();
});

/** What a file imports when it is loaded, with what that imports. */
function importedAtOnce(file: string, found = new Set<string>()): Set<string> {
  if (found.has(file)) return found;
  found.add(file);
  const code = readFileSync(join(CORE, file), "utf8");
  const imported = code.matchAll(/^(?:import|export)\s(?!type\b)[^;]*?from "([^"]+)"/gm);
  for (const [, name = ""] of imported) {
    if (name.startsWith("."))
      importedAtOnce(relative(CORE, join(CORE, dirname(file), name)), found);
    else found.add(name);
  }
  return found;
}

it.each(["upstream/connect.ts", "net/target-fetch.ts", "board/open-authorizer.ts"])(
  "%s, which the first start of a server needs, is loaded without the SDK",
  (file) => {
    const found = [...importedAtOnce(file)];
    expect(found.length).toBeGreaterThan(10);
    expect(found.filter((name) => name.startsWith("@modelcontextprotocol/"))).toEqual([]);
  },
);
