// A gateway, or two that share a state, in front of a server that each person has for themselves; the providers that its
// callers' JWTs are from, and the server's own authorization server.

import { join } from "node:path";
import { decodeJwt } from "jose";
import { onTestFinished } from "vitest";
import { gatewaySettings } from "../../../src/core/config/gateway.ts";
import { parseAgentConfig } from "../../../src/core/config/parse.ts";
import type { GatewayBlock } from "../../../src/core/config/schema/gateway-schema.ts";
import { openEngineState } from "../../../src/core/state/engines/open.ts";
import { openFileState } from "../../../src/core/state/files/open.ts";
import type { SharedSettings } from "../../../src/core/types/gateway-settings.ts";
import type { JsonObject } from "../../../src/core/types/json.ts";
import { silentLogger } from "../../../src/core/types/logger.ts";
import type { ServerConfig } from "../../../src/core/types/server-config.ts";
import type { SharedState } from "../../../src/core/types/shared-state.ts";
import { openGateway } from "../../../src/serve/gateway/open-gateway.ts";
import { type Clock, systemClock } from "../../../src/util/clock.ts";
import { type ExchangeRules, type OAuthFixture, startOAuth } from "../../fixtures/oauth/oauth.ts";
import { startPersonal } from "../../fixtures/oauth/personal.ts";
import { temporaryDirectory } from "../../support/directory.ts";
import { freePorts } from "../../support/free-ports.ts";
import { CLIENT, openProvider, type TestProvider } from "../../support/provider.ts";
import { legacy, post, type RawAnswer } from "../endpoint/harness.ts";

export interface Rig {
  url: string;
  provider: TestProvider;
  oauth: OAuthFixture;
  /** Who has called a tool of the server, in order. */
  calls: string[];
  /** The other provider whose JWTs the gateway takes. */
  other: TestProvider;
  /** How the authorization server exchanges tokens. */
  exchange: ExchangeRules;
  /** The state, as commands on the machine of the first gateway use it. */
  state: SharedState;
  /** The Authorization header of somebody whom the provider knows. It is valid for ten minutes. */
  jwt(sub: string, of?: TestProvider, claims?: object): Promise<string>;
  /** The Authorization header of a new token. */
  token(name: string, policy?: object): Promise<string>;
  /** A request by hand to the gateway `at`. */
  send(
    who: string,
    message: object,
    headers?: Record<string, string>,
    at?: number,
  ): Promise<RawAnswer>;
  /** `at` is the gateway. */
  ask(who: string, method: string, params?: object, at?: number): Promise<JsonObject>;
  /** The names of the tools, without those of the gateway. */
  tools(who: string, at?: number): Promise<string[]>;
  /** The address of a page at the other gateway. */
  elsewhere(page: string): string;
}

export interface RigOptions {
  /** Two gateways share a state: they have one public address, that of the first. */
  shared?: SharedSettings;
  clock?: Clock;
  /** Of the server that each person has for themselves. Default: people sign in to it. */
  server?: (oauth: OAuthFixture) => Omit<ServerConfig, "url">;
  /** The rules of the agent. */
  tools?: { allow?: string[]; deny?: string[] };
  /** What people may do, by their claims. */
  rights?: NonNullable<GatewayBlock["jwt"]>["rights"];
  /** What its authorization server says of itself otherwise. */
  metadata?: JsonObject;
  /** Seconds that a token for that server lives. */
  expiresIn?: number;
  /** The settings of the gateway, besides those that are always there. */
  settings?: Parameters<typeof gatewaySettings>[0];
}

/** The client that exchanges tokens. Both parts have what a header needs to have encoded. */
export const GATEWAY_CLIENT = { client_id: "gate:way", client_secret: "a+b %c/ü" };

