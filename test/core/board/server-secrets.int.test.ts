// Secrets of servers: got when a server starts or connects, and never told.

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { openBoard } from "../../../src/core/board/board.ts";
import type { BoardOptions } from "../../../src/core/types/board-options.ts";
import type { ServerConfig } from "../../../src/core/types/server-config.ts";
import { type SecretProvider, secretUnavailable } from "../../../src/core/types/secret-provider.ts";
import { deferred } from "../../../src/util/deferred.ts";
import { startSse } from "../../fixtures/http/sse.ts";
import { closeAll, owned, serve } from "../../fixtures/http/client.ts";
import { temporaryDirectory } from "../../support/directory.ts";
import { failureOf } from "../secrets/programs.ts";
import { closeBoards, fixture, open, reaches, statusOf, textOf } from "../../support/boards.ts";
import { recordingLogger } from "../../support/logger.ts";

afterEach(closeAll);
// Last, so that it is done first.
closeBoards();

/** A provider of the program's own, `secret://my/…`: the values by their paths, which may change. */
function myProvider(values: Record<string, string | Error>) {
  const asked: string[] = [];
  let closed = 0;
  const provider: SecretProvider = {
    name: "my",
    async resolve({ path }) {
      asked.push(path);
      const value = values[path] ?? secretUnavailable("there is no such secret");
      if (typeof value === "string") return value;
      throw value;
    },
    close: async () => void (closed += 1),
  };
  return { provider, asked, values, closed: () => closed };
}

it("the password of a proxy reaches servers, and is a secret", async () => {
  const HTTPS_PROXY = "http://ada:Pr0xy-Passw0rd@proxy.example:3128";
  const board = await open({ echo: fixture("echo") }, { env: { ...process.env, HTTPS_PROXY } });
  const outcome = await board.call("echo/env");
  expect(textOf(outcome)).toContain("http://ada:[REDACTED]@proxy.example:3128");
  const kept = await board.call("echo/echo", { text: "Pr0xy-Passw0rd" });
  expect(JSON.stringify(kept)).not.toContain("Pr0xy-Passw0rd");
});

describe("the secrets of ten servers with ten references each", () => {
  it("are all asked for at once, each distinct one once", async () => {
    const { url, requests } = await serve({ era: "modern" });
    const asked: string[] = [];
    const all = deferred();
    const DISTINCT = 5 + 10 * 5;
    const provider: SecretProvider = {
      name: "my",
      async resolve({ path }) {
        asked.push(path);
        // Nobody gets a value before everybody has asked: one after the other would wait for ever.
        if (asked.length === DISTINCT) all.resolve();
        await all.promise;
        return `value-of-${path}`;
      },
    };
    const servers = Object.fromEntries(
      Array.from({ length: 10 }, (_, server): [string, ServerConfig] => [
        `s${server}`,
        {
          url,
          headers: Object.fromEntries(
            Array.from({ length: 10 }, (__, at) => [
              `X-${at}`,
              at < 5 ? `secret://my/shared-${at}` : `a \${secret://my/own-${server}-${at}} b`,
            ]),
          ),
        },
      ]),
    );
    const board = await open(servers, { secretProviders: [provider] });
    expect(board.status().map(({ state }) => state.kind)).toEqual(Array(10).fill("ready"));
    expect(asked).toHaveLength(DISTINCT);
    expect(new Set(asked).size).toBe(DISTINCT);
    expect(requests[0]?.headers).toMatchObject({ "x-0": "value-of-shared-0" });
    const own = requests.map(({ headers }) => headers["x-9"]);
    expect(own).toContain("a value-of-own-3-9 b");
  });
});

describe("a secret that cannot be had", () => {
  it("keeps that server from starting, with the reference and the cause, and no other", async () => {
    const { provider } = myProvider({ good: "hunter2-hunter2" });
    const board = await open(
      {
        bad: { ...fixture("echo"), env: { TOKEN: "secret://my/bad", OTHER: "secret://my/good" } },
        good: { ...fixture("echo"), env: { TOKEN: "secret://my/good" } },
      },
      { secretProviders: [provider] },
    );
    expect(statusOf(board, "bad")).toMatchObject({
      state: {
        kind: "failed",
        error: {
          code: "SECRET_UNAVAILABLE",
          server: "bad",
          message: "env.TOKEN needs secret://my/bad: there is no such secret",
        },
      },
    });
    expect(statusOf(board, "good").state.kind).toBe("ready");
    const outcome = await board.call("good/env");
    expect(textOf(outcome)).toContain('"TOKEN":"[REDACTED]"');
    expect(textOf(await board.call("bad/echo", { text: "x" }))).not.toContain("hunter2");
  });

  it("is tried again with the backoff of the server if the cause may pass, and heals", async () => {
    const down = secretUnavailable("it is down", { permanent: false });
    const { provider, values, asked } = myProvider({ token: down });
    const board = await open(
      { it: { ...fixture("echo"), env: { TOKEN: "secret://my/token" } } },
      { secretProviders: [provider], random: () => 0 },
    );
    expect(statusOf(board, "it").state).toMatchObject({
      kind: "backoff",
      error: { message: "env.TOKEN needs secret://my/token: it is down" },
    });
    values["token"] = "hunter2-hunter2";
    await reaches(board, "it", "ready");
    expect(asked).toEqual(["token", "token"]);
  });

  it("is not asked for while another value is missing", async () => {
    const { provider, asked } = myProvider({ token: "x" });
    const board = await open(
      { it: { command: "x", env: { A: "secret://my/token", B: "${NO_SUCH_VARIABLE}" } } },
      { secretProviders: [provider], env: {} },
    );
    expect(statusOf(board, "it").state).toMatchObject({
      kind: "failed",
      error: { code: "UNRESOLVED_VALUE" },
    });
    expect(asked).toEqual([]);
  });

  it("is not waited for by a board that closes", async () => {
    const board = await openBoard(
      { servers: { it: { command: "x", env: { A: "secret://my/token" } } }, startupWait: 0 },
      { secretProviders: [{ name: "my", resolve: () => new Promise(() => {}) }] },
    );
    await board.close();
    expect(statusOf(board, "it").state.kind).toBe("stopped");
  });
});

