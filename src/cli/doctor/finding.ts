// What `plugboard doctor` says: findings, and the groups of checks that find them.

import type { DoctorContext } from "./context.ts";

export type FindingLevel = "ok" | "note" | "warning" | "broken";

interface Found {
  /** Stable, for programs: `node-version`, `rule-matches-nothing`. */
  check: string;
  /** The server, file, secret, application or rule that it is about. */
  subject?: string;
  /** The fact, its place, and its cause. */
  message: string;
}

/** Everything that is not as it should be comes with a remedy. */
export type Finding = Found &
  (
    | { level: "ok" }
    | {
        level: "note" | "warning" | "broken";
        /** What to do: a sentence, which may end with a command, as in `to sign in: plugboard login docs`. */
        remedy: string;
        /** A repair that is safe to make without asking: it changes nothing that the user has written. */
        fix?: Fix;
      }
  );

interface Fix {
  /** The change that the fix would make: `make /home/me/.plugboard writable for you alone`. */
  describe: string;
  /** Says what was done. Rejects if it could not be done. */
  apply: () => Promise<string>;
}

export interface CheckGroup {
  title: string;
  /** Also run where the command is about one server. By default it is left out then. */
  concernsServer?: boolean;
  run: (context: DoctorContext) => AsyncIterable<Finding> | Promise<Finding[]>;
}
