// One thing that the page can ask the gateway for: who may ask, and what a request looks like.

import { z } from "zod";
import { PlugboardError } from "../../../core/types/errors.ts";
import type { JsonObject } from "../../../core/types/json.ts";
import { oneLine } from "../../../util/text.ts";
import type { Visitor } from "./visitors.ts";
import type { PageRequests } from "./wire.ts";

export interface Method<Name extends keyof PageRequests> {
  /** Whether viewers may ask for it too. */
  isForViewers?: boolean;
  takes: z.ZodType<PageRequests[Name]["takes"]>;
  run(input: PageRequests[Name]["takes"], visitor: Visitor): Promise<PageRequests[Name]["gives"]>;
}

/** The methods of one file of methods/, by their names. */
export type Methods<Names extends keyof PageRequests> = { readonly [Name in Names]: Method<Name> };

const LONGEST_NAME = 500;

export const NAME = z.string().min(1).max(LONGEST_NAME);
/** How long the name of a tool may be. Servers choose it. */
export const LONGEST_TOOL = 2000;
/** What somebody searches for. */
export const WORDS = z.string().max(LONGEST_NAME);

export const NOTHING = z.strictObject({});
export const ONE_SERVER = z.strictObject({ agent: NAME, server: NAME });

/** Throws INVALID_ARGUMENTS. */
export function checked<Input>(shape: z.ZodType<Input>, body: JsonObject): Input {
  const read = shape.safeParse(body);
  if (read.success) return read.data;
  throw new PlugboardError("INVALID_ARGUMENTS", "the request is not as expected", {
    hint: oneLine(z.prettifyError(read.error), LONGEST_NAME),
  });
}