describe("a secret that nobody has needed yet", () => {
  it.each<[string, ServerConfig]>([
    [
      "behind the scheme of a header",
      { url: "https://a.example", headers: { Authorization: "Bearer ${secret://my/t}" } },
    ],
    ["in a variable", { command: "x", env: { API_TOKEN: "tok-${secret://my/t}" } }],
    ["in an argument", { command: "x", args: ["--header", "X-Api-Key: Bearer ${secret://my/t}"] }],
    ["of a login", { url: "https://${secret://my/t}:${secret://my/t}@a.example" }],
  ])("hides nothing of what stands beside it, and nothing is said of it: %s", async (_, later) => {
    const { provider, asked } = myProvider({ t: "hunter2-hunter2" });
    const board = await open(
      { echo: fixture("echo"), later },
      { start: "none", secretProviders: [provider] },
    );
    const text = "Authorization: Bearer abc, API_TOKEN=tok-abc, X-Api-Key: Bearer abc";
    expect(textOf(await board.call("echo/echo", { text }))).toBe(text);
    expect(statusOf(board, "later").diagnostics).toEqual([]);
    expect(asked).toEqual([]);
  });
});

describe("a program's new values", () => {
  it("come with its next start", async () => {
    const directory = temporaryDirectory();
    const file = join(directory, "token");
    await writeFile(file, "first-value\n", { mode: 0o600 });
    const { provider, values } = myProvider({ token: "first-value" });
    const board = await open(
      {
        it: {
          ...fixture("echo"),
          env: { PLAIN: `secret://file/${file}`, FIXED: "x ${secret://my/token}" },
        },
      },
      { secretProviders: [provider] },
    );
    const told = async (text: string): Promise<boolean> =>
      textOf(await board.call("it/env")).includes(text);
    expect(await told('"PLAIN":"[REDACTED]"')).toBe(true);
    expect(await told('"FIXED":"x [REDACTED]"')).toBe(true);
    await writeFile(file, "short");
    values["token"] = "brief";
    await board.restart("it");
    expect(await told('"PLAIN":"short"')).toBe(true);
    expect(await told('"FIXED":"x brief"')).toBe(true);
    expect(statusOf(board, "it").diagnostics).toContainEqual({
      server: "it",
      message:
        "the credential in env.PLAIN has fewer than 8 characters: results that contain it are not redacted",
    });
  });
});

