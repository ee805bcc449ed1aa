// Many servers of different slowness at once, against the slowest of them alone: milliseconds until
// every server's tools are known.

/** What checks/bench/server.mjs offers. */
const TOOLS_PER_SERVER = 2;

export async function prepare({ open, openAll = openEach(open), serve, scenario }) {
  const delays = Array.from({ length: scenario.servers }, (_, i) => (i + 1) * scenario.stepMs);
  const server = (delay) => {
    const [command, args] = serve([`--start-delay=${delay}`]);
    return [`s${delay}`, { command, args }];
  };

  return {
    async sample() {
      const alone = await timeStart(openAll, [server(delays.at(-1))]);
      const all = await timeStart(openAll, delays.map(server));
      return { all, alone, ratio: all / alone };
    },
    async close() {},
  };
}

async function timeStart(openAll, servers) {
  const before = performance.now();
  const client = await openAll(Object.fromEntries(servers));
  const took = performance.now() - before;
  await client.close();
  const expected = servers.length * TOOLS_PER_SERVER;
  if (client.tools !== expected) {
    throw new Error(`expected ${expected} tools, found ${client.tools}`);
  }
  return took;
}

/** For a client that knows one server: all of them side by side, as its user would write it. */
function openEach(open) {
  return async (servers) => {
    const clients = await Promise.all(
      Object.values(servers).map(({ command, args }) => open(command, args)),
    );
    return {
      tools: clients.reduce((sum, client) => sum + client.tools, 0),
      close: () => Promise.all(clients.map((client) => client.close())),
    };
  };
}