export async function openRig({
  shared,
  clock = systemClock,
  server = () => ({ oauth: { per: "user" } }),
  tools,
  rights,
  metadata,
  expiresIn,
  settings: given,
}: RigOptions = {}): Promise<Rig> {
  const stateDir = temporaryDirectory();
  const ports = await freePorts(shared === undefined ? 1 : 2);
  const [port = 0] = ports;
  const url = `http://127.0.0.1:${port}`;
  const provider = await openProvider();
  const other = await openProvider();
  const personal = await startPersonal();
  const exchange: ExchangeRules = {
    audience: "personal",
    refused: [],
    // As much as it takes to know whose it is: the gateway has checked it.
    subjectOf: (token) => {
      const { iss, sub } = decodeJwt(token);
      return iss === provider.url ? sub : `other ${sub}`;
    },
  };
  const oauth = await startOAuth({
    behind: personal.url,
    exchange,
    clock,
    clients: [GATEWAY_CLIENT],
    ...(metadata !== undefined && { metadata }),
    ...(expiresIn !== undefined && { expiresIn }),
  });
  onTestFinished(async () => {
    await Promise.all([provider.close(), other.close(), personal.close(), oauth.close()]);
  });
  const issuers = [provider, other].map((each) => ({ issuer: each.url, algorithms: ["ES256"] }));
  const settings = gatewaySettings({
    ...given,
    publicUrl: url,
    jwt: { issuers: issuers as { issuer: string; algorithms: ["ES256"] }[], rights },
    ui: { clientId: CLIENT, issuer: provider.url },
  });
  const agent = parseAgentConfig({
    servers: { personal: { url: oauth.url, ...server(oauth) } },
    ...(tools && { tools }),
  });
  const openState = (dir: string, own?: number) => async (): Promise<SharedState> => {
    if (shared === undefined) return openFileState(dir);
    const replica = { replica: { url: `http://127.0.0.1:${own}` } };
    const ofThis = { ...shared, ...(own !== undefined && replica) };
    return openEngineState({ settings: ofThis, stateDir: dir, isReplica: own !== undefined });
  };
  for (const each of ports) {
    const dir = shared === undefined ? stateDir : temporaryDirectory();
    const gateway = await openGateway({
      settings: { ...settings, port: each },
      agentIds: ["default"],
      readAgent: async () => agent,
      defaultAgent: "default",
      network: { allow: [], env: {} },
      configFile: join(dir, "board.json"),
      openState: openState(dir, each),
      stateDir: dir,
      cwd: dir,
      env: {},
      clock,
      logger: silentLogger,
    });
    onTestFinished(() => gateway.close());
  }
  const state = await openState(shared === undefined ? stateDir : temporaryDirectory())();
  onTestFinished(() => state.close());
  const send: Rig["send"] = (who, message, headers = {}, at = 0) =>
    post(new URL(`http://127.0.0.1:${ports[at]}/mcp`), message, { authorization: who, ...headers });
  const ask = async (
    who: string,
    method: string,
    params: object = {},
    at = 0,
  ): Promise<JsonObject> => {
    const answer = await send(who, legacy(method, params), {}, at);
    return answer.message ?? { status: answer.status };
  };
  return {
    url,
    provider,
    other,
    oauth,
    exchange,
    state,
    send,
    calls: personal.calls,
    ask,
    async jwt(sub, of = provider, claims = {}) {
      const now = Math.floor(clock.now() / 1000);
      const aud = `${url}/mcp`;
      const said = { iss: of.url, sub, aud, iat: now, exp: now + 600, ...claims };
      return `Bearer ${await of.token(said)}`;
    },
    async token(name, policy) {
      const { text } = await state.tokens.add({ name, ...(policy && { policy }) });
      return `Bearer ${text}`;
    },
    elsewhere: (page) => page.replace(url, `http://127.0.0.1:${ports[1]}`),
    async tools(who, at) {
      const { result } = (await ask(who, "tools/list", {}, at)) as {
        result: { tools: JsonObject[] };
      };
      return result.tools.map(({ name }) => String(name)).filter((name) => name !== "sign_in");
    },
  };
}
