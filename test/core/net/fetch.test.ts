import { createServer } from "node:net";
import { describe, expect, it } from "vitest";
import { createFetch } from "../../../src/core/net/fetch.ts";
import { failureOf, listen, openFetch, serve, STRICT } from "./servers.ts";

describe("a request", () => {
  it("is sent as given and answered with status, headers, URL and text", async () => {
    const origin = await serve((request, response) => {
      request.setEncoding("utf8");
      let body = "";
      request.on("data", (chunk: string) => (body += chunk));
      request.on("end", () => {
        response.writeHead(201, { "X-Seen": "yes", "Set-Cookie": ["a=1", "b=2"] });
        response.end(JSON.stringify({ method: request.method, headers: request.headers, body }));
      });
    });
    const response = await openFetch()(`${origin}/mcp?x=1`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      privateHeaders: { Authorization: "Bearer k" },
      body: '{"é":1}',
    });
    expect(response).toMatchObject({ status: 201, url: `${origin}/mcp?x=1` });
    expect(Object.getPrototypeOf(response.headers)).toBeNull();
    expect(response.headers).toMatchObject({ "x-seen": "yes", "set-cookie": "a=1, b=2" });
    expect(JSON.parse(await response.text())).toMatchObject({
      method: "POST",
      body: '{"é":1}',
      headers: {
        "accept-encoding": "identity",
        authorization: "Bearer k",
        "content-length": "8",
        "content-type": "application/json",
      },
    });
  });

  it("shares connections with those before", async () => {
    let connections = 0;
    const origin = await serve(
      (_, response) => response.end("ok"),
      (server) => server.on("connection", () => (connections += 1)),
    );
    const fetch = openFetch();
    for (const method of ["GET", "DELETE", "GET", "POST", "GET"] as const) {
      expect(await (await fetch(origin, { method })).text()).toBe("ok");
    }
    // A second one opens when a request comes before the first has settled.
    expect(connections).toBeLessThanOrEqual(2);
  });

  it.each([
    ["no URL", "mcp", {}, "REFUSED_ADDRESS"],
    ["plain http elsewhere", "http://example.com/", {}, "REFUSED_ADDRESS"],
    ["a private address", "https://10.0.0.1/", {}, "REFUSED_ADDRESS"],
    ["another scheme", "file:///etc/passwd", {}, "REFUSED_ADDRESS"],
    ["a line end in a header", "https://10.0.0.1/", { a: "b\r\nc: d" }, "INVALID_ARGUMENTS"],
  ])("with %s is refused before anything is sent", async (_, url, headers, code) => {
    const resolve = () => Promise.reject(new Error("nothing may be resolved"));
    const fetch = openFetch({}, resolve);
    expect(await failureOf(fetch(url, { method: "GET", headers }))).toMatchObject({
      code,
      permanent: true,
    });
  });

  it("reports that nobody listens", async () => {
    const server = createServer();
    const port = await listen(server);
    await new Promise((resolve) => server.close(resolve));
    const url = `http://127.0.0.1:${port}/`;
    expect(await failureOf(openFetch()(url, { method: "GET" }))).toMatchObject({
      code: "NETWORK",
      permanent: false,
      message: `127.0.0.1:${port} refused the connection (ECONNREFUSED)`,
    });
  });

  it.each([
    ["something else than HTTP", "SSH-2.0-x\r\n", "PROTOCOL"],
    ["nothing", "", "NETWORK"],
    [
      "too many headers",
      `HTTP/1.1 200 OK\r\nx: ${"y".repeat(20_000)}\r\n\r\n`,
      "MESSAGE_TOO_LARGE",
    ],
  ])("answered with %s fails", async (_, answer, code) => {
    const port = await listen(
      createServer((socket) => socket.once("data", () => socket.end(answer))),
    );
    const url = `http://127.0.0.1:${port}/`;
    expect(await failureOf(openFetch()(url, { method: "GET" }))).toMatchObject({ code });
  });
});

