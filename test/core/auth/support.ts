// Boards that sign in to the OAuth fixture, and what they leave on disk.

import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ServerConfig } from "../../../src/core/types/server-config.ts";
import type { OnAuthorization } from "../../../src/core/types/authorization.ts";
import type { Board } from "../../../src/core/types/board.ts";
import type { BoardOptions } from "../../../src/core/types/board-options.ts";
import type { JsonObject } from "../../../src/core/types/json.ts";
import { owned } from "../../fixtures/http/client.ts";
import {
  type OAuthFixture,
  type OAuthFixtureOptions,
  startOAuth,
} from "../../fixtures/oauth/oauth.ts";
import { open } from "../../support/boards.ts";

export async function protect(options: OAuthFixtureOptions = {}): Promise<OAuthFixture> {
  return owned(await startOAuth(options));
}

/** A person who agrees, in a browser on this machine. */
export function agree(oauth: OAuthFixture): OnAuthorization {
  return async ({ url }) => void (await oauth.approve(url, { visit: true }));
}

/** A board with the protected server as `docs`. */
export function connect(
  oauth: OAuthFixture,
  options: BoardOptions = {},
  config: ServerConfig = {},
): Promise<Board> {
  return open({ docs: { url: oauth.url, ...config } }, options);
}

/** The same, signed in. */
export function connectAs(
  oauth: OAuthFixture,
  config: ServerConfig["oauth"],
  options: BoardOptions = {},
): Promise<Board> {
  const onAuthorization = agree(oauth);
  return connect(
    oauth,
    { onAuthorization, ...options },
    config === undefined ? {} : { oauth: config },
  );
}

type Kind = "server" | "client" | "grant";

/** The path of the only document of a kind. */
export async function documentPath(stateDir: string, kind: Kind): Promise<string> {
  const directory = join(stateDir, "auth");
  const names = (await readdir(directory)).filter((name) => name.startsWith(`${kind}-`));
  const [name, ...others] = names.filter((each) => each.endsWith(".json"));
  if (name === undefined || others.length > 0) throw new Error(`${names.length} of ${kind}`);
  return join(directory, name);
}

export async function readDocument(stateDir: string, kind: Kind): Promise<JsonObject> {
  return JSON.parse(await readFile(await documentPath(stateDir, kind), "utf8")) as JsonObject;
}

export async function changeDocument(
  stateDir: string,
  kind: Kind,
  change: JsonObject,
): Promise<void> {
  const changed = { ...(await readDocument(stateDir, kind)), ...change };
  await writeFile(await documentPath(stateDir, kind), JSON.stringify(changed));
}

/** Refresh tokens in the order in which they were used. */
export function refreshesOf(oauth: OAuthFixture): (string | undefined)[] {
  return oauth.requests
    .filter(({ params }) => params["grant_type"] === "refresh_token")
    .map(({ params }) => params["refresh_token"]);
}

/** What the person was asked for, time after time. */
export function scopesAsked(oauth: OAuthFixture): (string | undefined)[] {
  return oauth.requests
    .filter(({ path }) => path === "/authorize")
    .map(({ params }) => params["scope"]);
}

/** `count` calls at the same time; resolves to the texts of those that failed. */
export async function callAtOnce(board: Board, count: number): Promise<string[]> {
  const calls = Array.from({ length: count }, (_, index) =>
    board.call("docs/count", { key: `call ${index}` }),
  );
  return (await Promise.all(calls)).flatMap(({ failure }) => failure?.message ?? []);
}
