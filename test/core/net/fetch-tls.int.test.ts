import { createServer as createHttpServer } from "node:http";
import { createServer } from "node:https";
import type { ServerOptions } from "node:https";
import { connect } from "node:net";
import type { TLSSocket } from "node:tls";
import { beforeAll, describe, expect, it } from "vitest";
import { makeCertificates } from "./certificates.ts";
import type { Certificates } from "./certificates.ts";
import { failureOf, listen, openFetch, serve, STRICT } from "./servers.ts";

let made: Certificates;

beforeAll(async () => {
  made = await makeCertificates();
});

/** Answers with the common name of the client's certificate. */
async function serveTls(options: ServerOptions, location?: () => string): Promise<number> {
  const server = createServer(options, (request, response) => {
    if (location !== undefined) response.writeHead(302, { location: location() });
    const { subject } = (request.socket as TLSSocket).getPeerCertificate();
    response.end(`client: ${String(subject?.CN)}`);
  });
  server.on("tlsClientError", () => {});
  return listen(server);
}

describe("a certificate", () => {
  it.each<[string, keyof Certificates, string, string, RegExp]>([
    ["has expired", "expired", "localhost", "has expired (CERT_HAS_EXPIRED)", /renew/],
    ["is for another name", "example", "localhost", "for another name", /name/],
    ["signed itself", "selfSigned", "localhost", "signed itself", /tls.*ca/],
  ])("that %s fails the request", async (_, identity, host, message, hint) => {
    const port = await serveTls(made[identity] as ServerOptions);
    const fetch = openFetch({ tls: { ca: made.ca } });
    expect(await failureOf(fetch(`https://${host}:${port}/`, { method: "GET" }))).toMatchObject({
      code: "NETWORK",
      permanent: false,
      message: expect.stringContaining(message),
      hint: expect.stringMatching(hint),
    });
  });

  it("from an unknown authority fails the request, whatever the environment says", async () => {
    const port = await serveTls(made.server);
    const before = process.env["NODE_TLS_REJECT_UNAUTHORIZED"];
    process.env["NODE_TLS_REJECT_UNAUTHORIZED"] = "0";
    try {
      const url = `https://localhost:${port}/`;
      expect(await failureOf(openFetch()(url, { method: "GET" }))).toMatchObject({
        code: "NETWORK",
        message: expect.stringContaining("an authority that this machine does not trust"),
        hint: expect.stringMatching(/"ca".* or NODE_EXTRA_CA_CERTS for all$/),
      });
    } finally {
      if (before === undefined) delete process.env["NODE_TLS_REJECT_UNAUTHORIZED"];
      else process.env["NODE_TLS_REJECT_UNAUTHORIZED"] = before;
    }
  });

  it.each(["localhost", "127.0.0.1"])("from one's own authority is good (%s)", async (host) => {
    const port = await serveTls(made.server);
    const fetch = openFetch({ tls: { ca: made.ca } });
    const response = await fetch(`https://${host}:${port}/`, { method: "GET" });
    expect(await response.text()).toBe("client: undefined");
  });

  it("cannot be expected of a port that speaks plain http", async () => {
    const origin = await serve((_, response) => response.end());
    const url = origin.replace("http:", "https:");
    expect(await failureOf(openFetch()(url, { method: "GET" }))).toMatchObject({
      code: "NETWORK",
      message: expect.stringContaining("does not speak TLS"),
    });
  });
});

describe("a client certificate", () => {
  const asking = () => ({ ...made.server, ca: made.ca, requestCert: true });

  it("is shown to the server that asks", async () => {
    const port = await serveTls(asking());
    const fetch = openFetch({ tls: { ca: made.ca, ...made.client } });
    const response = await fetch(`https://localhost:${port}/`, { method: "GET" });
    expect(await response.text()).toBe("client: client");
  });

  it("that is missing fails the request", async () => {
    const port = await serveTls(asking());
    const fetch = openFetch({ tls: { ca: made.ca } });
    expect(await failureOf(fetch(`https://localhost:${port}/`, { method: "GET" }))).toMatchObject({
      code: "NETWORK",
    });
  });

  it("is not shown to the origin that a redirect leads to", async () => {
    const other = await serveTls({ ...asking(), rejectUnauthorized: false });
    const port = await serveTls(asking(), () => `https://127.0.0.1:${other}/`);
    const fetch = openFetch({ tls: { ca: made.ca, ...made.client } });
    const response = await fetch(`https://localhost:${port}/`, { method: "GET" });
    expect(response.url).toBe(`https://127.0.0.1:${other}/`);
    expect(await response.text()).toBe("client: undefined");
  });
});

