// What came of a soak: what must hold, and whether it did.

/** What an error must say of a call that was sent to the server. */
const MAY_HAVE_RUN = /may have (?:run|taken effect)/i;
const MEMORY_GROWTH = 1.2;

/**
 * `outcomes` maps the number of every call to `{ kind, text }`, `executed` is the list of numbers that the server
 * wrote down. Returns `[{ claim, passed, because }]`.
 */
export function judgeSoak({ calls, outcomes, executed, memory, brokenIsError }) {
  const times = new Map();
  for (const number of executed) times.set(number, (times.get(number) ?? 0) + 1);
  const ofKind = (kind) => [...outcomes].filter(([, outcome]) => outcome.kind === kind);
  const twice = [...times].filter(([, count]) => count > 1).map(([number]) => number);
  const unclear = [...ofKind("wrong"), ...(brokenIsError ? [] : ofKind("broken"))];
  const missing = ofKind("counted").filter(([number]) => !times.has(number));
  const silent = ofKind("error").filter(
    ([number, { text }]) => times.has(number) && !MAY_HAVE_RUN.test(text),
  );
  const lost = ofKind("wrong").filter(([, { text }]) => text.startsWith("HTTP 404"));
  const growth = memory.after / memory.before;
  return [
    {
      claim: `all ${calls} calls are answered, with a result or a clear error`,
      passed: outcomes.size === calls && unclear.length === 0,
      because:
        outcomes.size === calls
          ? some(unclear.map(([number, { kind, text }]) => `${number} ${kind}: ${text}`))
          : `${outcomes.size} were`,
    },
    { claim: "no call runs twice", passed: twice.length === 0, because: some(twice) },
    {
      claim: "what has a result has run",
      passed: missing.length === 0,
      because: some(missing.map(([number]) => number)),
    },
    {
      claim: "the error of a call that has run says that it may have",
      passed: silent.length === 0,
      because: some(silent.map(([number, { text }]) => `${number}: ${text}`)),
    },
    {
      claim: "sessions go on without a new initialize",
      passed: lost.length === 0,
      because: some(lost.map(([number, { text }]) => `${number}: ${text}`)),
    },
    {
      claim: "memory after is at most 1.2 x the memory before",
      passed: growth <= MEMORY_GROWTH,
      because: `${megabytes(memory.before)} before, ${megabytes(memory.after)} after: ${growth.toFixed(2)} x`,
    },
  ];
}

/** `kept` and `replaced` are the pids of all processes of the two servers. */
export function judgeReloads({ reloads, kept, replaced }) {
  return [
    {
      claim: "the server that stays the same keeps its process",
      passed: kept.length === 1,
      because: `${kept.length} processes`,
    },
    {
      claim: `the other one is started again with each of the ${reloads} reloads`,
      passed: replaced.length === reloads + 1,
      because: `${replaced.length} processes`,
    },
  ];
}

/** At most so much of the gateway's time may one request take from all others. */
const MOST_LAG_MS = 50;
const SLOWER = 3;

/** `quiet` and `beside` are the milliseconds of the good client's calls, alone and beside the greedy one. */
export function judgeBeside({ quiet, beside, lag, failed }) {
  const [before, after] = [p99(quiet), p99(beside)];
  return [
    {
      claim: "every call of the good client has its result",
      passed: failed === 0,
      because: `${failed} have not`,
    },
    {
      claim: `the good client's p99 is at most ${SLOWER} x its quiet one`,
      passed: after <= SLOWER * before,
      because: `${before.toFixed(1)} ms quiet, ${after.toFixed(1)} ms beside: ${(after / before).toFixed(2)} x`,
    },
    {
      claim: `the lag of the gateway's event loop is at most ${MOST_LAG_MS} ms at p99`,
      passed: lag.beside <= MOST_LAG_MS,
      because: `${lag.quiet.toFixed(1)} ms quiet, ${lag.beside.toFixed(1)} ms beside`,
    },
  ];
}

export function p99(times) {
  const sorted = times.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * 0.99))];
}

/** How often each outcome was seen; numbers and times in the text of an error do not make another one. */
export function tally(outcomes) {
  const counts = new Map();
  for (const { kind, text = "" } of outcomes.values()) {
    const key = text === "" ? kind : `${kind}: ${text.split("\n")[0].replace(/\d+/g, "…")}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return [...counts].sort(([, a], [, b]) => b - a);
}

function some(list) {
  if (list.length === 0) return "none otherwise";
  return `${list.length} otherwise, such as ${list.slice(0, 3).join("; ")}`;
}

function megabytes(bytes) {
  return `${(bytes / 1_048_576).toFixed(0)} MB`;
}