describe("a name", () => {
  const policy = { ...STRICT, allowInsecure: true };

  it("that resolves to a private address is refused", async () => {
    const fetch = openFetch({ policy }, async () => [{ address: "10.0.0.1", family: 4 }]);
    expect(await failureOf(fetch("http://rebind.example/", { method: "GET" }))).toMatchObject({
      code: "REFUSED_ADDRESS",
      message: "rebind.example (10.0.0.1) is a private address",
    });
  });

  it("is resolved once for a connection: what was checked is what is used", async () => {
    const origin = await serve((request, response) => response.end(request.headers.host));
    const { port } = new URL(origin);
    const answers = ["127.0.0.1", "10.0.0.1"];
    const fetch = openFetch({ policy: { ...policy, allow: ["127.0.0.0/8"] } }, async () => [
      { address: answers.shift() ?? "", family: 4 },
    ]);
    const response = await fetch(`http://rebind.example:${port}/`, { method: "GET" });
    expect(await response.text()).toBe(`rebind.example:${port}`);
    expect(answers).toEqual(["10.0.0.1"]);
  });

  it("that cannot be resolved is a network failure", async () => {
    const missing = Object.assign(new Error("not found"), { code: "ENOTFOUND" });
    const fetch = openFetch({ policy }, () => Promise.reject(missing));
    expect(await failureOf(fetch("http://nowhere.example/", { method: "GET" }))).toMatchObject({
      code: "NETWORK",
      message: "nowhere.example is a name that cannot be resolved (ENOTFOUND)",
      cause: missing,
    });
  });

  it("localhost works over plain http", async () => {
    const origin = await serve((_, response) => response.end("local"));
    const url = origin.replace("127.0.0.1", "localhost");
    expect(await (await openFetch()(url, { method: "GET" })).text()).toBe("local");
  });
});

describe("a redirect", () => {
  it("is followed by a GET, up to five times", async () => {
    const origin = await serve((request, response) => {
      const left = Number(request.url?.slice(1));
      if (left === 0) response.end("here");
      else response.writeHead(302, { location: `/${left - 1}` }).end("moved");
    });
    const fetch = openFetch();
    const response = await fetch(`${origin}/5`, { method: "GET" });
    expect(response.url).toBe(`${origin}/0`);
    expect(await response.text()).toBe("here");
    expect(await failureOf(fetch(`${origin}/6`, { method: "GET" }))).toMatchObject({
      code: "PROTOCOL",
      message: expect.stringContaining("redirects more than 5 times"),
    });
  });

  it.each([307, 308])("takes a POST's body along within the origin (%s)", async (status) => {
    const origin = await serve((request, response) => {
      if (request.url === "/old") response.writeHead(status, { location: "/new" }).end();
      else request.pipe(response);
    });
    const request = { method: "POST", body: "hello", privateHeaders: { "x-key": "k" } } as const;
    expect(await (await openFetch()(`${origin}/old`, request)).text()).toBe("hello");
  });

  it.each([
    ["GET", 302, "file:///etc/passwd"],
    ["GET", 302, "https://169.254.169.254/latest/meta-data"],
    ["GET", 307, "http://example.com/"],
    ["GET", 301, "https://user:pw@example.com/"],
    ["POST", 302, "/elsewhere"],
    ["POST", 307, "https://example.com/mcp"],
    ["DELETE", 308, "http://localhost:1/"],
  ] as const)("of a %s (%s) to %s is refused", async (method, status, location) => {
    const seen: string[] = [];
    const origin = await serve((request, response) => {
      seen.push(request.url ?? "");
      response.writeHead(status, { location }).end();
    });
    expect(await failureOf(openFetch()(origin, { method }))).toMatchObject({
      code: "REFUSED_ADDRESS",
      permanent: true,
    });
    expect(seen).toEqual(["/"]);
  });

  it("to this machine is refused to a server that is elsewhere", async () => {
    const origin = await serve((_, response) =>
      response.writeHead(302, { location: "http://127.0.0.1:1/" }).end(),
    );
    const { port } = new URL(origin);
    const policy = { ...STRICT, allowInsecure: true, allow: ["far.example"] };
    const fetch = openFetch({ policy }, async () => [{ address: "127.0.0.1", family: 4 }]);
    expect(await failureOf(fetch(`http://far.example:${port}/`, { method: "GET" }))).toMatchObject({
      code: "REFUSED_ADDRESS",
      message: `far.example:${port} redirects to this machine (127.0.0.1:1)`,
      hint: undefined,
      quote: undefined,
    });
  });

  it("to a name that leads nowhere says that the server chose the name, and not how to allow it", async () => {
    const origin = await serve((_, response) =>
      response.writeHead(302, { location: "https://obey.example/" }).end(),
    );
    const fetch = openFetch({}, async () => [{ address: "10.0.0.1", family: 4 }]);
    expect(await failureOf(fetch(origin, { method: "GET" }))).toMatchObject({
      code: "REFUSED_ADDRESS",
      message: "obey.example (10.0.0.1) is a private address",
      hint: undefined,
      quote: "obey.example",
    });
    expect(await failureOf(fetch("https://own.example", { method: "GET" }))).toMatchObject({
      hint: expect.stringContaining("network.allow"),
      quote: "",
    });
  });

  it("never takes credentials to another origin, nor back from there", async () => {
    const seen: [string, unknown, unknown, unknown][] = [];
    const note = (place: string, headers: NodeJS.Dict<string | string[]>) =>
      seen.push([place, headers["authorization"], headers["x-key"], headers["x-open"]]);
    let home = "";
    const other = await serve((request, response) => {
      note("other", request.headers);
      response.writeHead(302, { location: `${home}/last` }).end();
    });
    home = await serve((request, response) => {
      note(request.url ?? "", request.headers);
      if (request.url === "/last") response.end();
      else {
        const location = request.url === "/first" ? "/second" : other;
        response.writeHead(302, { location }).end();
      }
    });
    const response = await openFetch()(`${home}/first`, {
      method: "GET",
      headers: { Authorization: "a", "x-open": "o" },
      privateHeaders: { "X-Key": "k" },
    });
    await response.text();
    expect(seen).toEqual([
      ["/first", "a", "k", "o"],
      ["/second", "a", "k", "o"],
      ["other", undefined, undefined, "o"],
      ["/last", undefined, undefined, "o"],
    ]);
  });
});

