// How it stands with the sign-ins of servers, from what is stored alone: nothing is sent, and no token leaves this file.

import { covers } from "../auth/scope.ts";
import { authStore, type Grant, grantKey, serverKey } from "../auth/store.ts";
import { expandValue } from "../config/resolve.ts";
import { isRemote, type RemoteTarget, type ServerDefinition } from "../types/server-definition.ts";
import { mentionsSecret } from "../types/secret-reference.ts";
import type { GrantStore } from "../types/shared-state.ts";
import type { Clock } from "../../util/clock.ts";
import type { Environment } from "../../util/environment.ts";
import { hasOwnCredentials } from "./matching-server.ts";

export type SignInState = { server: string } &
  /** The server has asked for a sign-in before, and there are no tokens. */
  (
    | { kind: "missing" }
    /** The token is of no use any more, and there is none to renew it with. */
    | { kind: "expired"; expiresAt: number }
    /** It will be so. */
    | { kind: "ending"; expiresAt: number }
    /** `wanted` is the scope that the server asks for. */
    | { kind: "too-narrow"; wanted: string }
    | { kind: "valid" }
  );

export interface SignInStateOptions {
  grants: GrantStore;
  env: Environment;
  clock: Pick<Clock, "now">;
}

/** Without servers that have never asked for a sign-in, or get their credentials from the configuration. */
export async function readSignIns(
  servers: readonly ServerDefinition[],
  options: SignInStateOptions,
): Promise<SignInState[]> {
  const found = await Promise.all(
    servers.map(async ({ name, target }): Promise<SignInState[]> => {
      if (!isRemote(target) || !mayBeSignedIn(target)) return [];
      const state = await readSignIn(target, options);
      return state === undefined ? [] : [{ server: name, ...state }];
    }),
  );
  return found.flat();
}

function mayBeSignedIn(target: RemoteTarget): boolean {
  const { oauth, url } = target;
  if (oauth === false || hasOwnCredentials(target)) return false;
  // A machine signs in by itself. An address with a secret in it is known only to who resolves it.
  const isPersons = oauth?.grant === undefined || oauth.grant === "authorization_code";
  return isPersons && !mentionsSecret(url);
}

type State = SignInState extends infer Each
  ? Each extends object
    ? Omit<Each, "server">
    : never
  : never;

async function readSignIn(
  { url, oauth }: RemoteTarget,
  { grants, env, clock }: SignInStateOptions,
): Promise<State | undefined> {
  const store = authStore(grants);
  const address = valueOf(url, env);
  const known = address === undefined ? undefined : await store.read("server", serverKey(address));
  if (address === undefined || known === undefined) return undefined;
  const { clientId } = oauth || {};
  const client = clientId === undefined ? undefined : valueOf(clientId, env);
  const grant = await store.read("grant", grantKey(known.discovery, address, client));
  if (grant === undefined) return { kind: "missing" };
  const { wantedScope } = known;
  if (wantedScope !== undefined && !covers(grant.scope, wantedScope)) {
    return { kind: "too-narrow", wanted: wantedScope };
  }
  return stateOf(grant, clock.now());
}

function stateOf({ tokens, expiresAt }: Grant, now: number): State {
  if (expiresAt === undefined || tokens.refresh_token !== undefined) return { kind: "valid" };
  return { kind: expiresAt <= now ? "expired" : "ending", expiresAt };
}

/** Undefined if a variable in it is not set: the server says so when it starts. */
function valueOf(text: string, env: Environment): string | undefined {
  try {
    return expandValue(text, "", env);
  } catch {
    return undefined;
  }
}
