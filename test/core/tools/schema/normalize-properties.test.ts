import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { normalizeSchema } from "../../../../src/core/tools/schema/normalize.ts";
import { PlugboardError } from "../../../../src/core/types/errors.ts";
import type { JsonObject } from "../../../../src/core/types/json.ts";
import { checkers, providers } from "../../../support/schema-rules/check.ts";
import { validator } from "../../../support/schema-rules/json-schema.ts";
import { tame, valuesOf, wild } from "./support/arbitrary.ts";

/** Hundreds of schemas each: generous, since a slow machine is no failure. */
const SLOW_MS = 60_000;

describe.each(providers)("any schema, for %s", { timeout: SLOW_MS }, (provider) => {
  it("comes out within the provider's rules, or is refused", () => {
    fc.assert(
      fc.property(wild, (schema) => {
        const before = JSON.stringify(schema);
        try {
          const { schema: result } = normalizeSchema(schema, provider);
          expect(checkers[provider](result)).toEqual([]);
        } catch (error) {
          if (!(error instanceof PlugboardError)) throw error;
          expect(error.code).toBe("UNSUPPORTED");
        }
        expect(JSON.stringify(schema)).toBe(before);
      }),
      { numRuns: 150 },
    );
  });

  it("comes out the same each time", () => {
    fc.assert(
      fc.property(tame, (schema) => {
        const [first, second] = [1, 2].map(() => normalizeSchema(schema, provider));
        expect(second?.schema).toEqual(first?.schema);
        expect(second?.notes).toEqual(first?.notes);
      }),
      { numRuns: 50 },
    );
  });

  it("gets arguments back that its server takes", () => {
    const cases = tame.chain((schema) => {
      const normalized = normalizeSchema(schema, provider);
      return fc.record({
        schema: fc.constant(schema),
        normalized: fc.constant(normalized),
        args: valuesOf(normalized.schema),
      });
    });
    fc.assert(
      fc.property(cases, ({ schema, normalized, args }) => {
        expect(checkers[provider](normalized.schema)).toEqual([]);
        const original = normalized.toOriginal(args as JsonObject);
        expect(validator(schema)(original), JSON.stringify({ original })).toBeUndefined();
      }),
      { numRuns: 120 },
    );
  });
});

describe("arguments for a schema that a provider takes nearly as it is", () => {
  it("come back as they were given", { timeout: SLOW_MS }, () => {
    const cases = tame.chain((schema) => {
      const normalized = normalizeSchema(schema, "openai");
      return fc.tuple(fc.constant(normalized), valuesOf(normalized.schema));
    });
    fc.assert(
      fc.property(cases, ([normalized, args]) => {
        expect(normalized.toOriginal(args as JsonObject)).toEqual(args);
      }),
      { numRuns: 120 },
    );
  });
});
