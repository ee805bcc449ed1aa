// The sign-ins to remote servers, as they are stored: whether each is still valid, and can be renewed without you.

import { readSignIns, type SignInState } from "../../core/board/sign-in-state.ts";
import { isExchanged, isPerUser, isRemote } from "../../core/types/server-definition.ts";
import { duration } from "../../util/text.ts";
import { visible } from "../../util/visible.ts";
import type { CliContext } from "../context.ts";
import { LiveConfig } from "../live-config.ts";
import { withSharedState } from "../shared-state.ts";
import type { CheckGroup, Finding } from "./finding.ts";

export const signInGroup: CheckGroup = {
  title: "Sign-ins",
  concernsServer: true,
  async run({ quiet, config, server }) {
    const found = await config();
    if (found.kind !== "usable") return [];
    const { clock, io } = quiet;
    const servers = found.agent.servers.filter(
      ({ name, enabled, target }) =>
        enabled && isRemote(target) && (server === undefined || server === name),
    );
    if (servers.length === 0) return [];
    const states = await withSharedState(quiet, ({ grants }) =>
      readSignIns(servers, { grants, env: io.env, clock }),
    );
    const forEach = new Set(servers.filter(isPerUser).map(({ name }) => name));
    return [
      // One that is missing is the owner's, who may have no use for it.
      ...states
        .filter(({ kind, server: name }) => kind !== "missing" || !forEach.has(name))
        .map((state) => toFinding(state, clock.now())),
      ...(await withoutJwts(
        servers.filter(isExchanged).map(({ name }) => name),
        quiet,
      )),
    ];
  },
};

/** Servers for whose tokens nobody has anything to exchange. */
async function withoutJwts(names: readonly string[], context: CliContext): Promise<Finding[]> {
  if (names.length === 0) return [];
  await using live = await LiveConfig.open(context);
  const { settings } = await live.readGateway();
  if (settings.jwt !== undefined) return [];
  return names.map((subject) => ({
    level: "broken",
    check: "nothing-to-exchange",
    subject,
    message: `nobody can use '${visible(subject)}': callers' JWTs are exchanged for its tokens, and the gateway takes none`,
    remedy: "add the issuer of your callers' JWTs to gateway.jwt.issuers",
  }));
}

/** Somebody who has to sign in again within this time may want to do it now. */
const SOON_MS = 24 * 3_600_000;

export function toFinding(state: SignInState, now: number): Finding {
  const { server } = state;
  const name = visible(server);
  const login = `plugboard login ${name}`;
  const subject = server;
  switch (state.kind) {
    case "missing":
      return {
        level: "note",
        check: "sign-in-missing",
        subject,
        message: `you are not signed in to '${name}', which asks for it`,
        remedy: `to sign in: ${login}`,
      };
    case "expired":
      return {
        level: "broken",
        check: "sign-in-expired",
        subject,
        message: `the sign-in to '${name}' ended ${duration(now - state.expiresAt)} ago, and cannot be renewed without you: there is no refresh token`,
        remedy: `to sign in again: ${login}`,
      };
    case "too-narrow":
      return {
        level: "warning",
        check: "sign-in-scope",
        subject,
        message: `the sign-in to '${name}' lacks a permission that the server asks for (${visible(state.wanted)})`,
        remedy: `to sign in with it: ${login}`,
      };
    case "ending": {
      const left = state.expiresAt - now;
      const message = `the sign-in to '${name}' ends in ${duration(left)}, and cannot be renewed without you`;
      if (left > SOON_MS) return { level: "ok", check: "sign-in", subject, message };
      return {
        level: "note",
        check: "sign-in-ending",
        subject,
        message,
        remedy: `to sign in again: ${login}`,
      };
    }
    case "valid":
      return { level: "ok", check: "sign-in", subject, message: `signed in to '${name}'` };
  }
}
