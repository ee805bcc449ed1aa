// What must hold, each judged by figures of one and the same run.

const RULES = [
  {
    scenario: "sequential",
    claim: "board.call p50 is no worse than the best peer's",
    value: ({ rows }) => own(rows)?.toBestPeer,
    holds: (ratio) => ratio <= 1,
  },
  {
    scenario: "sequential",
    claim: "board.call p50 is at most 1.15 x a hand-written loop's",
    value: ({ rows }) => own(rows)?.toLimit,
    holds: (ratio) => ratio <= 1.15,
  },
  {
    scenario: "concurrent",
    claim: "throughput at 100 in flight is no less than the best peer's",
    value: ({ rows }) => own(rows)?.toBestPeer,
    holds: (ratio) => ratio >= 1,
  },
  {
    scenario: "concurrent",
    claim: "throughput at 100 in flight is at least 0.8 x a hand-written loop's",
    value: ({ rows }) => own(rows)?.toLimit,
    holds: (ratio) => ratio >= 0.8,
  },
  {
    scenario: "big-64",
    claim: "64 MB take at most 2 x what a bare pipe plus JSON.parse takes",
    value: ({ rows }) => own(rows)?.toLimit,
    holds: (ratio) => ratio <= 2,
  },
  {
    scenario: "start",
    claim: "10 servers are ready in at most 1.3 x the slowest one's time",
    value: ({ rows }) => own(rows)?.figures?.ratio,
    holds: (ratio) => ratio <= 1.3,
  },
  {
    scenario: "gateway-sequential",
    claim: "p50 through the gateway is no worse than the best peer's",
    value: ({ rows }) => own(rows)?.toBestPeer,
    holds: (ratio) => ratio <= 1,
  },
  {
    scenario: "gateway-concurrent",
    claim: "throughput at 32 in flight is at least 1.5 x the best peer gateway's",
    value: ({ rows }) => own(rows)?.toBestPeer,
    holds: (ratio) => ratio >= 1.5,
  },
  {
    scenario: "gateway-concurrent",
    claim: "throughput at 32 in flight is at least 0.7 x the bare pipe's",
    value: ({ rows }) => own(rows)?.toLimit,
    holds: (ratio) => ratio >= 0.7,
  },
  {
    scenario: "gateway-sessions",
    claim: "a session beside the first takes at most 100 KB",
    value: ({ rows }) => own(rows)?.figures?.kbPerSession,
    holds: (kb) => kb <= 100,
    format: (kb) => `${kb.toFixed(1)} KB`,
  },
  {
    scenario: "cli",
    claim: "tools of a 5 s server come from a warm cache in under half a second",
    value: ({ figures }) => figures?.tools,
    holds: (ms) => ms < 500,
    format: (ms) => `${Math.round(ms)} ms`,
  },
  {
    scenario: "cli",
    claim: "plugboard --version takes at most 2 x what node -e 0 takes",
    value: ({ figures }) => figures && figures.version / figures.empty,
    holds: (ratio) => ratio <= 2,
  },
  {
    scenario: "cold",
    claim: "46 servers cost at most 5 x the CPU of a hand-written start",
    value: ({ figures }) => figures?.ratio,
    holds: (ratio) => ratio <= 5,
  },
  {
    scenario: "remote",
    claim:
      "the first remote server costs at most 1.2 x the CPU that it costs with the SDK, loading included",
    value: ({ figures }) => figures?.whole,
    holds: (ratio) => ratio <= 1.2,
  },
  {
    scenario: "secrets",
    claim:
      "10 servers with 10 references each are ready in at most 1.2 x the slowest request's time",
    value: ({ figures }) => figures?.ratio,
    holds: (ratio) => ratio <= 1.2,
  },
  {
    scenario: "warm",
    claim: "a warm plugboard call takes at most 2 x (from Node 24 on, 3 x) what node -e 0 takes",
    value: ({ figures }) => figures && figures.plugboard / figures.empty,
    holds: (ratio, { figures }) => ratio <= figures.most,
  },
  {
    scenario: "warm",
    claim: "a warm plugboard call takes less time than mcporter's",
    value: ({ figures }) => figures && figures.plugboard / figures.mcporter,
    holds: (ratio) => ratio < 1,
  },
  {
    scenario: "adhoc",
    claim: "plugboard call on a typed stdio server takes no longer than mcporter's",
    value: ({ figures }) => figures?.ratio,
    holds: (ratio) => ratio <= 1,
  },
];

/** Judges one scenario on one Node. `passed` is undefined where what it takes was not measured. */
export function judge(scenario, result) {
  const failure = result.failure ?? own(result.rows ?? [])?.failure;
  return RULES.filter((rule) => rule.scenario === scenario.name).map((rule) => {
    const { claim, holds, format = (ratio) => `${ratio.toFixed(2)} x` } = rule;
    const value = rule.value(result);
    if (failure !== undefined) return { claim, passed: false, because: failure };
    if (value === undefined) return { claim, because: "not measured" };
    return { claim, passed: holds(value, result), because: format(value) };
  });
}

function own(rows) {
  return rows.find((row) => row.kind === "own");
}
