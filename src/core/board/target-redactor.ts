// Keeps the credentials of the servers that a client brings out of what is written about the client's session.

import type { ServerTarget } from "../types/server-definition.ts";
import { protect } from "../redaction/protect.ts";
import { Redactor } from "../redaction/redactor.ts";

export class TargetRedactor extends Redactor {
  /** Redacts the credentials in these targets from now on. They are as the client sent them, without `${VAR}`. */
  hide(targets: Iterable<ServerTarget>): void {
    for (const target of targets) {
      protect(this, target, target, {});
    }
  }
}
