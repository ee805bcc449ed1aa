// `plugboard tokens`: makes, lists and revokes the tokens of the gateway, and signs out whoever comes with others.

import { existsSync } from "node:fs";
import { gatewaySettings, loadGateway } from "../../core/config/gateway.ts";
import { PlugboardError } from "../../core/types/errors.ts";
import type { GatewaySettings } from "../../core/types/gateway-settings.ts";
import {
  DEFAULT_TOKEN,
  type GatewayToken,
  type TokenStore,
} from "../../core/types/shared-state.ts";
import { silentLogger } from "../../core/types/logger.ts";
import { requirePatterns } from "../../core/types/tool-pattern.ts";
import { closest } from "../../util/closest.ts";
import { oneLine } from "../../util/text.ts";
import { runningGateway } from "../attach/find-channel.ts";
import type { CliContext } from "../context.ts";
import { findSource } from "../find-source.ts";
import { EXIT } from "../exit-code.ts";
import { withSharedState } from "../shared-state.ts";
import { clientEntries } from "../../serve/gateway/access/client-entries.ts";
import {
  endpointOf,
  tokenLimits,
  policyOf,
  unseenBy,
} from "../../serve/gateway/access/token-terms.ts";
import { quotasOfTokens, type TokenQuota } from "../../serve/gateway/quotas.ts";
import { localTime } from "../terminal/local-time.ts";
import { type Column, renderTable } from "../terminal/table.ts";
import type { AddToken, TokensRequest } from "./command.ts";
import { signOut } from "./sign-out.ts";
import { unmatchedPatterns, unmatchedText } from "./unmatched.ts";

const COLUMNS: readonly Column[] = [
  { title: "NAME", min: 8 },
  { title: "ID", min: 7 },
  { title: "AGENTS", min: 6 },
  { title: "LIMITS", min: 8, overflow: "wrap" },
  { title: "EXPIRES", min: 10 },
  { title: "LAST USED", min: 10 },
];

/** The patterns that give what a token sees none of. */
const TO_GIVE = {
  tools: "'server/tool', @readOnly",
  "resources or prompts": "'server/resource:*', 'server/prompt:*'",
} as const;

export async function runTokens({ action }: TokensRequest, context: CliContext): Promise<number> {
  return withSharedState(context, async ({ tokens, usage }) => {
    switch (action.kind) {
      case "list": {
        const all = await tokens.list();
        const { quotas } = await settingsFor(context);
        const ofTokens = await quotasOfTokens(all, quotas, usage);
        listTokens(all, ofTokens, tokens.defaultFile, context);
        break;
      }
      case "add":
        await addToken(action, tokens, context);
        break;
      case "revoke":
        await revokeToken(action.token, tokens, context);
        break;
      case "sign-out":
        await signOut(action.person, tokens, context);
        break;
    }
    return EXIT.ok;
  });
}

async function addToken(add: AddToken, tokens: TokenStore, context: CliContext): Promise<void> {
  const { clock, screen, options } = context;
  await checkAgents(context);
  requirePatterns(add, (rule) => `--${rule}`);
  const policy = policyOf({ ...add, owner: options.owner });
  const { token, text } = await tokens.add({
    name: add.name,
    ...(options.agents.length > 0 && { agents: [...new Set(options.agents)] }),
    ...(policy && { policy }),
    ...(add.expires !== undefined && { expiresAt: clock.now() + add.expires }),
  });
  await warnOfUnmatched(token, context);
  const header = `Authorization: Bearer ${text}`;
  const { url, isUp } = await placeFor(token, context);
  if (options.json) return screen.json({ ...toJson(token), token: text, header, url });
  const { agents = [], expiresAt } = token;
  const whom = agents.length === 0 ? "every agent" : agents.map((id) => oneLine(id)).join(", ");
  const until = expiresAt === undefined ? "" : ` until ${localTime(expiresAt)}`;
  screen.note(`the token ${token.name} is for ${whom}${until}; it is shown only now`);
  const unseen = unseenBy(add);
  if (unseen !== undefined) {
    screen.note(
      `it sees no ${unseen}; to give some: --allow ${TO_GIVE[unseen]}, or 'server/*' for all that a server has`,
    );
  }
  // To be copied, so it is not broken.
  screen.out(`${header}\n`);
  screen.note(
    isUp
      ? `the gateway is at ${url}`
      : `no gateway is running here; plugboard up starts it at ${url}`,
  );
  // Where stderr may be kept, as in a log, the token stays on stdout alone.
  const shown = screen.terminal.err.isTerminal ? text : "<token>";
  for (const { client, lines } of clientEntries(url, shown)) {
    screen.note(`${client}:`);
    for (const line of lines) screen.note(`  ${line}`);
  }
}

/** A mistyped pattern looks just like one that works. The token is made all the same: a server can be added later. */
async function warnOfUnmatched(token: GatewayToken, context: CliContext): Promise<void> {
  const { screen } = context;
  // Whatever is wrong with the configuration, the token that was made is shown; `up` says what it is.
  const unmatched = await unmatchedPatterns([token], { ...context, logger: silentLogger }).catch(
    () => [],
  );
  for (const each of unmatched) screen.note(`warning: ${unmatchedText(each)}`);
}

