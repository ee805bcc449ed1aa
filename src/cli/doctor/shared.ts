// What gateways on several machines share: both engines are used as a gateway uses them.

import { undecidedServers } from "../../core/board/worker.ts";
import type { GatewayConfig } from "../../core/config/gateway.ts";
import { toPlugboardError } from "../../core/types/errors.ts";
import type { SharedState } from "../../core/types/shared-state.ts";
import type { Clock } from "../../util/clock.ts";
import { plural } from "../../util/text.ts";
import { visible } from "../../util/visible.ts";
import {
  clockProblem,
  fleetProblems,
  unsealedProblem,
} from "../../serve/gateway/replicas/configuration.ts";
import { LiveConfig } from "../live-config.ts";
import { openGatewayState } from "../shared-state.ts";
import type { CheckGroup, Finding } from "./finding.ts";

/** Its bucket and its lease. */
const DOCTOR = "plugboard doctor";
/** Whoever runs it often must not be refused. */
const PER_MINUTE = 6000;

export const sharedGroup: CheckGroup = {
  title: "Shared state",
  async run({ quiet, config }) {
    if ((await config()).kind !== "usable") return [];
    await using live = await LiveConfig.open(quiet);
    const gateway = await live.readGateway();
    const { shared } = gateway.settings;
    if (shared === undefined) return [];
    const programs = await programFindings(live, gateway);
    let state: SharedState | undefined;
    try {
      state = await openGatewayState(live, gateway, quiet, false);
      await state.checkKeys?.();
      return [
        ...(await engineFindings(state, quiet.clock)),
        ...(await rightFindings(state)),
        ...(await auditFindings(state)),
        ...(shared.keys.length > 0 ? [] : [withoutKeys()]),
        ...(await fleetFindings(state, gateway, live)),
        ...programs,
      ];
    } catch (error) {
      const { message, hint } = toPlugboardError(error, "NETWORK");
      return [
        {
          level: "broken",
          check: "shared-state",
          message: `gateways cannot start: ${message}`,
          remedy: hint ?? "check gateway.shared in the configuration",
        },
        ...programs,
      ];
    } finally {
      await state?.close();
    }
  },
};

async function programFindings(live: LiveConfig, { agentIds }: GatewayConfig): Promise<Finding[]> {
  const agents = await Promise.all(agentIds.map((id) => live.readAgent(id)));
  const names = [...new Set(agents.flatMap(undecidedServers))];
  return names.map((name): Finding => ({
    level: "warning",
    check: "shared-program",
    subject: name,
    message: `every gateway starts a process of ${visible(name)} of its own, and none knows what another one has stored`,
    remedy:
      'if it stores nothing, say so in its entry: "replicas": "each"\nelse run it once, with "worker": docs/fleet.md says how',
  }));
}

async function engineFindings(state: SharedState, clock: Clock): Promise<Finding[]> {
  const timed = async (use: () => Promise<void>): Promise<string> => {
    const before = clock.monotonic();
    await use();
    return `${Math.round(clock.monotonic() - before)} ms`;
  };
  const leased = await timed(() => state.grants.withLease(DOCTOR, async () => {}));
  const counted = await timed(() => countCalls(state));
  const { replicas = 0, engines = [], away = [] } = state.health?.() ?? {};
  const hasValkey = engines.includes("valkey") && away.every(({ engine }) => engine !== "valkey");
  return [
    {
      level: "ok",
      check: "shared-state",
      message: `PostgreSQL takes a lease and gives it back in ${leased}${hasValkey ? `, Valkey counts calls in ${counted}` : ""}; ${plural(replicas, "gateway")} ${replicas === 1 ? "uses" : "use"} ${hasValkey ? "them" : "it"} now`,
    },
    ...away.map(({ engine, message }): Finding => ({
      level: "warning",
      check: "shared-engine-away",
      message:
        engine === "valkey"
          ? `${message}; each gateway allows its part of the limits meanwhile`
          : message,
      remedy: `check gateway.shared.${engine} in the configuration, and whether it runs`,
    })),
  ];
}

