// The client under test: a board on one server, every tool called once, and nothing but the public API.
// The suite starts it as `client.mjs <url>`, with the scenario's name and data in the environment.

import { openBoard } from "../../dist/index.js";
import { acceptForm, callsOf, oauthOf } from "./scenarios.mjs";

const SERVER = "conformance";
/** Below the suite's own limit: it ends the shell around this process, not the process. */
const DEADLINE_MS = 50_000;

const url = process.argv.at(-1);
const scenario = process.env.MCP_CONFORMANCE_SCENARIO ?? "";
const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? "{}");

// Unreferenced, so that a client which leaves nothing open ends by itself: one that does not has a leak.
setTimeout(() => {
  throw new Error(`${scenario}: the client has not ended after ${DEADLINE_MS / 1000} s`);
}, DEADLINE_MS).unref();

const oauth = oauthOf(scenario, context);
const server = oauth === undefined ? { url } : { url, oauth };
const board = await openBoard(
  { servers: { [SERVER]: server } },
  { onAuthorization: visit, onElicitation: acceptForm, logger: stderrLogger() },
);
try {
  for (const problem of await useBoard()) complain(problem);
} finally {
  await board.close();
}

/** Resolves to what went wrong, in words. */
async function useBoard() {
  const [status] = board.status();
  if (status.state.kind !== "ready") {
    return [`the server is ${status.state.kind}: ${status.lastError ?? "no reason given"}`];
  }
  const calls = callsOf(scenario, context, board.tools());
  // At once: what belongs to one call must not turn up in another.
  const outcomes = await Promise.all(
    calls.map(async (call) => ({
      call,
      outcome: await board.call(`${SERVER}/${call.name}`, call.arguments),
    })),
  );
  return outcomes
    .filter(({ outcome }) => outcome.isError)
    .map(({ call, outcome }) => `${call.name}: ${JSON.stringify(outcome.content)}`);
}

/** Stands in for the person and the browser: the suite's authorization server redirects at once. */
async function visit({ url: authorizationUrl, signal }) {
  const response = await fetch(authorizationUrl, { signal });
  await response.text();
}

function complain(problem) {
  process.stderr.write(`${problem}\n`);
  process.exitCode = 1;
}

function stderrLogger() {
  const write = (message, fields) =>
    process.stderr.write(`${message} ${JSON.stringify(fields ?? {})}\n`);
  return { debug() {}, info() {}, warn: write, error: write };
}
