import { freePort } from "../../lib/run-gateway.mjs";
import { MODULES, openThrough, startGateway } from "../lib/gateway.mjs";

export async function open(command, args) {
  const port = await freePort();
  const options = ["--port", String(port), "--host", "127.0.0.1", "--server", "stream"];
  const entry = `${MODULES}mcp-proxy/dist/bin/mcp-proxy.mjs`;
  const gateway = await startGateway([entry, ...options, "--", command, ...args], { port });
  return openThrough(gateway, { port });
}
