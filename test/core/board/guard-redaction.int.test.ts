// Secrets that servers are started with: nowhere to be seen, whatever a server does with them.

import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import type { BoardConfig } from "../../../src/core/types/agent-config.ts";
import type { BoardOptions } from "../../../src/core/types/board-options.ts";
import { agree, protect } from "../auth/support.ts";
import { closeAll, serve } from "../../fixtures/http/client.ts";
import { closeBoards, fixture, openWith, statusOf, textOf } from "../../support/boards.ts";
import { recordingLogger } from "../../support/logger.ts";
import { execute } from "../guard/boards.ts";
import { temporaryDirectory } from "../../support/directory.ts";

closeBoards();
afterEach(closeAll);

const TOKEN = "tök/en+with?odd &chars-7f3a";
const MARK = "[REDACTED]";
const env = { ...process.env, SOME_TOKEN: TOKEN };
const FORMS: [string, string][] = [
  ["as it is", TOKEN],
  ["base64", Buffer.from(TOKEN).toString("base64")],
  ["base64 with a name before it", Buffer.from(`user:${TOKEN}`).toString("base64")],
  ["base64url", Buffer.from(TOKEN).toString("base64url")],
  ["percent-encoded", encodeURIComponent(TOKEN)],
  ["as in a form", new URLSearchParams({ t: TOKEN }).toString().slice(2)],
  ["hex", Buffer.from(TOKEN).toString("hex")],
  ["JSON in JSON", JSON.stringify(JSON.stringify(TOKEN)).slice(3, -3)],
];
/** Forms that an echo changes on the way, or that hold more than the token. */
const HIDDEN_FORMS: [string, string][] = [
  ["with a zero-width character inside", `${TOKEN.slice(0, 5)}\u200b${TOKEN.slice(5)}`],
  ["with an escape inside", `${TOKEN.slice(0, 5)}\u001b[0m${TOKEN.slice(5)}`],
  [
    "percent-encoded in full",
    Array.from(Buffer.from(TOKEN), (byte) => `%${byte.toString(16)}`).join(""),
  ],
  ["escaped for HTML", TOKEN.replace("&", "&amp;")],
  ["base64 in lines", Buffer.from(TOKEN).toString("base64").replace(/.{16}/g, "$&\n")],
];

const hostile: BoardConfig = {
  servers: { docs: { ...fixture("hostile-words"), env: { API_TOKEN: "${SOME_TOKEN}" } } },
};
const echo: BoardConfig = {
  servers: {
    echo: { ...fixture("echo"), env: { API_TOKEN: "${SOME_TOKEN}", MY_HOME: "${HOME}" } },
  },
};

/** Everything a board says, whoever listens. */
async function overheard(config: BoardConfig, options: BoardOptions = {}) {
  const logger = recordingLogger();
  const heard: unknown[] = [];
  const board = await openWith(config, { env, logger, ...options });
  for (const event of ["server", "call", "tools"] as const)
    board.on(event, (each) => heard.push(each));
  const all = (): string =>
    JSON.stringify({ heard, log: logger.lines, status: board.status(), tools: board.tools() });
  return { board, all };
}

function expectHidden(text: string): void {
  for (const [form, value] of FORMS) expect(text.includes(value), form).toBe(false);
}

