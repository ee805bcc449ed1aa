// The configuration: the entry of a server, what could be added, and changes. A change takes two requests: one shows it, the
// other confirms what was shown. What changes the file of an application of this machine is such a change too.

import { z } from "zod";
import { PlugboardError } from "../../../../core/types/errors.ts";
import type { Changes } from "../changes.ts";
import type { PageConfiguration } from "../configuration.ts";
import { type Methods, NAME, NOTHING, ONE_SERVER, WORDS } from "../method.ts";
import type { ApplicationFacts } from "../wire.ts";

const LONGEST = 200_000;

const SOURCE = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("command"), line: z.string().max(LONGEST) }),
  z.strictObject({ kind: z.literal("url"), url: z.string().max(LONGEST) }),
  z.strictObject({ kind: z.literal("json"), json: z.string().max(LONGEST) }),
  z.strictObject({ kind: z.literal("offer"), word: z.string().max(LONGEST), way: NAME.optional() }),
]);

export interface ConfigurationMethodsOptions {
  configuration?: PageConfiguration | undefined;
  changes: Changes;
  /** The applications of this machine. Absent: this gateway does not look for them. */
  applications?: () => Promise<ApplicationFacts[]>;
}

export function configurationMethods({
  configuration: given,
  changes,
  applications,
}: ConfigurationMethodsOptions): Methods<
  | "add/search"
  | "add/read"
  | "servers/entry"
  | "changes/preview"
  | "changes/confirm"
  | "applications/list"
> {
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
      takes: ONE_SERVER,
      run: ({ agent, server }) => configuration().entry(agent, server),
    },
    "changes/preview": {
      takes: z.strictObject({ change: z.looseObject({ kind: NAME }) }) as never,
      run: ({ change }, visitor) => changes.preview(change, visitor),
    },
    "changes/confirm": {
      takes: z.strictObject({ hash: NAME }),
      run: ({ hash }, visitor) => changes.confirm(hash, visitor),
    },
    "applications/list": {
      takes: NOTHING,
      run: async () => {
        if (applications !== undefined) return { applications: await applications() };
        throw new PlugboardError("UNSUPPORTED", "this gateway does not look for applications");
      },
    },
  };
}

/** Throws UNSUPPORTED for a gateway that has no file. */
export function requireConfiguration(given: PageConfiguration | undefined): PageConfiguration {
  if (given !== undefined) return given;
  throw new PlugboardError("UNSUPPORTED", "this gateway does not know its configuration file");
}
