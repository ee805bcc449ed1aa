import { fileURLToPath } from "node:url";
import { freePort } from "../../lib/run-gateway.mjs";
import { openThrough, startGateway } from "../lib/gateway.mjs";

const BARE = fileURLToPath(new URL("../bare-gateway.mjs", import.meta.url));

export async function open(command, args) {
  const port = await freePort();
  const gateway = await startGateway([BARE, String(port), command, ...args], { port });
  return openThrough(gateway, { port });
}