describe("a password that is an ordinary word", () => {
  const url = "postgres://postgres:postgres@localhost/postgres";
  const { command, args = [] } = fixture("echo");
  const config: BoardConfig = { servers: { postgres: { command, args: [...args, url] } } };

  it("is hidden where it is configured, and nowhere else", async () => {
    const { board } = await overheard(config);
    const text = "the postgres row of postgres.public";
    expect(textOf(await board.call("postgres/echo", { text }))).toBe(text);
    const status = statusOf(board, "postgres");
    expect(status).toMatchObject({ name: "postgres", tools: 11, state: { kind: "ready" } });
    expect(status.target).toMatch(/postgres:\/\/postgres:\[REDACTED\]@localhost\/postgres$/);
    const [mine] = board.tools();
    expect(mine?.source).toMatchObject({ server: "postgres" });
    // A server that repeats its configuration does not give it away either.
    expect(textOf(await board.call("postgres/echo", { text: `cannot reach ${url}` }))).toBe(
      "cannot reach postgres://postgres[REDACTED]localhost/postgres",
    );
  });

  it("is warned of once, and in the status", async () => {
    const logger = recordingLogger();
    const { board } = await overheard(config, { logger });
    await board.call("postgres/echo", { text: "x" });
    const message =
      "the credential in args is too short or too common to protect: results that contain it are not redacted";
    expect(logger.lines.filter((line) => line.message === message)).toEqual([
      { level: "warn", message, fields: { server: "postgres" } },
    ]);
    expect(statusOf(board, "postgres").diagnostics).toEqual([{ server: "postgres", message }]);
  });
});

describe("a token from a variable", () => {
  it("is not in what the server answers, and HOME is", async () => {
    const { board } = await overheard(echo);
    const seen = JSON.parse(textOf(await board.call("echo/env"))) as Record<string, string>;
    expect(seen["API_TOKEN"]).toBe(MARK);
    expect(seen["MY_HOME"]).toBe(process.env["HOME"]);
    expect(seen["HOME"]).toBe(process.env["HOME"]);
    expect(textOf(await execute(board, "mcp__echo__env"))).toContain(`"API_TOKEN":"${MARK}"`);
  });

  it.each(FORMS)("is found in every form: %s", async (_, value) => {
    const { board, all } = await overheard(echo);
    const outcome = await board.call("echo/echo", { text: `<${value}>` });
    expect(textOf(outcome)).toMatch(/^<[A-Za-z0-9+/]{0,8}\[REDACTED\][=A-Za-z0-9]{0,2}>$/);
    const result = await execute(board, "mcp__echo__echo", { text: value });
    expectHidden(JSON.stringify([outcome, result, all()]));
  });

  it.each(HIDDEN_FORMS)("is found however it is hidden: %s", async (_, value) => {
    const { board, all } = await overheard(echo);
    const outcome = await board.call("echo/echo", { text: `<${value}>` });
    expect(textOf(outcome)).toBe(`<${MARK}>`);
    const result = await execute(board, "mcp__echo__echo", { text: value });
    expect(textOf(result)).toContain(MARK);
    expect(JSON.stringify([outcome, result, all()])).not.toContain(
      JSON.stringify(value).slice(1, -1),
    );
  });

  it("is not in stderr, instructions, descriptions, status, events or the log", async () => {
    const { board, all } = await overheard(hostile);
    await board.restart("docs");
    expect(statusOf(board, "docs").stderr).toContain(`starting with ${MARK}`);
    expect(statusOf(board, "docs").identity?.instructions).toContain(MARK);
    expectHidden(all());
  });

  it("is not in an error, an update or structured content", async () => {
    const { board, all } = await overheard(hostile);
    const refused = await board.call("docs/refuse");
    expect(refused.failure?.message).toContain(`with ${MARK}`);
    const updates: unknown[] = [];
    const told = await board.call("docs/tell", {}, { onUpdate: (each) => updates.push(each) });
    expect(told).toMatchObject({ structuredContent: { token: MARK } });
    expect(updates).toMatchObject([
      { content: [{ text: `using ${MARK}` }], progress: { message: `using ${MARK}` } },
    ]);
    const shown = await execute(board, "mcp__docs__refuse");
    expectHidden(JSON.stringify([refused, told, updates, shown, all()]));
  });

  it.each([
    ["on stderr", fixture("stderr-then-exit", "--reason=${SOME_TOKEN}")],
    ["in its answer", fixture("wrong-version", "--version=${SOME_TOKEN}")],
  ])("is not in the reason why a server does not start: %s", async (_, bad) => {
    const { board, all } = await overheard({ servers: { bad: { ...bad, maxRestarts: 0 } } });
    const outcome = await board.call("bad/x");
    expect(outcome.failure?.message).toContain(MARK);
    expect(statusOf(board, "bad").state.kind).toBe("failed");
    const found = await board.find("bad/x").catch(String);
    const listed = await board.resources.list("bad").catch(String);
    expectHidden(JSON.stringify([outcome, found, listed, all()]));
  });

  it("is known before its server was ever started, for calls that are refused", async () => {
    const file = join(temporaryDirectory(), "audit.jsonl");
    const stateDir = temporaryDirectory();
    const { servers } = hostile;
    await (await overheard({ servers }, { stateDir })).board.close();
    const { board } = await overheard(
      { servers, audit: { file, arguments: true }, tools: { deny: ["docs/tell"] } },
      { stateDir, start: "none" },
    );
    for (const [, text] of FORMS) await board.call("docs/tell", { text });
    await board.close();
    const written = await readFile(file, "utf8");
    expect(written.match(/REFUSED_BY_POLICY/g)).toHaveLength(FORMS.length);
    expectHidden(written);
  });

  it("is in no file that a board keeps, the arguments of calls included", async () => {
    const stateDir = temporaryDirectory();
    const file = join(temporaryDirectory(), "audit.jsonl");
    const { docs } = hostile.servers;
    const { echo: talks } = echo.servers;
    const servers = { docs: docs ?? {}, echo: talks ?? {} };
    const audit = { file, arguments: true };
    const { board } = await overheard(
      { servers, audit, tools: { deny: ["docs/tell"] } },
      { stateDir },
    );
    for (const [, text] of FORMS) {
      await board.call("echo/echo", { text, nested: [{ [text]: text }] });
      await board.call("docs/tell", { text });
      await execute(board, "mcp__echo__echo", { text });
    }
    await board.close();
    const written = await readFile(file, "utf8");
    expect(written.match(/"arguments":\{"text":"[^"]*\[REDACTED\]/g)).toHaveLength(
      // Two of the three are sent, so there is a line about their start too.
      5 * FORMS.length,
    );
    expectHidden(written);
    expectHidden(await everythingIn(stateDir));
  });
});