describe("a server that refuses a credential from a reference", () => {
  const OTHER: Record<string, ServerConfig> = {
    header: { headers: { Authorization: "Bearer ${secret://my/token}" } },
    auth: { auth: { type: "bearer", token: "secret://my/token" } },
  };

  it.each(Object.keys(OTHER))("gets the new one with the same request: %s", async (how) => {
    const auth = { token: "first-token" };
    const { provider, values, asked } = myProvider({ token: "first-token" });
    const server = await serve({ auth });
    const board = await open(
      { remote: { url: server.url, ...OTHER[how] } },
      { secretProviders: [provider] },
    );
    auth.token = "second-token";
    values["token"] = "second-token";
    const texts = await Promise.all(
      ["a", "b", "c"].map(async (text) => textOf(await board.call("remote/echo", { text }))),
    );
    expect(texts).toEqual(["a", "b", "c"]);
    expect(asked).toEqual(["token", "token"]);
    expect(statusOf(board, "remote")).toMatchObject({ state: { kind: "ready" }, restarts: 0 });
    // The old one may still be repeated.
    const both = textOf(await board.call("remote/echo", { text: "first-token second-token" }));
    expect(both).toBe("[REDACTED] [REDACTED]");
  });

  it("over SSE gets it too", async () => {
    const auth = { token: "first-token" };
    const { provider, values } = myProvider({ token: "first-token" });
    const { url } = owned(await startSse({ auth }));
    const board = await open(
      { remote: { url, transport: "sse", ...OTHER["auth"] } },
      { secretProviders: [provider] },
    );
    auth.token = "second-token";
    values["token"] = "second-token";
    expect(textOf(await board.call("remote/echo", { text: "on" }))).toBe("on");
  });

  it("and has no other one needs a sign-in, after one more request to the provider", async () => {
    const auth = { token: "first-token" };
    const { provider, asked } = myProvider({ token: "first-token" });
    const server = await serve({ auth });
    const board = await open(
      { remote: { url: server.url, ...OTHER["auth"] } },
      { secretProviders: [provider] },
    );
    auth.token = "another-token";
    const before = server.requests.length;
    expect((await board.call("remote/echo", { text: "x" })).failure).toMatchObject({
      code: "NEEDS_AUTH",
    });
    expect(asked).toEqual(["token", "token"]);
    const posts = server.requests.slice(before).filter(({ method }) => method === "POST");
    expect(posts).toHaveLength(1);
  });

  it("fails that call if the provider is down, and goes on when it is back", async () => {
    const auth = { token: "first-token" };
    const { provider, values } = myProvider({ token: "first-token" });
    const server = await serve({ auth });
    const board = await open(
      { remote: { url: server.url, ...OTHER["auth"] } },
      { secretProviders: [provider] },
    );
    auth.token = "second-token";
    values["token"] = secretUnavailable("it is down", { permanent: false });
    expect((await board.call("remote/echo", { text: "x" })).failure).toMatchObject({
      code: "SECRET_UNAVAILABLE",
    });
    values["token"] = "second-token";
    expect(textOf(await board.call("remote/echo", { text: "on" }))).toBe("on");
  });

  it("is not asked twice with one that is written in the configuration", async () => {
    const server = await serve({ auth: { token: "other" } });
    await open({ remote: { url: server.url, auth: { type: "bearer", token: "mine" } } });
    expect(server.requests.filter(({ method }) => method === "POST")).toHaveLength(1);
  });
});

describe("providers of the program", () => {
  it("are closed with the board, also if nobody has asked them", async () => {
    const used = myProvider({ token: "hunter2-hunter2" });
    const unused = myProvider({});
    const env = { TOKEN: "secret://my/token" };
    for (const [{ provider }, config] of [
      [used, { ...fixture("echo"), env }],
      [unused, fixture("echo")],
    ] as const) {
      const board = await openBoard({ servers: { it: config } }, { secretProviders: [provider] });
      await board.close();
    }
    expect([used.asked, used.closed()]).toEqual([["token"], 1]);
    expect([unused.asked, unused.closed()]).toEqual([[], 1]);
  });

  it("must be there for every reference", async () => {
    const config = { servers: { it: { command: "x", env: { A: "secret://mien/x" } } } };
    const options: BoardOptions = { secretProviders: [myProvider({}).provider] };
    const error = await failureOf(openBoard(config, options));
    expect(error).toMatchObject({ code: "CONFIG_INVALID" });
    expect(error.message).toContain(
      'servers.it.env.A  names the unknown secret provider "mien"; expected env, file, exec, gcp, aws, vault, azure, op, keyring or my',
    );
  });
});

describe("a session", () => {
  it("has the configured server of its own with its secret, asked for once", async () => {
    const { provider, asked } = myProvider({ token: "hunter2-hunter2" });
    const board = await open(
      {
        shared: { ...fixture("echo"), env: { TOKEN: "secret://my/token" } },
        own: { ...fixture("echo"), env: { TOKEN: "secret://my/token" }, scope: "session" },
      },
      { secretProviders: [provider], onlyInSessions: true },
    );
    const session = await board.openSession({ cwd: process.cwd(), startupWait: 20_000 });
    const told = textOf(await session.call("own/env"));
    expect(told).toContain('"TOKEN":"[REDACTED]"');
    expect(asked).toEqual(["token"]);
  });

  it("brings no server that refers to a secret", async () => {
    const { provider, asked } = myProvider({ token: "hunter2-hunter2" });
    const board = await open({}, { secretProviders: [provider] });
    const error = await failureOf(
      board.openSession({
        cwd: process.cwd(),
        servers: { it: { command: "x", env: { A: "x ${secret://my/token}" } } },
      }),
    );
    expect(error.code).toBe("CONFIG_INVALID");
    expect(error.message).toContain(
      "servers.it.env.A  refers to a secret, which servers of a session do not get; expected the value itself",
    );
    expect(asked).toEqual([]);
  });
});

it("every value is redacted whatever it equals, also in logs", async () => {
  const logger = recordingLogger();
  const { provider } = myProvider({ user: "postgres", name: "servername" });
  const board = await open(
    {
      servername: {
        ...fixture("echo"),
        env: { PGUSER: "secret://my/user", DB_NAME: "secret://my/name" },
      },
    },
    { secretProviders: [provider], logger },
  );
  const outcome = await board.call("servername/echo", { text: "postgres on servername" });
  expect(textOf(outcome)).toBe("[REDACTED] on [REDACTED]");
  expect(statusOf(board, "servername").diagnostics).toEqual([]);
  expect(logger.lines.filter(({ level }) => level === "warn")).toEqual([]);
});
