// The gateways that share a state, as `plugboard status` shows them on any machine: which there are, how each of them is,
// and the status of one where none runs beside the command.

import { randomBytes } from "node:crypto";
import type { KeyRing } from "../../core/types/key-ring.ts";
import { silentLogger } from "../../core/types/logger.ts";
import type { Replica, SharedState } from "../../core/types/shared-state.ts";
import { SESSION_MS } from "../../serve/endpoint/http/sessions.ts";
import type { FleetStatus } from "../../serve/gateway/monitoring/status.ts";
import { askReadiness, askStatus, type Readiness } from "../../serve/gateway/replicas/ask.ts";
import {
  clockProblem,
  fleetProblems,
  listProblems,
} from "../../serve/gateway/replicas/configuration.ts";
import { Signatures } from "../../serve/gateway/replicas/signature.ts";
import { errorMessage } from "../../util/error-message.ts";
import { oneLine, plural } from "../../util/text.ts";
import { visible } from "../../util/visible.ts";
import type { CliContext } from "../context.ts";
import { withSharedState } from "../shared-state.ts";
import { type Column, renderTable, type Row } from "../terminal/table.ts";
import type { OutputView } from "../terminal/terminal.ts";
import { type AnsweringGateway, statusIn } from "./running-gateway.ts";

/** Without keys, whoever can write to PostgreSQL could list thousands of addresses. */
const MOST_ASKED = 100;
const LONGEST_REASON = 300;
const WITHOUT_URL = "it has no gateway.shared.replica.url";

/** A gateway, and how it is. */
type Member = Pick<Replica, "name" | "url" | "configuration"> & Readiness;

export interface ShownFleet {
  replicas: Member[];
  /** What is wrong with them together, in sentences. */
  problems: string[];
}

/** The gateways that the configuration's shared state lists, and one that has answered. */
export interface AskedFleet {
  fleet: ShownFleet;
  gateway?: AnsweringGateway;
}

/** Undefined if no state is shared, or it cannot be reached; then a note says why. */
export async function askFleet(context: CliContext): Promise<AskedFleet | undefined> {
  if (context.options.standalone) return undefined;
  try {
    // What is to be said about the configuration is said when its servers are started.
    return await withSharedState({ ...context, logger: silentLogger }, (state) =>
      askListed(state, context),
    );
  } catch (error) {
    const reason = oneLine(errorMessage(error), LONGEST_REASON);
    context.screen.note(`plugboard: the gateways that share a state are not known: ${reason}`);
    return undefined;
  }
}

/** Of the gateways that one on this machine knows of, how each of them is. */
export async function askMembers(
  { replicas, problems }: FleetStatus,
  { clock, signal }: CliContext,
): Promise<ShownFleet> {
  const asked = replicas
    .slice(0, MOST_ASKED)
    .map(async ({ name, url, configuration }): Promise<Member> => {
      const known = {
        name,
        ...(url !== undefined && { url }),
        ...(configuration !== undefined && { configuration }),
      };
      if (url === undefined) return { ...known, state: "unknown", reason: WITHOUT_URL };
      return { ...known, ...(await askReadiness(url, { clock, signal })) };
    });
  const more = replicas.length - asked.length;
  return {
    replicas: await Promise.all(asked),
    problems: [...problems, ...(more > 0 ? [`${plural(more, "more gateway")} not shown`] : [])],
  };
}

async function askListed(state: SharedState, context: CliContext): Promise<AskedFleet | undefined> {
  const { replicas } = state;
  if (replicas === undefined) return undefined;
  const listed = replicas.list();
  const clockSays = clockProblem(replicas);
  const problems = [...fleetProblems(listed), ...listProblems(replicas)];
  const fleet = await askMembers({ replicas: [...listed], problems }, context);
  // If this clock is wrong, they refuse what is signed here. Keys are also made and thrown away by the clock of whoever opens them.
  if (clockSays !== undefined || !fleet.replicas.some(isThere)) return { fleet };
  try {
    const keys = await state.openSealKeys({ keepFor: SESSION_MS, onProblem: () => {} });
    try {
      const gateway = await firstToTell(fleet, keys, context);
      return { fleet, ...(gateway && { gateway }) };
    } finally {
      keys.close();
    }
  } catch (error) {
    const reason = oneLine(errorMessage(error), LONGEST_REASON);
    fleet.problems.push(`none of them can be asked for its servers: ${reason}`);
    return { fleet };
  }
}

async function firstToTell(
  { replicas, problems }: ShownFleet,
  keys: KeyRing,
  { clock, signal }: CliContext,
): Promise<AnsweringGateway | undefined> {
  const signatures = new Signatures({ keys, url: undefined, clock, random: randomBytes });
  for (const member of replicas) {
    const { url } = member;
    if (url === undefined || !isThere(member)) continue;
    try {
      return { ...statusIn(await askStatus(url, signatures, { clock, signal })), url };
    } catch (error) {
      const reason = oneLine(errorMessage(error), LONGEST_REASON);
      problems.push(`the gateway at ${url} did not tell its status: ${reason}`);
    }
  }
  return undefined;
}

/** One that stops would answer with the state of servers that end. */
function isThere({ state }: Member): boolean {
  return state === "ready" || state === "degraded";
}

const COLUMNS: readonly Column[] = [
  { title: "gateway", min: 12 },
  { title: "state" },
  { title: "configuration" },
];

const STATES = {
  ready: "ready",
  degraded: "ready, degraded",
  stopping: "stopping",
  unknown: "not reached",
} as const satisfies Record<Member["state"], string>;

/** A row for each gateway, and what is wrong with them together. */
export function fleetLines(
  { replicas, problems }: ShownFleet,
  { width, paint }: OutputView,
): string[] {
  const rows = replicas.map((member): Row => {
    const { name, configuration = "", state } = member;
    return {
      cells: [
        { text: visible(name), tone: "bold" },
        { text: STATES[state], tone: state === "ready" ? "green" : "yellow" },
        { text: configuration, tone: "dim" },
      ],
      notes: member.state === "unknown" ? [member.reason] : [],
    };
  });
  return [
    ...(rows.length === 0
      ? ["No gateway uses the shared state now."]
      : renderTable(COLUMNS, rows, { width, paint })),
    ...problems.map((each) => paint("yellow", visible(each))),
  ];
}
