// What every server.json of the test registry becomes, word for word. `ways-golden.json` was read by a person; where a change
// of it is meant, run this with UPDATE_GOLDEN=1 and read the difference.

import { readFileSync, writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import { parseAgentConfig } from "../../../src/core/config/parse.ts";
import { errorMessage } from "../../../src/util/error-message.ts";
import { readEntry } from "../../../src/install/registry/server-json.ts";
import { type Way, waysOf } from "../../../src/install/registry/ways.ts";
import { serverJson, serverJsonNames } from "../../fixtures/registry/registry.ts";

const GOLDEN = new URL("./ways-golden.json", import.meta.url);

/** With every required input filled in by its key, and every secret one by its variable. */
function becomes(way: Way): unknown {
  if (way.kind === "unusable") return `unusable: ${way.why}`;
  if (way.kind === "bundle") return `bundle: ${way.url} ${way.sha256}`;
  const { offer } = way;
  const inputs = offer.inputs.map(({ key, isRequired, isSecret, isMultiple }) =>
    [key, isRequired && "required", isSecret && "secret", isMultiple && "multiple"]
      .filter(Boolean)
      .join(" "),
  );
  const given = offer.inputs
    .filter(({ isRequired, default: preset }) => isRequired && preset === undefined)
    .map(({ key, variable }): [string, string[]] => [
      key,
      [variable ? `\${${variable}}` : `my-${key}`],
    ]);
  try {
    const server = offer.build(new Map(given));
    parseAgentConfig({ servers: { [offer.name]: server } });
    return { inputs, ...server };
  } catch (error) {
    return `refused: ${errorMessage(error)}`;
  }
}

const now = Object.fromEntries(
  serverJsonNames().map((name) => {
    const entry = readEntry({ server: serverJson(name) });
    if (typeof entry === "string") return [name, entry];
    const ways = waysOf(entry, "https://registry.example");
    return [name, Object.fromEntries(ways.map((way) => [way.id, becomes(way)]))];
  }),
);
if (process.env["UPDATE_GOLDEN"]) writeFileSync(GOLDEN, `${JSON.stringify(now, undefined, 2)}\n`);
const golden = JSON.parse(readFileSync(GOLDEN, "utf8")) as Record<string, unknown>;

it("there are at least forty of them", () => {
  expect(Object.keys(golden).length).toBeGreaterThanOrEqual(40);
});

it.each(serverJsonNames())("%s", (name) => {
  expect(now[name]).toEqual(golden[name]);
});
