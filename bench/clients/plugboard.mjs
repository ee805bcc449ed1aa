// Plugboard as built in dist/: a call is `board.call`.

import { openBoard } from "../../dist/index.js";

export async function open(command, args) {
  const board = await connect({ echo: { command, args } });
  return {
    tools: board.tools().length,
    call: (name, params) => board.call(`mcp__echo__${name}`, params),
    // A failure is an outcome too: its text is then not the one expected, which the worker checks.
    text: (outcome) => outcome.content[0].text,
    close: () => board.close(),
  };
}

export async function openAll(servers) {
  const board = await connect(servers);
  return { tools: board.tools().length, close: () => board.close() };
}

function connect(servers) {
  const definitions = Object.entries(servers).map(([name, server]) => [
    name,
    { ...server, rateLimit: false },
  ]);
  return openBoard({ servers: Object.fromEntries(definitions) });
}