describe("a proxy", () => {
  /** Connects to `target` whatever it is asked for; notes what it was asked for. */
  async function serveProxy(target: number, refuse = false): Promise<[string, string[]]> {
    const seen: string[] = [];
    const proxy = createHttpServer((request, response) => {
      seen.push(`${request.method} ${request.url} ${request.headers["proxy-authorization"]}`);
      response.end("by proxy");
    });
    proxy.on("connect", (request, socket) => {
      seen.push(`CONNECT ${request.url} ${request.headers["proxy-authorization"]}`);
      socket.on("error", () => {});
      if (refuse) {
        socket.end("HTTP/1.1 403 Forbidden\r\n\r\n");
        return;
      }
      const upstream = connect(target, "127.0.0.1", () => {
        socket.write("HTTP/1.1 200 OK\r\n\r\n");
        upstream.pipe(socket).pipe(upstream);
      });
      upstream.on("error", () => socket.destroy()).on("close", () => socket.destroy());
      socket.on("close", () => upstream.destroy());
    });
    return [`http://me:pw@127.0.0.1:${await listen(proxy)}`, seen];
  }

  const ME = `Basic ${Buffer.from("me:pw").toString("base64")}`;
  const nothing = () => Promise.reject(new Error("the proxy resolves names"));

  it("gets a tunnel to the name, which it resolves; the certificate is checked as ever", async () => {
    const [proxy, seen] = await serveProxy(
      await serveTls({ ...made.example, ca: made.ca, requestCert: true }),
    );
    const tls = { ca: made.ca, ...made.client };
    const fetch = openFetch({ tls, env: { HTTPS_PROXY: proxy } }, nothing);
    const response = await fetch("https://mcp.example/", { method: "GET" });
    expect(await response.text()).toBe("client: client");
    expect(seen).toEqual([`CONNECT mcp.example:443 ${ME}`]);
    expect(await failureOf(fetch("https://other.example/", { method: "GET" }))).toMatchObject({
      code: "NETWORK",
      message: expect.stringContaining("certificate"),
    });
  });

  it("gets plain http, where that is allowed, without a tunnel", async () => {
    const [proxy, seen] = await serveProxy(0);
    const policy = { ...STRICT, allowInsecure: true };
    const fetch = openFetch({ policy, env: { http_proxy: proxy } }, nothing);
    const response = await fetch("http://mcp.example/a?b=c", { method: "POST", body: "x" });
    expect(await response.text()).toBe("by proxy");
    expect(seen).toEqual([`POST http://mcp.example/a?b=c ${ME}`]);
  });

  it("changes nothing about what is refused", async () => {
    const [proxy, seen] = await serveProxy(0);
    const fetch = openFetch({ env: { ALL_PROXY: proxy } }, nothing);
    for (const url of ["https://10.0.0.1/", "http://mcp.example/", "https://[::ffff:a00:1]/"]) {
      expect(await failureOf(fetch(url, { method: "GET" }))).toMatchObject({
        code: "REFUSED_ADDRESS",
      });
    }
    expect(seen).toEqual([]);
  });

  it("is passed by for this machine and for NO_PROXY", async () => {
    const port = await serveTls(made.example);
    const [proxy, seen] = await serveProxy(port);
    const env = { HTTPS_PROXY: proxy, NO_PROXY: "example" };
    const policy = { ...STRICT, allow: ["mcp.example"] };
    const fetch = openFetch({ policy, tls: { ca: made.ca }, env }, async () => [
      { address: "127.0.0.1", family: 4 },
    ]);
    const response = await fetch(`https://mcp.example:${port}/`, { method: "GET" });
    expect(await response.text()).toBe("client: undefined");
    const origin = await serve((_, direct) => direct.end("direct"));
    expect(await (await fetch(origin, { method: "GET" })).text()).toBe("direct");
    expect(seen).toEqual([]);
  });

  it("that is down is named in the failure", async () => {
    const server = createHttpServer();
    const port = await listen(server);
    await new Promise((resolve) => server.close(resolve));
    const fetch = openFetch({ env: { HTTPS_PROXY: `http://me:pw@127.0.0.1:${port}` } }, nothing);
    expect(await failureOf(fetch("https://mcp.example/", { method: "GET" }))).toMatchObject({
      code: "NETWORK",
      message: `mcp.example cannot be reached: the proxy 127.0.0.1:${port} refused the connection (ECONNREFUSED)`,
    });
  });

  it("that refuses is named in the failure", async () => {
    const [proxy] = await serveProxy(0, true);
    const fetch = openFetch({ env: { HTTPS_PROXY: proxy } }, nothing);
    const failure = await failureOf(fetch("https://mcp.example/", { method: "GET" }));
    expect(failure).toMatchObject({
      code: "NETWORK",
      message: expect.stringContaining("the proxy did not connect to it"),
      hint: expect.stringContaining("HTTPS_PROXY"),
    });
    expect(String(failure)).not.toContain("pw");
  });
});
