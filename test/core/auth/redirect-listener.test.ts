import { createServer } from "node:http";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  listenForRedirect,
  type RedirectListener,
} from "../../../src/core/auth/redirect-listener.ts";
import { listen as occupy } from "../net/servers.ts";

async function start(preferred?: string, isFixed = false): Promise<RedirectListener> {
  const listener = await listenForRedirect(preferred, isFixed);
  if (listener === undefined) throw new Error("There should be a listener.");
  onTestFinished(() => listener.close());
  return listener;
}

async function visit(listener: RedirectListener, rest: string, init?: RequestInit) {
  const response = await fetch(`${listener.redirectUri}${rest}`, init);
  return { status: response.status, text: await response.text(), headers: response.headers };
}

describe("the redirect", () => {
  it("arrives on a free port of this machine", async () => {
    const listener = await start();
    expect(listener.redirectUri).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/callback$/);
    const arrival = listener.redirected("s");
    const { status, text, headers } = await visit(listener, "?code=c&state=s");
    expect(status).toBe(200);
    expect(text).toBe("The sign-in has reached Plugboard. You can close this window.\n");
    expect(headers.get("cache-control")).toBe("no-store");
    expect(headers.get("referrer-policy")).toBe("no-referrer");
    expect((await arrival).get("code")).toBe("c");
  });

  it("may arrive before anybody waits for it", async () => {
    const listener = await start();
    expect((await visit(listener, "?error=access_denied&state=s")).text).toContain("was refused");
    expect((await listener.redirected("s")).get("error")).toBe("access_denied");
  });

  it("does not count without the state", async () => {
    const listener = await start();
    await visit(listener, "?code=wrong&state=guess");
    const arrival = listener.redirected("s");
    await visit(listener, "?code=wrong");
    await visit(listener, "?code=right&state=s");
    expect((await arrival).get("code")).toBe("right");
  });

  it.each<[string, RequestInit?]>([
    ["/elsewhere?code=c&state=s"],
    ["?state=s"],
    [""],
    ["?code=c&state=s", { method: "POST" }],
  ])("is the only request that is answered: %s %j", async (rest, init) => {
    expect(await visit(await start(), rest, init)).toMatchObject({
      status: 404,
      text: "Not found.\n",
    });
  });

  it.each(["http://127.0.0.1/back", "http://localhost:0/", "http://[::1]/callback"])(
    "can be elsewhere on this machine: %s",
    async (preferred) => {
      const { redirectUri } = await start(preferred, true);
      const { hostname, pathname, port } = new URL(redirectUri);
      expect(`http://${hostname}${pathname}`).toBe(preferred.replace(":0", ""));
      expect(Number(port)).toBeGreaterThan(0);
    },
  );

  it.each(["https://example.com/cb", "https://127.0.0.1/cb", "http://example.com/cb"])(
    "is somebody else's to hear at %s",
    async (preferred) => {
      expect(await listenForRedirect(preferred, true)).toBeUndefined();
    },
  );

  it("uses another port if the preferred one is taken, unless it is configured", async () => {
    const taken = `http://127.0.0.1:${await occupy(createServer())}/callback`;
    expect((await start(taken)).redirectUri).not.toBe(taken);
    await expect(listenForRedirect(taken, true)).rejects.toMatchObject({ code: "NETWORK" });
  });
});