describe("a token in what a server lists", () => {
  const servers = {
    docs: { ...fixture("tells-token"), env: { API_TOKEN: "${SOME_TOKEN}" } },
    echo: fixture("echo"),
  };
  /** Without the neighbour's own tools. */
  const names = (board: { tools(): { name: string }[] }): string[] =>
    board.tools().flatMap(({ name }) => (name.startsWith("mcp__docs__") ? name : []));

  it("reaches nobody and no file; a tool that depends on it is left out, its neighbours stay", async () => {
    const stateDir = temporaryDirectory();
    const { board, all } = await overheard({ servers }, { stateDir });
    const listed = [
      await board.resources.list(),
      await board.resources.templates(),
      await board.prompts.list(),
    ];
    expect(names(board)).toEqual(["mcp__docs__ok"]);
    const [ok] = board.tools();
    expect(ok).toMatchObject({
      description: `[docs] Uses ${MARK}`,
      parameters: {
        properties: {
          path: { type: "string", examples: [MARK], description: `Not ${MARK}` },
          mode: { enum: ["a", "b"], default: "a", title: MARK, "x-note": { [MARK]: MARK } },
        },
      },
      annotations: { title: MARK, readOnlyHint: true, [MARK]: MARK },
      outputSchema: { type: "object", $comment: MARK },
      _meta: { [MARK]: [MARK] },
    });
    expect(ok?.parameters).not.toHaveProperty("properties.path.default");
    expect(textOf(await board.call("docs/ok", { path: "x", mode: "b" }))).toContain('"mode":"b"');
    expect(textOf(await board.call("echo/echo", { text: "hello" }))).toBe("hello");
    expect(listed).toMatchObject([
      [
        { uri: `note:///${MARK}`, name: MARK, description: MARK },
        { uri: "note:///plain", name: MARK, mimeType: `text/${MARK}`, annotations: { a: MARK } },
      ],
      [{ uriTemplate: `note:///${MARK}/{id}`, name: MARK }],
      [{ name: "greet", title: MARK, description: MARK, arguments: [{ description: MARK }] }],
    ]);
    const { diagnostics, identity } = statusOf(board, "docs");
    expect(diagnostics).toEqual(
      expect.arrayContaining(
        [
          { subject: `use-${MARK}`, message: "tool left out: its name has a credential in it" },
          {
            subject: "in-property",
            message: "tool left out: its inputSchema has a credential in the name of a property",
          },
          {
            subject: "in-enum",
            message: 'tool left out: its inputSchema has a credential in "enum"',
          },
          {
            subject: `greet-${MARK}`,
            message: "prompt left out: its name has a credential in it",
          },
        ].map((each) => ({ server: "docs", ...each, kind: "left-out" })),
      ),
    );
    expect(identity).toMatchObject({ name: `server of ${MARK}`, instructions: `Use ${MARK}.` });
    expect(identity?.version).toBe(`${"x".repeat(45)}[RED…`);
    const missed = await board.resources.read(`note:///${MARK}s`).catch((error: unknown) => error);
    expectHidden(`${JSON.stringify([listed, missed])}${String(missed)}${all()}`);
    await board.close();
    expectHidden(await everythingIn(stateDir));
  });

  it("is not in a list from the cache either, if it became known as a secret later", async () => {
    const stateDir = temporaryDirectory();
    // Started like this, the server has the token from a variable that is not named like a credential.
    const plain = { docs: { ...fixture("tells-token"), env: { API_TOKEN: "${SOME_TOKEN}" } } };
    const first = await openWith(
      { servers: plain },
      { env: { ...env, SOME_TOKEN: "before-it" }, stateDir },
    );
    await first.close();
    const cache = join(stateDir, "catalog");
    const [file = ""] = await readdir(cache);
    const text = await readFile(join(cache, file), "utf8");
    const leaky = text.replaceAll(MARK, JSON.stringify(TOKEN).slice(1, -1));
    await writeFile(join(cache, file), leaky);
    const { board, all } = await overheard({ servers: plain }, { stateDir, start: "none" });
    expect(names(board)).toEqual(["mcp__docs__ok"]);
    expect(board.tools()[0]?.annotations).toMatchObject({ title: MARK, [MARK]: MARK });
    expectHidden(all());
  });
});

