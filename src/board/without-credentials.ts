// A server's configuration for people to read: without the credentials in it.

export { withoutCredentials } from "../secrets/hide.ts";
