// stdout is the protocol's alone, whatever servers and libraries print.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { useAgents } from "./acp-agent.ts";

const desk = useAgents();

/** A library that prints in every way there is, from a signal on to the end. */
const LIBRARY = `
const print = () => {
  console.log("printed by console.log");
  console.table([{ printed: "as a table" }]);
  process.stdout.write("printed without a line break");
  process.emitWarning("printed as a warning");
};
process.on("SIGUSR2", () => setInterval(print, 5).unref());
`;

it("has nothing but messages in it", async () => {
  const library = join(desk.directory, "library.cjs");
  writeFileSync(library, LIBRARY);
  const agent = await desk.start({
    config: {
      agents: { defaults: { mcp: { servers: { noisy: desk.configured("log-on-stdout") } } } },
    },
    env: { NODE_OPTIONS: `--require=${library}` },
  });
  agent.process.kill("SIGUSR2");
  await agent.until(() => agent.stderr.includes("printed by console.log"));
  const sessionId = await agent.newSession(desk.directory, [
    desk.server("flood", "stderr-flood", ["--mb=5"]),
  ]);
  await agent.prompt(sessionId, '/call flood/echo {"text": "through the noise"}');
  expect(agent.result(sessionId)).toBe("through the noise");
  await agent.prompt(sessionId, '/call noisy/echo {"text": "through this one too"}');
  expect(agent.result(sessionId)).toBe("through this one too");
  for (const words of ["printed by console.log", "as a table", "without a line break"]) {
    expect(agent.stderr).toContain(words);
  }
  expect(await agent.leave()).toBe(0);

  const lines = agent.stdout.split("\n");
  expect(lines.pop()).toBe("");
  expect(lines.length).toBeGreaterThan(5);
  for (const line of lines) expect(JSON.parse(line)).toMatchObject({ jsonrpc: "2.0" });
});
