// A server's configuration without the credentials in it: for people to read, and for a file.

export { MARK, withoutCredentials } from "../redaction/hide.ts";
export {
  type CredentialPlace,
  plaintextCredentials,
  replaceCredentials,
  type Variables,
  withReferences,
} from "../redaction/with-references.ts";
