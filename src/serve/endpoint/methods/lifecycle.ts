// How a client and the endpoint begin: `initialize` up to 2025-11-25, `server/discover` after it; and how a client says
// what it wants to hear of.

import { setImmediate as nextTurn } from "node:timers/promises";
import { isJsonObject, type JsonObject, objectIn } from "../../../core/types/json.ts";
import { within } from "../../../util/clock.ts";
import { deferred } from "../../../util/deferred.ts";
import { forSubscription } from "../changes.ts";
import type { ClientProfile, Exchange } from "../client.ts";
import type { EndpointContext } from "../context.ts";
import { type Answer, invalidParams, notification, type RpcRequest } from "../message.ts";
import { LONGEST_SUBSCRIBED } from "../subscriptions.ts";
import { aboutSearch } from "./search-tools.ts";
import {
  APPS_EXTENSION,
  isLegacyVersion,
  LEGACY_VERSIONS,
  META,
  metaOf,
  MODERN_VERSIONS,
  SERVER_INFO,
} from "../protocol.ts";

const CAPABILITIES = {
  tools: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
  prompts: { listChanged: true },
  completions: {},
  logging: {},
} as const;

/** A server in one of these states may still tell its tools, resources and prompts. */
const MAY_COME: ReadonlySet<string> = new Set(["starting", "idle", "backoff", "stopped"]);
/** How long a client that begins waits for the lists of resources and prompts. */
const LOOK_MS = 2000;
/** What takes longer is done in several turns of the event loop. */
const TURN_MS = 4;
/** How long a name is in the profile that a legacy session carries. */
const LONGEST_NAME = 100;

export async function initialize(exchange: Exchange, context: EndpointContext): Promise<Answer> {
  const { client, request } = exchange;
  const profile = readProfile(request.params);
  if (profile === undefined) return invalidParams("protocolVersion is not a text");
  client.profile = profile;
  return {
    result: {
      protocolVersion: profile.protocolVersion,
      capabilities: await capabilitiesOf(context),
      serverInfo: SERVER_INFO,
      ...instructionsOf(context),
    },
  };
}

/** What `initialize` says about a client, as much of it as matters. */
export function readProfile(params: JsonObject): ClientProfile | undefined {
  const { protocolVersion: asked, capabilities, clientInfo } = params;
  if (typeof asked !== "string") return undefined;
  return {
    protocolVersion: isLegacyVersion(asked) ? asked : LEGACY_VERSIONS[0],
    capabilities: knownCapabilities(objectIn(capabilities)),
    info: readClientInfo(clientInfo),
  };
}

/** What the client of a request calls itself, if the request says so, in either era. */
export function clientInfoIn({ method, params }: RpcRequest): ClientProfile["info"] {
  const info = method === "initialize" ? params["clientInfo"] : metaOf(params)[META.clientInfo];
  return info === undefined ? undefined : readClientInfo(info);
}

function readClientInfo(clientInfo: unknown): NonNullable<ClientProfile["info"]> {
  const { name, version } = objectIn(clientInfo);
  return {
    ...(typeof name === "string" && { name: name.slice(0, LONGEST_NAME) }),
    ...(typeof version === "string" && { version: version.slice(0, LONGEST_NAME) }),
  };
}

/** Only the capabilities that this endpoint acts upon, because the id of the session carries them. */
function knownCapabilities({ elicitation, sampling, roots, extensions }: JsonObject): JsonObject {
  const flags = (value: unknown, keys: readonly string[]): JsonObject | undefined => {
    if (!isJsonObject(value)) return undefined;
    return Object.fromEntries(keys.flatMap((key) => (isJsonObject(value[key]) ? [[key, {}]] : [])));
  };
  const known = {
    elicitation: flags(elicitation, ["form", "url"]),
    sampling: flags(sampling, ["tools", "context"]),
    roots: flags(roots, []),
    extensions: flags(extensions, [APPS_EXTENSION]),
  };
  return Object.fromEntries(Object.entries(known).filter(([, value]) => value !== undefined));
}

export async function discover(context: EndpointContext): Promise<Answer> {
  return {
    result: {
      supportedVersions: [...MODERN_VERSIONS],
      capabilities: await capabilitiesOf(context),
      ...instructionsOf(context),
    },
  };
}

