import { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import { describe, expect, it } from "vitest";
import { gatewaySettings } from "../../../../src/core/config/gateway.ts";
import { RequestSource } from "../../../../src/serve/endpoint/http/request-source.ts";
import type { GatewaySettings } from "../../../../src/core/types/gateway-settings.ts";
import { openRig } from "../../gateway/access/rig.ts";

const CONFIGURED: Partial<GatewaySettings> = {
  publicUrl: "https://gateway.example.com/plug",
  allowedHosts: ["lan.example", "*.sub.example", "forward.example:8080"],
  allowedOrigins: ["https://app.example.com"],
};

describe("Host", () => {
  it.each([
    "localhost",
    "localhost:1234",
    "LOCALHOST:1",
    "localhost.",
    "app.localhost:3000",
    "127.0.0.1",
    "127.0.0.2:99",
    "[::1]:80",
    "gateway.example.com",
    "gateway.example.com:443",
    "GateWay.Example.com",
    "lan.example:7584",
    "a.sub.example",
    "forward.example:8080",
  ])("%s is known", async (host) => {
    const { send } = await openRig(CONFIGURED);
    expect((await send([`Host: ${host}`], "/open")).status).toBe(200);
  });

  it.each([
    ["evil.example", 403],
    ["evil.example:7584", 403],
    ["localhost.evil.example", 403],
    ["127.0.0.1.evil.example", 403],
    ["gateway.example.com.evil.example", 403],
    ["sub.example", 403],
    ["evilsub.example", 403],
    ["forward.example", 403],
    ["forward.example:8081", 403],
    ["192.168.1.5", 403],
    ["0.0.0.0", 403],
    ["[::]", 403],
    ["2130706433", 403],
    ["", 400],
    ["a b", 400],
    ["localhost@evil.example", 400],
    ["evil.example#localhost", 400],
    ["localhost:port", 400],
    ["[::1", 400],
    ["loc\u00e4lhost", 400],
    ["x".repeat(10_000), 400],
  ])("%s is refused (%i)", async (host, status) => {
    const { send, token } = await openRig(CONFIGURED);
    for (const path of ["/open", "/mcp"]) {
      const lines = [`Host: ${host}`, `Authorization: Bearer ${token}`];
      expect((await send(lines, path)).status).toBe(status);
    }
  });

  it("is refused if it is there twice", async () => {
    const { send } = await openRig();
    expect((await send(["Host: localhost", "Host: evil.example"], "/open")).status).toBe(400);
  });

  it("cannot be bypassed by an absolute address", async () => {
    const { send } = await openRig();
    expect((await send(["Host: localhost"], "http://evil.example/open")).status).toBe(400);
  });
});

describe("Host as an address that is not loopback", () => {
  const source = new RequestSource(gatewaySettings(), {
    host: "host",
    origin: "origin",
    site: "site",
  });

  /** Tests stay on loopback, so the address of the socket is set. */
  function requestTo(localAddress: string, host: string): IncomingMessage {
    const socket = Object.defineProperty(new Socket(), "localAddress", { value: localAddress });
    return Object.assign(new IncomingMessage(socket), {
      method: "GET",
      url: "/",
      headers: { host },
    });
  }

  it.each([
    ["192.168.1.5", "192.168.1.5:7584", undefined],
    ["::ffff:10.1.2.3", "10.1.2.3", undefined],
    ["2001:db8::1", "[2001:DB8:0::1]:7584", undefined],
    ["192.168.1.5", "192.168.1.6", 403],
    ["2001:db8::1", "[2001:db8::2]", 403],
  ])("is known if it is the one that was called: %s called as %s", (address, host, status) => {
    expect(source.check(requestTo(address, host))?.status).toBe(status);
  });
});

describe("a web page", () => {
  it.each<[string, string[]]>([
    ["no browser at all", []],
    ["an address that somebody typed", ["Sec-Fetch-Site: none"]],
    ["a page of the gateway", ["Origin: http://localhost", "Sec-Fetch-Site: same-origin"]],
    [
      "a page on this machine, in a browser without Sec-Fetch-Site",
      ["Origin: http://127.0.0.1:3000"],
    ],
    [
      "a page of the public URL",
      ["Origin: https://gateway.example.com", "Sec-Fetch-Site: cross-site"],
    ],
    [
      "a page that is configured",
      ["Origin: https://app.example.com", "Sec-Fetch-Site: cross-site"],
    ],
    ["a page of a host that is configured", ["Host: lan.example", "Origin: http://lan.example"]],
  ])("is let in: %s", async (_, lines) => {
    const { send } = await openRig(CONFIGURED);
    expect((await send(lines, "/open")).status).toBe(200);
  });

  it.each<[string, string[]]>([
    ["a page of another site", ["Origin: https://evil.example"]],
    ["a page without an origin", ["Origin: null"]],
    ["an empty origin", ["Origin:"]],
    ["a page of another port of the configured host", ["Origin: https://app.example.com:8443"]],
    ["a page of a host below the configured one", ["Origin: https://x.app.example.com"]],
    ["a configured host over plain http", ["Origin: http://app.example.com"]],
    ["something that begins like this machine", ["Origin: http://localhost.evil.example"]],
    ["a user name like this machine", ["Origin: http://localhost@evil.example"]],
    ["an origin with a path", ["Origin: http://localhost/x"]],
    ["a page of an extension", ["Origin: chrome-extension://abcdef"]],
    ["a file", ["Origin: file://"]],
    ["garbage", ["Origin: \u00e9"]],
    ["10 KB of it", [`Origin: http://${"a".repeat(10_000)}`]],
    ["a link or image of another site", ["Sec-Fetch-Site: cross-site"]],
    [
      "another port of this machine",
      ["Origin: http://localhost:3000", "Sec-Fetch-Site: same-site"],
    ],
    ["a word that no browser sends", ["Sec-Fetch-Site: Same-Origin, none"]],
  ])("is refused: %s", async (_, lines) => {
    const { send, token } = await openRig(CONFIGURED);
    expect((await send(lines, "/open")).status).toBe(403);
    expect((await send([...lines, `Authorization: Bearer ${token}`])).status).toBe(403);
  });

  it.each([
    [["Origin: http://localhost", "Origin: https://evil.example"]],
    [["Sec-Fetch-Site: none", "Sec-Fetch-Site: cross-site"]],
  ])("cannot say it twice: %j", async (lines) => {
    const { send } = await openRig();
    expect((await send(lines, "/open")).status).toBe(400);
  });

  it("that is configured may read the answer, and no other", async () => {
    const { send } = await openRig(CONFIGURED);
    const allowed = await send(["Origin: https://app.example.com"], "/open");
    expect(allowed.headers).toMatchObject({
      "access-control-allow-origin": "https://app.example.com",
      "access-control-expose-headers": expect.stringContaining("Mcp-Session-Id"),
      vary: "Origin",
    });
    const preflight = await send([
      "OPTIONS /open",
      "Origin: https://app.example.com",
      "Access-Control-Request-Method: POST",
      "Access-Control-Request-Headers: authorization, mcp-session-id",
    ]);
    expect(preflight.headers).toMatchObject({
      "access-control-allow-methods": "GET, POST, DELETE",
      "access-control-allow-headers": "authorization, mcp-session-id",
    });
    const local = await send(["Origin: http://localhost:3000"], "/open");
    expect(local.headers["access-control-allow-origin"]).toBeUndefined();
  });
});
