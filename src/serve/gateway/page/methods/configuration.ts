// What the page reads of the configuration: the entry of a server, and what could be added.

import { z } from "zod";
import { PlugboardError } from "../../../../core/types/errors.ts";
import type { PageConfiguration } from "../configuration.ts";
import { type Methods, NAME, WORDS } from "../method.ts";

const LONGEST = 200_000;

const SOURCE = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("command"), line: z.string().max(LONGEST) }),
  z.strictObject({ kind: z.literal("url"), url: z.string().max(LONGEST) }),
  z.strictObject({ kind: z.literal("json"), json: z.string().max(LONGEST) }),
  z.strictObject({ kind: z.literal("offer"), word: z.string().max(LONGEST), way: NAME.optional() }),
]);

export function configurationMethods(
  given: PageConfiguration | undefined,
): Methods<"add/search" | "add/read" | "servers/entry"> {
  const configuration = (): PageConfiguration => requireConfiguration(given);
  return {
    "add/search": {
      takes: z.strictObject({ words: WORDS }),
      run: ({ words }) => configuration().search(words),
    },
    "add/read": {
      takes: z.strictObject({ source: SOURCE }),
      run: async ({ source }) => ({ offers: await configuration().read(source) }),
    },
    "servers/entry": {
      takes: z.strictObject({ agent: NAME, server: NAME }),
      run: ({ agent, server }) => configuration().entry(agent, server),
    },
  };
}

/** Throws UNSUPPORTED for a gateway that has no file. */
export function requireConfiguration(given: PageConfiguration | undefined): PageConfiguration {
  if (given !== undefined) return given;
  throw new PlugboardError("UNSUPPORTED", "this gateway does not know its configuration file");
}
