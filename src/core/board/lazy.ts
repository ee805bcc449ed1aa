// The modules that the board loads when they are first needed, so that listing tools from the cache does not pay
// for them.

/** Starts servers and talks to them. */
export const loadConnect = () => import("../upstream/connect.ts");
/** The stages around a call. */
export const loadCallStages = () => import("./call-stages.ts");
/** OAuth, for servers that ask for a sign-in. */
export const loadAuthorizer = () => import("./open-authorizer.ts");
/** Ends what killed hosts left behind. Servers need not wait for it. */
export const loadReapOrphans = () => import("../process/reap-orphans.ts");
/** The check of an example against its schema. */
export const loadSchemaCheck = () => import("../guard/output/compile.ts");
/** The index of the tools, for boards that are searched. */
export const loadCatalogSearch = () => import("../catalog/search/search.ts");
