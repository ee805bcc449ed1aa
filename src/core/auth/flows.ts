// Everything that talks to authorization servers, as one module: it needs the SDK, so the authorizer loads it only when a
// server wants a token and none is stored. Most servers never want one.

export { computeScopeUnion } from "@modelcontextprotocol/client";
export { knownClient, signInClient } from "./client.ts";
export { discover } from "./discover.ts";
export { clientCredentials, refresh, revoke, toGrant } from "./grants.ts";
export { covers, scopeFor } from "./scope.ts";
export { beginSignIn, finishSignIn, signIn } from "./sign-in.ts";
export { signInError } from "./sign-in-error.ts";
