// What somebody may do by the claims of their token: the first entry of `gateway.jwt.rights` that fits decides. A claim is what
// an issuer says, in whatever form it likes, so that only whole texts count, and only the token's own.

import type { JWTPayload } from "jose";
import type { TokenPolicy } from "../../../core/types/caller.ts";
import type { JwtRight } from "../../../core/types/gateway-settings.ts";
import { isJsonObject } from "../../../core/types/json.ts";
import { oneLine } from "../../../util/text.ts";

/**
 * The entries that fit a token, in their order. `withheld` names a claim that decides and that the issuer has left out of the
 * token: nobody knows whether its entry fits, so that nothing after it counts.
 */
export type FittingRights = readonly (JwtRight & { withheld?: string })[];

type RightFound =
  | { kind: "found"; right: JwtRight }
  | { kind: "none" }
  | { kind: "withheld"; claim: string };

export function fittingRights(
  payload: JWTPayload,
  issuer: string,
  rights: readonly JwtRight[],
): FittingRights {
  return rights
    .filter((right) => right.issuer === issuer)
    .flatMap((right): FittingRights => {
      const withheld = withheldIn(payload, right);
      if (withheld !== undefined) return [{ ...right, withheld }];
      const values = valuesOf(payload, right.claim);
      return right.has.some((wanted) => values.includes(wanted)) ? [right] : [];
    });
}

/** For an agent; or for the gateway as a whole, which takes a right for every agent. */
export function rightFor(agent: string | undefined, fitting: FittingRights): RightFound {
  return firstOf(fitting, (right) => isForCalls(right) && isForAgent(right, agent));
}

/** For the page. */
export function roleIn(fitting: FittingRights): RightFound {
  return firstOf(fitting, ({ role }) => role !== undefined);
}

/** Whether it lets anybody call something. Somebody who only looks calls nothing. */
export function isForCalls({ role, agents, allow }: JwtRight): boolean {
  return role !== "viewer" || agents !== undefined || allow !== undefined;
}

export function isForAgent({ agents }: JwtRight, agent: string | undefined): boolean {
  return agents === undefined || (agent !== undefined && agents.includes(agent));
}

/** `agent`: whose calls its quota counts, if it is for some agents alone. */
export function policyIn(
  { allow, role, quota, agents }: JwtRight,
  agent: string | undefined,
): TokenPolicy | undefined {
  const policy: TokenPolicy = {
    ...(allow && { tools: { allow: [...allow] } }),
    ...(quota && { quota }),
    ...(quota && agents !== undefined && agent !== undefined && { quotaOf: agent }),
    ...(role === "owner" && { owner: true }),
  };
  return Object.keys(policy).length > 0 ? policy : undefined;
}

/** Why somebody is refused although they may well have a right. */
export function withheldClaim(claim: string): string {
  return (
    `the provider has left "${oneLine(claim, 100)}" out of this token, as Entra does with groups of people who are in too many, ` +
    "so that nobody can tell what its holder may do; let it give only the groups that are assigned to the application, or app roles"
  );
}

function firstOf(fitting: FittingRights, isMeant: (right: JwtRight) => boolean): RightFound {
  const found = fitting.find(isMeant);
  if (found === undefined) return { kind: "none" };
  return found.withheld === undefined
    ? { kind: "found", right: found }
    : { kind: "withheld", claim: found.withheld };
}

function valuesOf(payload: JWTPayload, claim: readonly string[]): readonly string[] {
  const value = valueAt(payload, claim);
  const [name] = claim;
  // Anybody can have an address at a provider that never asked whose it is.
  if (name === "email" && ownValue(payload, "email_verified") !== true) return [];
  if (typeof value === "string") {
    const isScope = claim.length === 1 && (name === "scope" || name === "scp");
    return isScope ? value.split(" ") : [value];
  }
  return Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
}

function valueAt(payload: JWTPayload, claim: readonly string[]): unknown {
  let value: unknown = payload;
  for (const name of claim) value = ownValue(value, name);
  return value;
}

function ownValue(value: unknown, name: string): unknown {
  return isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

/** OpenID Connect's distributed claims, and `hasgroups`: Entra's tokens say so of people in too many groups. */
function withheldIn(payload: JWTPayload, { claim: [name = ""] }: JwtRight): string | undefined {
  const elsewhere = ownValue(ownValue(payload, "_claim_names"), name);
  const hasGroups = name === "groups" && ownValue(payload, "hasgroups") !== undefined;
  return elsewhere !== undefined || hasGroups ? name : undefined;
}
