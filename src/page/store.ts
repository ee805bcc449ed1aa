// What the gateway's stream of events tells, as signals; and `stream`, the state of that stream.

import { batch, computed, signal } from "@preact/signals";
import type {
  AgentFacts,
  CallFacts,
  ChangedDefinition,
  GatewayFacts,
  ListedGateway,
  Minute,
  People,
  ServerFacts,
  ServerLineFacts,
  Snapshot,
  WaitingCall,
} from "../serve/gateway/page/wire.ts";
import type { PageEvent } from "./gateway.ts";

const MOST_CALLS = 500;
const MOST_MINUTES = 60;
const MOST_LINES = 1000;

/** Between the page and its gateway. */
export type StreamState = "connecting" | "live" | "lost" | "signed-out";

export const stream = signal<StreamState>("connecting");
export const you = signal<Snapshot["you"] | undefined>(undefined);
export const gateway = signal<GatewayFacts | undefined>(undefined);
/** Those that you can look at, where several share a state. */
export const gateways = signal<readonly ListedGateway[]>([]);
/** The one that you have looked at, if another has taken its place: its name, or nothing if that is not known. */
export const gone = signal<string | undefined>(undefined);
export const agents = signal<ReadonlyMap<string, AgentFacts>>(new Map());
export const servers = signal<ReadonlyMap<string, ServerFacts>>(new Map());
export const waiting = signal<readonly WaitingCall[]>([]);
export const changes = signal<readonly ChangedDefinition[]>([]);
export const edit = signal<Snapshot["edit"]>(undefined);
export const minutes = signal<readonly Minute[]>([]);
/** The latest first. */
export const calls = signal<readonly CallFacts[]>([]);
/** Calls that came too fast to be told one by one. */
export const leftOut = signal(0);
/** What servers write, the latest last. */
export const lines = signal<readonly ServerLineFacts[]>([]);
export const people = signal<People>({ clients: [], sessions: [], commands: [] });

/** Whose pins are lost, so that nobody can tell what has changed. */
export const lostPins = computed(() =>
  [...servers.value.values()].filter(({ refused }) => refused === "lost"),
);

export const isOwner = computed(() => you.value?.role === "owner");

export function serverKey({ agent, name }: Pick<ServerFacts, "agent" | "name">): string {
  return `${agent}/${name}`;
}

/** Several events at once, so that the page is drawn once. */
export function apply(events: readonly PageEvent[]): void {
  batch(() => {
    const ended = new Map<string, CallFacts>();
    for (const event of events) {
      if (event.name === "calls") {
        for (const call of event.is.calls) ended.set(call.id, call);
        leftOut.value += event.is.left;
      } else applyOne(event);
    }
    if (ended.size > 0) addCalls(ended);
  });
}

function applyOne(event: Exclude<PageEvent, { name: "calls" }>): void {
  switch (event.name) {
    case "snapshot":
      return begin(event.is);
    case "gateways":
      gateways.value = event.is;
      return;
    case "server":
      servers.value = new Map(servers.value).set(serverKey(event.is), event.is);
      return;
    case "servers": {
      const { agent, names } = event.is;
      const kept = [...servers.value].filter(
        ([, each]) => each.agent !== agent || names.includes(each.name),
      );
      if (kept.length < servers.value.size) servers.value = new Map(kept);
      return;
    }
    case "agent":
      agents.value = new Map(agents.value).set(event.is.id, event.is);
      return;
    case "agents": {
      const { ids } = event.is;
      agents.value = new Map([...agents.value].filter(([id]) => ids.includes(id)));
      servers.value = new Map([...servers.value].filter(([, { agent }]) => ids.includes(agent)));
      return;
    }
    case "waiting":
      waiting.value = event.is;
      return;
    case "changes":
      changes.value = event.is;
      return;
    case "edit":
      edit.value = event.is.unapplied;
      return;
    case "minute":
      minutes.value = [...minutes.value.filter(({ at }) => at !== event.is.at), event.is].slice(
        -MOST_MINUTES,
      );
      return;
    case "lines":
      lines.value = [...lines.value, ...event.is.lines].slice(-MOST_LINES);
      return;
    case "people":
      people.value = event.is;
      return;
    case "gap":
      return;
  }
}

function begin(snapshot: Snapshot): void {
  stream.value = "live";
  you.value = snapshot.you;
  gateway.value = snapshot.gateway;
  gateways.value = snapshot.gateways;
  agents.value = new Map(snapshot.agents.map((each) => [each.id, each]));
  servers.value = new Map(snapshot.servers.map((each) => [serverKey(each), each]));
  waiting.value = snapshot.waiting;
  changes.value = snapshot.changes;
  edit.value = snapshot.edit;
  minutes.value = snapshot.minutes;
  calls.value = snapshot.calls.toReversed().slice(0, MOST_CALLS);
  people.value = snapshot.people;
  lines.value = snapshot.lines ?? [];
}

/** A call that was running is replaced where it stands; a new one comes first. */
function addCalls(ended: Map<string, CallFacts>): void {
  const known = calls.value.map((call) => {
    const now = ended.get(call.id);
    if (now !== undefined) ended.delete(call.id);
    return now ?? call;
  });
  calls.value = [...[...ended.values()].toReversed(), ...known].slice(0, MOST_CALLS);
}
