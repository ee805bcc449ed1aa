import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { runGateway } from "../../lib/run-gateway.mjs";
import { openThrough } from "../lib/gateway.mjs";

export function open(command, args) {
  return openBoard(command, args, { isModern: false });
}

/** For a thousand sessions of one caller, each with its stream open: a caller gets a quarter. */
const CONNECTIONS = 8000;

/** With everything on that is on by default: token, rules, redaction, limits, audit. */
export async function openBoard(command, args, { isModern }) {
  const home = mkdtempSync(join(process.cwd(), "gateway-"));
  const gateway = await runGateway({
    home,
    agent: { mcp: { servers: { echo: { command, args } } } },
    limits: { connections: CONNECTIONS },
  });
  const { port, token } = gateway;
  const headers = { Authorization: `Bearer ${token}` };
  return openThrough({ pid: gateway.pid(), end: gateway.stop }, { port, headers, isModern });
}