describe("a token in a header", () => {
  it("is sent, and is not in what comes back", async () => {
    const server = await serve({ auth: { token: TOKEN.replace("ö", "o") } });
    const secret = TOKEN.replace("ö", "o");
    const servers = {
      remote: {
        url: server.url,
        headers: { Authorization: "Bearer ${SOME_TOKEN}", "User-Agent": "red-team" },
      },
    };
    const { board, all } = await overheard({ servers }, { env: { SOME_TOKEN: secret } });
    const outcome = await board.call("remote/echo", { text: `red-team ${secret} ${btoa(secret)}` });
    expect(textOf(outcome)).toBe(`red-team ${MARK} ${MARK}`);
    expect(all()).not.toContain(secret);
    expect(all()).not.toContain(btoa(secret));
  });
});

describe("a token from signing in", () => {
  it("is in no log, event, status or result", async () => {
    const oauth = await protect();
    const { board, all } = await overheard(
      { servers: { docs: { url: oauth.url } } },
      { onAuthorization: agree(oauth), stateDir: temporaryDirectory() },
    );
    await board.call("docs/echo", { text: "x" });
    oauth.expireTokens();
    await board.call("docs/echo", { text: "x" });
    const issued = oauth.tokens.map(({ token }) => token);
    expect(issued.length).toBeGreaterThanOrEqual(4);
    for (const token of issued) {
      const outcome = await board.call("docs/echo", { text: `it is ${token}` });
      expect(textOf(outcome)).toBe(`it is ${MARK}`);
      expect(all()).not.toContain(token);
    }
  });
});

async function everythingIn(root: string): Promise<string> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const texts = await Promise.all(
    files.map((entry) => readFile(join(entry.parentPath, entry.name), "utf8")),
  );
  expect(texts.length).toBeGreaterThan(0);
  return texts.join("\n");
}
