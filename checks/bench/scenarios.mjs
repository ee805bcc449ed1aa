// What is measured, and how much of it. `quick` replaces what it names.
//
// `metric` is the figure that contenders are compared by, `better` its direction, `limit` the
// contender that marks what the machine allows. With `together` the contenders' processes live side
// by side and take turns in short rounds, so that a moment of noise hits all of them alike; without
// it every round starts them anew, one at a time. A step that takes longer than `timeLimit` seconds
// ends that contender. `face` says who takes part: clients by default. What has a `command` in place of a
// `measure` is measured as whole processes, without contenders.

const MILLION = 1_000_000;

export const scenarios = [
  {
    name: "sequential",
    title: "tools/call echo over stdio, one after another",
    measure: "sequential",
    metric: "p50",
    better: "lower",
    limit: "hand-written",
    together: true,
    oneCpu: true,
    timeLimit: 60,
    // Node 24 needs more than ten thousand calls before everything is optimised.
    warmUp: 15_000,
    rounds: 100,
    callsPerRound: 250,
    quick: { rounds: 30 },
  },
  {
    name: "concurrent",
    title: "tools/call echo over stdio, 100 in flight",
    measure: "concurrent",
    metric: "callsPerSecond",
    better: "higher",
    limit: "hand-written",
    together: true,
    timeLimit: 60,
    inFlight: 100,
    warmUp: 30_000,
    rounds: 40,
    callsPerRound: 5_000,
    quick: { rounds: 20 },
  },
  big(1, { callsPerRound: 10 }),
  big(8, { callsPerRound: 5 }),
  big(64, { callsPerRound: 3 }),
  {
    name: "start",
    title: "start of 10 servers that take 0.2, 0.4 … 2 seconds",
    measure: "start",
    metric: "all",
    better: "lower",
    limit: "hand-written",
    timeLimit: 60,
    rounds: 3,
    servers: 10,
    stepMs: 200,
    quick: { rounds: 1 },
  },
  {
    name: "gateway-sequential",
    title: "tools/call echo over HTTP through a gateway, one after another",
    face: "gateway",
    measure: "sequential",
    metric: "p50",
    better: "lower",
    limit: "gateway-bare",
    together: true,
    oneCpu: true,
    timeLimit: 60,
    warmUp: 2_000,
    rounds: 50,
    callsPerRound: 200,
    quick: { rounds: 15 },
  },
  {
    name: "gateway-concurrent",
    title: "tools/call echo over HTTP through a gateway, 32 in flight",
    face: "gateway",
    measure: "concurrent",
    metric: "callsPerSecond",
    better: "higher",
    limit: "gateway-bare",
    together: true,
    timeLimit: 60,
    inFlight: 32,
    // The slowest takes fifty times as long as the fastest.
    warmUp: 20_000,
    warmUpMs: 10_000,
    rounds: 30,
    callsPerRound: 10_000,
    roundMs: 500,
    quick: { rounds: 10 },
  },
  {
    name: "gateway-sessions",
    title: "1000 idle sessions at a gateway",
    face: "gateway",
    measure: "sessions",
    metric: "kbPerSession",
    better: "lower",
    limit: "gateway-bare",
    timeLimit: 120,
    warmUp: 500,
    rounds: 3,
    sessions: 1_000,
    quick: { rounds: 1 },
  },
  {
    name: "cli",
    title: "the command line",
    command: "command-line",
    rounds: 15,
    slowServerMs: 5_000,
    timeLimit: 60,
    quick: { rounds: 5 },
  },
  {
    name: "cold",
    title: "the first 46 servers of a process, on stdio, that start in no time",
    command: "cold-start",
    servers: 46,
    // The first is the limit.
    contenders: ["hand-written", "plugboard", "sdk-v2"],
    rounds: 15,
    timeLimit: 60,
    quick: { rounds: 5 },
  },
  {
    name: "remote",
    title: "the first remote server of a process",
    command: "cold-start",
    contenders: ["sdk-v2", "plugboard"],
    rounds: 15,
    timeLimit: 60,
    quick: { rounds: 5 },
  },
  {
    name: "secrets",
    title: "10 servers with 10 references each, from a provider that takes a second",
    command: "secrets",
    rounds: 7,
    requestMs: 1_000,
    timeLimit: 60,
    quick: { rounds: 3 },
  },
  {
    name: "warm",
    title: "one call from the shell, to a server that is kept alive",
    command: "warm-call",
    rounds: 31,
    timeLimit: 60,
    quick: { rounds: 11 },
  },
  {
    name: "adhoc",
    title: "one call from the shell, to a server that is typed with it",
    command: "ad-hoc-call",
    rounds: 21,
    timeLimit: 60,
    quick: { rounds: 11 },
  },
];

/** A scenario as this run wants it. */
export function sized({ quick, ...scenario }, isQuick) {
  return isQuick ? { ...scenario, ...quick } : scenario;
}

function big(millions, size) {
  return {
    name: `big-${millions}`,
    title: `a result of ${millions} million bytes over stdio`,
    measure: "big",
    metric: "ms",
    better: "lower",
    limit: "bare",
    timeLimit: 30,
    rounds: 5,
    bytes: millions * MILLION,
    ...size,
    quick: { timeLimit: 10, rounds: 2, callsPerRound: 2 },
  };
}
