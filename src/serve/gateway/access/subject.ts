// Which texts can be the subject of a token.

/** OpenID Connect allows 255. */
export const LONGEST_SUBJECT = 255;
/** What PostgreSQL can store: no zero, and no half of a character, of which two would be one there. */
const SUBJECT = /^[^\0\p{Cs}]+$/u;

export function isSubject(text: string): boolean {
  return text.length <= LONGEST_SUBJECT && SUBJECT.test(text);
}