describe("close", () => {
  it("ends what is under way and every socket, and refuses what comes after", async () => {
    let sockets = 0;
    let allGone = () => {};
    const gone = new Promise<void>((resolve) => (allGone = resolve));
    const origin = await serve(
      (request, response) => {
        if (request.url === "/stream") response.write("first");
      },
      (server) =>
        server.on("connection", (socket) => {
          sockets += 1;
          socket.on("close", () => (sockets -= 1) || allGone());
        }),
    );
    const fetch = openFetch();
    const stream = await fetch(`${origin}/stream`, { method: "GET" });
    const waiting = failureOf(fetch(`${origin}/never`, { method: "GET" }));
    const reading = failureOf(stream.text());
    await new Promise((resolve) => setImmediate(resolve));
    await Promise.all([fetch.close(), fetch.close()]);
    expect(await waiting).toMatchObject({ code: "CONNECTION_CLOSED" });
    expect(await reading).toMatchObject({ code: "CONNECTION_CLOSED" });
    await gone;
    expect(await failureOf(fetch(origin, { method: "GET" }))).toMatchObject({
      code: "CONNECTION_CLOSED",
    });
  });
});

describe("createFetch", () => {
  it.each([
    ["a policy", { policy: { ...STRICT, allow: ["nonsense/"] } }],
    ["text as CA", { policy: STRICT, tls: { ca: "nonsense" } }],
    [
      "a broken CA",
      {
        policy: STRICT,
        tls: { ca: "-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----\n" },
      },
    ],
    ["a key", { policy: STRICT, tls: { cert: "nonsense", key: "nonsense" } }],
  ])("refuses %s that cannot be used", (_, options) => {
    expect(() => createFetch(options)).toThrow(
      expect.objectContaining({ code: "CONFIG_INVALID", permanent: true }),
    );
  });
});
