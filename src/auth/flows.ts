// What talks to authorization servers, with the SDK. The authorizer loads it when a server wants a token that there is
// not: most servers never do.

export { computeScopeUnion } from "@modelcontextprotocol/client";
export { knownClient } from "./client.ts";
export { discover } from "./discover.ts";
export { clientCredentials, refresh, revoke, toGrant } from "./grants.ts";
export { covers, scopeFor } from "./scope.ts";
export { signIn } from "./sign-in.ts";
export { signInError } from "./sign-in-error.ts";
