import { describe, expect, it, onTestFinished } from "vitest";
import {
  openSecretNetwork,
  proxiesFor,
  type SecretNetwork,
} from "../../../src/core/secrets/secret-fetch.ts";
import { systemClock } from "../../../src/util/clock.ts";
import { failureOf, serve } from "../net/servers.ts";
import { context } from "./programs.ts";

function open(): SecretNetwork {
  const network = openSecretNetwork({}, systemClock);
  onTestFinished(() => network.close());
  return network;
}

describe("the network of a provider", () => {
  it("reaches the host of the URL, and gives status, headers and text", async () => {
    const seen: (string | undefined)[] = [];
    const origin = await serve((request, response) => {
      seen.push(request.method, request.headers["x-vault-token"]?.toString());
      response.writeHead(403, { "X-Note": "n" }).end("no");
    });
    const response = await open().fetch(`${origin}/v1/x`, {
      ...context(),
      method: "PUT",
      privateHeaders: { "x-vault-token": "t" },
      body: "{}",
    });
    expect(response).toMatchObject({ status: 403, headers: { "x-note": "n" } });
    expect(await response.text()).toBe("no");
    expect(seen).toEqual(["PUT", "t"]);
  });

  it("does not follow it to another private host, and sends it no credentials", async () => {
    const seen: unknown[] = [];
    const other = await serve((request, response) => {
      seen.push(request.headers);
      response.end();
    });
    const origin = await serve((_, response) => {
      response.writeHead(307, { location: other.replace("127.0.0.1", "169.254.169.254") }).end();
    });
    const error = await failureOf(open().fetch(origin, { ...context(), method: "GET" }));
    expect(error).toMatchObject({ code: "REFUSED_ADDRESS" });
    expect(seen).toEqual([]);
  });

  it("takes a mebibyte and no more", async () => {
    const origin = await serve((_, response) => void response.end("x".repeat(2 ** 20 + 1)));
    const response = await open().fetch(origin, { ...context(), method: "GET" });
    expect(await failureOf(response.text())).toMatchObject({ code: "MESSAGE_TOO_LARGE" });
  });

  it("ends with its signal", async () => {
    const origin = await serve(() => {});
    const signal = AbortSignal.timeout(50);
    expect(await failureOf(open().fetch(origin, { method: "GET", signal }))).toMatchObject({
      code: "CANCELLED",
    });
  });

  it.each([
    ["169.254.169.254", undefined],
    ["vault.example.com", "http://proxy.example"],
  ])("%s is reached through the proxy %s", (host, proxy) => {
    expect(proxiesFor(host, { HTTP_PROXY: "http://proxy.example" })["HTTP_PROXY"]).toBe(proxy);
  });
});
