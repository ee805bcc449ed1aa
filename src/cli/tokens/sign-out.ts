// `plugboard tokens signout`: ends what people have whom an identity provider has signed in.

import { loadGateway } from "../../core/config/gateway.ts";
import type { TokenStore } from "../../core/types/shared-state.ts";
import { subjectCaller } from "../../serve/gateway/access/caller-label.ts";
import { isSubject } from "../../serve/gateway/access/subject.ts";
import { inWords, oneLine } from "../../util/text.ts";
import type { CliContext } from "../context.ts";
import { findSource } from "../find-source.ts";
import { wrong } from "../wrong.ts";

/** `person` is absent for everybody. */
export async function signOut(
  person: string | undefined,
  tokens: TokenStore,
  context: CliContext,
): Promise<void> {
  const { screen, options } = context;
  const callers = person === undefined ? undefined : callersNamed(person, await issuers(context));
  if (callers === undefined) await tokens.signOut();
  else for (const { id } of callers) await tokens.signOut(id);
  if (options.json) return screen.json({ signedOut: callers ?? "all" });
  const who =
    callers === undefined
      ? "everybody"
      : inWords(
          callers.map(({ label }) => label),
          "and",
        );
  screen.lines([`signed out of the gateway: ${who}`]);
  screen.note("their JWTs, and their visits to the page, end within two seconds at every gateway");
  screen.note("what the provider issues 30 s from now or later counts again: clocks differ");
  if (callers !== undefined) {
    screen.note("nobody checks whether there is such a subject: plugboard audit shows who calls");
  }
}

async function issuers(context: CliContext): Promise<string[]> {
  const { cwd, homedir } = context.io;
  const source = findSource(context);
  if (source.kind !== "file") return [];
  const { settings } = await loadGateway(source.path, { cwd, homedir, base: source.base });
  return settings.jwt?.issuers.map(({ issuer }) => issuer) ?? [];
}

/** By the subject alone, or as the audit and `plugboard status` name somebody: `ann (login.example.com)`. */
function callersNamed(
  person: string,
  all: readonly string[],
): readonly ReturnType<typeof subjectCaller>[] {
  if (all.length === 0) {
    throw wrong(
      "the gateway of this configuration takes no JWTs, so that nobody is signed in to it",
      "with --config <file> you say which configuration it uses; to end a token of its own: plugboard tokens revoke <name>",
    );
  }
  const named = all.flatMap((issuer) => {
    const end = subjectCaller(issuer, "x").label.slice(1);
    return person.endsWith(end) ? [{ issuer, subject: person.slice(0, -end.length) }] : [];
  });
  const meant = named.length > 0 ? named : all.map((issuer) => ({ issuer, subject: person }));
  const callers = meant.map(({ issuer, subject }) => subjectCaller(issuer, subject));
  // A name that does not show the whole subject ends in a hash of it.
  if (meant.every(({ subject }) => isSubject(subject) && !/ #[0-9a-f]{12}$/.test(subject))) {
    return callers;
  }
  throw wrong(
    `'${oneLine(person, 100)}' is no subject that somebody could have`,
    "give the whole `sub` of their tokens; the provider shows it, often as the user's id",
  );
}