async function countCalls({ limits }: SharedState): Promise<void> {
  const bucket = [{ key: DOCTOR, perMinute: PER_MINUTE }];
  await limits.take(bucket, 0);
  limits.giveBack(bucket);
  // Nobody waits for the answer to `leave`. Valkey answers in order, so the second `enter` waits for the first `leave`.
  for (let times = 0; times < 2; times += 1) {
    const leave = await limits.enter(DOCTOR, PER_MINUTE);
    leave?.();
  }
}

/** A gateway needs some rights only later, as when somebody signs in or out, so nothing has failed yet without them. */
async function rightFindings(state: SharedState): Promise<Finding[]> {
  const missing = (await state.missingRights?.()) ?? [];
  if (missing.length === 0) return [];
  return [
    {
      level: "broken",
      check: "shared-rights",
      message: `the user of gateway.shared.postgres may not: ${missing.join(", ")}`,
      remedy:
        "as the owner of the tables: grant select, insert, update, delete on all tables in schema public to <user>",
    },
  ];
}

async function auditFindings({ audit }: SharedState): Promise<Finding[]> {
  const obstacle = await audit.obstacle();
  if (obstacle === undefined) return [];
  const { message, hint } = obstacle;
  return [{ level: "broken", check: "shared-audit", message, remedy: hint }];
}

async function fleetFindings(
  { replicas }: SharedState,
  { settings, agentIds }: GatewayConfig,
  live: LiveConfig,
): Promise<Finding[]> {
  const agents = await Promise.all(agentIds.map((id) => live.readAgent(id)));
  const own = agents.flatMap(({ servers }) =>
    servers.filter(({ scope, enabled }) => scope === "session" && enabled),
  );
  const hasUrl = settings.shared?.replica !== undefined;
  const clock = replicas && clockProblem(replicas);
  const unsealed = replicas && unsealedProblem(replicas);
  return [
    ...(clock === undefined ? [] : [wrongClock(clock)]),
    ...(unsealed === undefined ? [] : [unsealedRows(unsealed)]),
    ...fleetProblems(replicas?.list() ?? []).map((message): Finding => ({
      level: "warning",
      check: "shared-configuration",
      message,
      remedy: "give all of them the same file and version, and each a replica.url of its own",
    })),
    ...(hasUrl
      ? []
      : [own.length > 0 ? withoutUrl(own.map(({ name }) => name)) : mayLoseAnswers()]),
  ];
}

function wrongClock(message: string): Finding {
  return {
    level: "warning",
    check: "shared-clock",
    message,
    remedy:
      "have all machines set their clocks by the same servers, as with: timedatectl set-ntp true",
  };
}

function unsealedRows(message: string): Finding {
  return {
    level: "warning",
    check: "shared-unsealed",
    message,
    remedy:
      "give all gateways the same gateway.shared.keys and clocks that agree; if they have both, see who else may write there: docs/fleet.md",
  };
}

function withoutUrl(servers: readonly string[]): Finding {
  return {
    level: "warning",
    check: "shared-replica-url",
    message: `sessions have servers of their own (${servers.join(", ")}): only the gateway where a session began has them, and the others cannot reach it`,
    remedy: URL_REMEDY,
  };
}

function mayLoseAnswers(): Finding {
  return {
    level: "note",
    check: "shared-replica-url",
    message:
      "the gateways cannot reach each other, so a client's answer to a server's question is lost if it comes to another gateway",
    remedy: URL_REMEDY,
  };
}

const URL_REMEDY =
  'say how the others reach each gateway, such as "replica": { "url": "http://${ADDRESS}:7777" } in gateway.shared';

function withoutKeys(): Finding {
  return {
    level: "warning",
    check: "shared-keys",
    message:
      "gateway.shared has no keys: whoever can read the database reads the tokens of your servers, whoever can write there makes tokens and approvals, and the gateways forward neither the page nor answers to questions",
    remedy: 'give it one, such as "keys": ["secret://env/PLUGBOARD_KEY"]',
  };
}
