// A server's configuration without the credentials in it: for people to read, and for a file.

export { withoutCredentials } from "../secrets/hide.ts";
export { type Variables, withReferences } from "../secrets/references.ts";
