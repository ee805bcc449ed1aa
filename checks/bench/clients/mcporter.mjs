// mcporter's runtime, as a library.

import { createRuntime } from "mcporter";

export async function open(command, args) {
  const runtime = await connect({ echo: { command, args } });
  return {
    tools: runtime.tools,
    call: (name, params) => runtime.callTool("echo", name, { args: params }),
    text: (result) => result.content[0].text,
    close: runtime.close,
  };
}

/** One runtime for all of them, as its users have it. */
export const openAll = connect;

async function connect(servers) {
  const runtime = await createRuntime({
    servers: Object.entries(servers).map(([name, { command, args }]) => ({
      name,
      command: { kind: "stdio", command, args, cwd: process.cwd() },
    })),
  });
  const lists = await Promise.all(Object.keys(servers).map((name) => runtime.listTools(name)));
  return {
    tools: lists.flat().length,
    callTool: (server, name, options) => runtime.callTool(server, name, options),
    close: () => runtime.close(),
  };
}
