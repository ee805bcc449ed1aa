import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { normalizeSchema } from "../../../../src/core/tools/schema/normalize.ts";
import type { JsonObject } from "../../../../src/core/types/json.ts";
import { checkers, providers } from "../../../support/schema-rules/check.ts";
import { sample } from "./support/sample.ts";
import { validator } from "../../../support/schema-rules/json-schema.ts";

interface Listed {
  name: string;
  inputSchema: JsonObject;
}

const FOLDER = new URL("../../../fixtures/schemas/", import.meta.url);
const files = readdirSync(FOLDER).filter((file) => file.endsWith(".json"));
const servers = files.map((file) => ({
  server: file.replace(/\.json$/, ""),
  tools: JSON.parse(readFileSync(new URL(file, FOLDER), "utf8")) as Listed[],
}));

/** Compiling hundreds of schemas: generous, since a slow machine is no failure. */
const SLOW_MS = 60_000;

describe("schemas of published servers", { timeout: SLOW_MS }, () => {
  it("come from at least ten", () => {
    expect(servers.length).toBeGreaterThanOrEqual(10);
  });

  describe.each(servers)("$server", ({ tools }) => {
    it.each(providers)("meet the rules of %s", (provider) => {
      const faults = tools.flatMap(({ name, inputSchema }) =>
        checkers[provider](normalizeSchema(inputSchema, provider).schema).map(
          (fault) => `${name} ${fault}`,
        ),
      );
      expect(faults).toEqual([]);
    });

    it("stay as they were", () => {
      const before = JSON.stringify(tools);
      for (const { inputSchema } of tools) {
        for (const provider of providers) normalizeSchema(inputSchema, provider);
      }
      expect(JSON.stringify(tools)).toBe(before);
    });

    it.each(providers)("get arguments back that the server takes, from %s", (provider) => {
      const faults: string[] = [];
      for (const { name, inputSchema } of tools) {
        const normalized = normalizeSchema(inputSchema, provider);
        const validate = validator(inputSchema);
        for (const full of [false, true]) {
          const args = sample(normalized.schema, full) as JsonObject;
          const fault = validate(normalized.toOriginal(args));
          if (fault !== undefined) faults.push(`${name}: ${fault} ${JSON.stringify(args)}`);
        }
      }
      expect(faults).toEqual([]);
    });
  });
});
