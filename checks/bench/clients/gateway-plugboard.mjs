import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { runGateway } from "../../lib/run-gateway.mjs";
import { openThrough } from "../lib/gateway.mjs";

export function open(command, args) {
  return openBoard(command, args, { isModern: false });
}

/** With everything on that is on by default: token, rules, redaction, limits, audit. */
export async function openBoard(command, args, { isModern }) {
  const home = mkdtempSync(join(process.cwd(), "gateway-"));
  const gateway = await runGateway({
    home,
    agent: { mcp: { servers: { echo: { command, args } } } },
  });
  const { port, token } = gateway;
  const headers = { Authorization: `Bearer ${token}` };
  return openThrough({ pid: gateway.pid(), end: gateway.stop }, { port, headers, isModern });
}
