// Keeps the credentials of the servers that a client brings out of what a face writes about the session.

import type { Endpoint } from "../model/server-definition.ts";
import { protect } from "../secrets/protect.ts";
import { Redactor } from "../secrets/redactor.ts";

export class SessionRedactor extends Redactor {
  /** Redacts the credentials in these endpoints from now on. They are as the client sent them, without `${VAR}`. */
  hide(endpoints: Iterable<Endpoint>): void {
    for (const endpoint of endpoints) {
      protect(this, endpoint, endpoint, {});
    }
  }
}
