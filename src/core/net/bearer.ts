// A bearer token in an `Authorization` header (RFC 6750): what it may consist of, and how it is read.

const TOKEN = /^[\w.~+/-]+=*$/;
const SCHEME = /^bearer +/i;
/** The JWT of a large organization has several KB. */
const LONGEST = 16 * 1024;

/** Whether a header can carry the text as a bearer token. */
export function isBearerToken(text: string): boolean {
  return TOKEN.test(text);
}

/** Undefined if the header carries no bearer token, or one that is too long. */
export function bearerToken(authorization: string): string | undefined {
  if (authorization.length > LONGEST || !SCHEME.test(authorization)) return undefined;
  const token = authorization.replace(SCHEME, "");
  return isBearerToken(token) ? token : undefined;
}
