// What people are shown in place of a caller's id.

import { type Caller, tokenCaller } from "../../../core/types/caller.ts";
import type { TokenStore } from "../../../core/types/shared-state.ts";
import { shortHash } from "../../../util/short-hash.ts";
import { oneLine } from "../../../util/text.ts";

const LONGEST_LABEL = 100;
const HASH_LENGTH = 12;

/**
 * Somebody whom an issuer knows. The label has the issuer in it: a subject may be called what a token is called, and two
 * issuers, even of one host, may have the same one. A subject that is too long to be shown gets a hash, so that two of them
 * look different in the audit and to their owners.
 */
export function subjectCaller(issuer: string, subject: string): Caller {
  const { host, pathname } = new URL(issuer);
  const shown = oneLine(subject, LONGEST_LABEL);
  const name = shown === subject ? shown : `${shown} #${shortHash(subject).slice(0, HASH_LENGTH)}`;
  const label = `${name} (${host}${pathname.replace(/\/$/, "")})`;
  return { id: `jwt:${issuer}#${subject}`, label };
}

/** The labels of callers that are known by their id alone. A token that was revoked keeps its id. */
export async function callerLabels(
  tokens: Pick<TokenStore, "list">,
): Promise<(id: string) => string> {
  const names = new Map((await tokens.list()).map(({ id, name }) => [tokenCaller(id), name]));
  return (id) => {
    const [, issuer, subject] = /^jwt:([^#]+)#(.*)$/s.exec(id) ?? [];
    if (issuer === undefined || subject === undefined || !URL.canParse(issuer))
      return names.get(id) ?? id;
    return subjectCaller(issuer, subject).label;
  };
}