/** Where the gateway of this configuration listens, or will when it runs. One with a public address may run elsewhere. */
async function placeFor(
  token: GatewayToken,
  context: CliContext,
): Promise<{ url: string; isUp: boolean }> {
  const path = endpointOf(token);
  const running = await runningGateway(findSource(context), context);
  if (running?.url !== undefined) return { url: `${running.url}${path}`, isUp: true };
  const { host, port, tls, publicUrl } = await settingsFor(context);
  const scheme = tls === undefined ? "http" : "https";
  const own = `${scheme}://${host.includes(":") ? `[${host}]` : host}:${port}`;
  return { url: `${publicUrl ?? own}${path}`, isUp: publicUrl !== undefined };
}

async function settingsFor(context: CliContext): Promise<GatewaySettings> {
  const { cwd, homedir } = context.io;
  const source = findSource(context);
  if (source.kind !== "file") return gatewaySettings();
  return loadGateway(source.path, { cwd, homedir, base: source.base }).then(
    ({ settings }) => settings,
    // Tokens are made and listed all the same; `up` says what is wrong with the file.
    () => gatewaySettings(),
  );
}

/** A token for an agent that does not exist would open nothing, and nobody would see why. */
async function checkAgents(context: CliContext): Promise<void> {
  const { io, options, screen } = context;
  if (options.agents.length === 0) return;
  const { cwd, homedir } = io;
  const source = findSource(context);
  if (source.kind !== "file") {
    return screen.note("there is no configuration here, so the agents are not checked");
  }
  const { agentIds } = await loadGateway(source.path, { cwd, homedir, base: source.base });
  for (const id of options.agents) {
    if (agentIds.includes(id)) continue;
    const meant = closest(id, agentIds);
    const message = `there is no agent '${oneLine(id, 100)}' in ${source.path}`;
    throw new PlugboardError("INVALID_ARGUMENTS", message, {
      hint:
        meant === undefined
          ? "with --config <file> you say which configuration the gateway uses"
          : `did you mean '${meant}'?`,
    });
  }
}

function listTokens(
  all: readonly GatewayToken[],
  quotas: ReadonlyMap<string, readonly TokenQuota[]>,
  defaultFile: string,
  { clock, screen, options }: CliContext,
): void {
  if (options.json) {
    const tokens = all.map((token) => ({
      ...toJson(token),
      ...callsOf(quotas.get(token.id)),
    }));
    return screen.json({ tokens, defaultFile });
  }
  const rows = all.map((token) => ({
    cells: [
      token.name,
      token.id,
      token.agents?.join(", ") ?? "all",
      tokenLimits(token.policy, quotas.get(token.id)).join(", "),
      expiryOf(token, clock.now()),
      token.lastUsedAt === undefined ? "never" : localTime(token.lastUsedAt).slice(0, -3),
    ],
  }));
  const { width, paint } = screen.terminal.out;
  if (rows.length > 0) screen.lines(renderTable(COLUMNS, rows, { width, paint }));
  else screen.note("there are no tokens; the gateway makes the first one when it starts");
  if (all.some(({ id }) => id === DEFAULT_TOKEN)) {
    // On a machine without a gateway it is not.
    const where = existsSync(defaultFile)
      ? `in ${defaultFile}`
      : "in gateway/token of Plugboard's home, on each machine with a gateway";
    screen.note(`the token default is ${where}`);
  }
}

/** `callsToday` are those of its quota for all agents. */
function callsOf(quotas: readonly TokenQuota[] = []): object {
  const callsToday = quotas.find(({ agent }) => agent === undefined)?.callsToday;
  const defaults = quotas.filter(({ isDefault }) => isDefault);
  return {
    ...(callsToday !== undefined && { callsToday }),
    ...(defaults.length > 0 && {
      defaultQuotas: defaults.map(({ quota, agent, callsToday: today }) => ({
        ...(agent !== undefined && { agent }),
        ...quota,
        ...(today !== undefined && { callsToday: today }),
      })),
    }),
  };
}

function expiryOf({ expiresAt }: GatewayToken, now: number): string {
  if (expiresAt === undefined) return "never";
  return expiresAt <= now ? "has expired" : localTime(expiresAt).slice(0, -3);
}

async function revokeToken(
  nameOrId: string,
  tokens: TokenStore,
  { screen, options }: CliContext,
): Promise<void> {
  const token = await tokens.revoke(nameOrId);
  if (options.json) return screen.json({ revoked: toJson(token) });
  screen.lines([`the token ${token.name} is revoked`]);
  if (token.id === DEFAULT_TOKEN) screen.note("the gateway makes a new one when it next starts");
}

function toJson({ createdAt, expiresAt, lastUsedAt, ...token }: GatewayToken): object {
  const time = (ms: number): string => new Date(ms).toISOString();
  return {
    ...token,
    createdAt: time(createdAt),
    ...(expiresAt !== undefined && { expiresAt: time(expiresAt) }),
    ...(lastUsedAt !== undefined && { lastUsedAt: time(lastUsedAt) }),
  };
}
