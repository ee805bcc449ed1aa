// The suite cannot send a header, and the gateway wants a token. This relay on loopback adds the token to every
// request and passes everything else on as it is, Host and Origin too: what the suite tests with those is the
// gateway's to answer.

import { once } from "node:events";
import { Agent, createServer, request } from "node:http";

/** Resolves to `{ url, close }` when it listens; `target` is the gateway's URL. */
export async function startRelay({ target, token }) {
  const { hostname, port, pathname } = new URL(target);
  const agent = new Agent({ keepAlive: true });
  const server = createServer((incoming, outgoing) => {
    const { method, url: path } = incoming;
    const headers = [...incoming.rawHeaders, "Authorization", `Bearer ${token}`];
    const onward = request({ hostname, port, method, path, headers, agent, setHost: false });
    onward.once("response", (response) => {
      outgoing.writeHead(response.statusCode, response.rawHeaders);
      // A stream that says nothing yet is open all the same.
      outgoing.flushHeaders();
      response.pipe(outgoing);
    });
    onward.once("error", () => outgoing.destroy());
    outgoing.once("close", () => onward.destroy());
    incoming.pipe(onward);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${server.address().port}${pathname}`,
    async close() {
      server.close();
      server.closeAllConnections();
      agent.destroy();
      await once(server, "close");
    },
  };
}