/** With `onlyPresent`, the lists of a server that has not been started, or is slow, count as present. */
async function capabilitiesOf({
  board,
  clock,
  onlyPresent = false,
}: EndpointContext): Promise<JsonObject> {
  const servers = onlyPresent ? board.status() : [];
  if (!onlyPresent || servers.some(({ state }) => MAY_COME.has(state.kind))) return CAPABILITIES;
  const ready = servers.filter(({ state }) => state.kind === "ready");
  const isEmpty = async (
    list: (server: string) => Promise<readonly unknown[]>,
  ): Promise<boolean> => {
    const lists = await Promise.all(ready.map(({ name }) => list(name).catch(() => [])));
    return lists.every(({ length }) => length === 0);
  };
  const found = await within(
    clock,
    LOOK_MS,
    Promise.all([
      isEmpty((server) => board.resources.list(server)),
      isEmpty((server) => board.resources.templates(server)),
      isEmpty((server) => board.prompts.list(server)),
    ]),
  );
  const [noResources, noTemplates, noPrompts] = found ?? [];
  const { resources, prompts, completions, ...always } = CAPABILITIES;
  const hasResources = !(noResources && noTemplates);
  return {
    ...always,
    ...(hasResources && { resources }),
    ...(!noPrompts && { prompts }),
    ...((hasResources || !noPrompts) && { completions }),
  };
}

/** Our own words come first. Where there is one server, its words stay as they are. */
function instructionsOf(context: EndpointContext): { instructions?: string } {
  const { board, namesServer, about, search } = context;
  const sections = board
    .instructions()
    .map(({ server, text }) => (namesServer() ? `# MCP server ${server}\n\n${text}` : text));
  const first = [about?.() ?? [], search ? aboutSearch(context) : []].flat();
  const all = [...first, ...sections];
  return all.length === 0 ? {} : { instructions: all.join("\n\n") };
}

/** Sends changes until the client or the endpoint ends it. */
export async function listen(exchange: Exchange, context: EndpointContext): Promise<Answer> {
  const { request, signal } = exchange;
  const wanted = request.params["notifications"];
  if (!isJsonObject(wanted)) return invalidParams("notifications is not an object");
  const { resourceSubscriptions = [] } = wanted;
  const uris = new Set(Array.isArray(resourceSubscriptions) ? resourceSubscriptions : [undefined]);
  const isUri = (uri: unknown): boolean =>
    typeof uri === "string" && uri.length <= LONGEST_SUBSCRIBED;
  const most = context.subscriptionShares.each;
  if (![...uris].every(isUri) || uris.size > most) {
    const each = `of up to ${LONGEST_SUBSCRIBED} characters`;
    return invalidParams(`resourceSubscriptions is not a list of at most ${most} URIs ${each}`);
  }
  const { id: caller } = exchange.client.caller;
  const honoured = await subscribeTo(uris as Set<string>, caller, context);
  const interests = {
    tools: wanted["toolsListChanged"] === true,
    prompts: wanted["promptsListChanged"] === true,
    resources: wanted["resourcesListChanged"] === true,
    hasUri: (uri: string) => honoured.has(uri),
  };
  const send = (message: JsonObject): void => exchange.send(forSubscription(request.id, message));
  send(
    notification("notifications/subscriptions/acknowledged", {
      notifications: {
        ...(interests.tools && { toolsListChanged: true }),
        ...(interests.prompts && { promptsListChanged: true }),
        ...(interests.resources && { resourcesListChanged: true }),
        ...(honoured.size > 0 && { resourceSubscriptions: [...honoured] }),
      },
    }),
  );
  const ended = deferred();
  const off = context.changes.add({ interests, send });
  const leave = context.listening(ended.resolve);
  signal.addEventListener("abort", () => ended.resolve(), { once: true });
  if (signal.aborted) ended.resolve();
  await ended.promise;
  off();
  leave();
  for (const uri of honoured) {
    context.subscriptionShares.giveBack(caller);
    await context.subscriptions.remove(uri);
  }
  return { result: { _meta: { [META.subscriptionId]: request.id } } };
}

/** What cannot be subscribed to is left out of the acknowledgement. */
async function subscribeTo(
  uris: ReadonlySet<string>,
  caller: string,
  { subscriptions, subscriptionShares, clock }: EndpointContext,
): Promise<Set<string>> {
  const honoured = new Set<string>();
  let since = clock.monotonic();
  for (const uri of uris) {
    // Where no server is asked, nothing here waits, and others would wait for all of it.
    if (clock.monotonic() - since > TURN_MS) {
      await nextTurn();
      since = clock.monotonic();
    }
    // The client learns it from the acknowledgement.
    if (subscriptionShares.take(caller) !== undefined) break;
    try {
      await subscriptions.add(uri);
      honoured.add(uri);
    } catch {
      subscriptionShares.giveBack(caller);
    }
  }
  return honoured;
}
