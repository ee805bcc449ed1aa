import { freePort } from "../../lib/run-gateway.mjs";
import { MODULES, openThrough, startGateway } from "../lib/gateway.mjs";

/** Stateful, since it starts a process for every request otherwise. */
export async function open(command, args) {
  const port = await freePort();
  const stdio = [command, ...args].map((word) => `"${word}"`).join(" ");
  const options = ["--stdio", stdio, "--outputTransport", "streamableHttp", "--stateful"];
  const quiet = ["--port", String(port), "--logLevel", "none"];
  const entry = `${MODULES}supergateway/dist/index.js`;
  const gateway = await startGateway([entry, ...options, ...quiet], { port });
  return openThrough(gateway, { port });
}
