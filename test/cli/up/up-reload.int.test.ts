// Edits of the configuration while `plugboard up` runs, with real servers and the official clients.

import { mkdirSync, readFileSync, renameSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client as NewClient, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as OldClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as OldTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ToolListChangedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { afterEach, expect, it } from "vitest";
import { placeOf } from "../../../src/core/config/find.ts";
import type { ServerConfig } from "../../../src/core/types/server-config.ts";
import { gatewayFile } from "../../../src/core/state/running-gateway.ts";
import { fixture } from "../../support/boards.ts";
import { eventually, isAlive } from "../../support/processes.ts";
import { useScratch } from "../harness.ts";

const scratch = useScratch();
const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

interface Config {
  servers: Record<string, ServerConfig>;
  settings?: object;
  list?: object[];
  root?: object;
}

/** Replaced as a whole, as editors do. */
function write(file: string, { servers, settings, list, root }: Config): void {
  const defaults = { ...settings, mcp: { servers } };
  const text = JSON.stringify({ agents: { defaults, ...(list && { list }) }, ...root });
  const path = join(scratch.directory, file);
  writeFileSync(`${path}.new`, text);
  renameSync(`${path}.new`, path);
}

async function up(argv: readonly string[] = []) {
  const running = await scratch.up(argv);
  const url = /http:\/\/[\d.]+:\d+/.exec(running.stderr.text)?.[0] ?? "";
  const requestInit = {
    headers: { authorization: `Bearer ${scratch.read("home/gateway/token").trim()}` },
  };
  return { ...running, url, requestInit };
}

interface Status {
  gateway: { unappliedEdit?: { kind: string; message: string } };
  servers: { name: string; pid?: number; state: { kind: string } }[];
}

async function status(...argv: string[]): Promise<Status> {
  return JSON.parse((await scratch.run([...argv, "status", "--json"])).stdout) as Status;
}

const HOME = "home/plugboard.json";

it("under load: unchanged servers keep their process, every call is answered, every client hears of the new list", async () => {
  mkdirSync(join(scratch.directory, "home"), { mode: 0o700 });
  write(HOME, {
    servers: { kept: fixture("echo"), other: fixture("echo"), gone: fixture("echo") },
  });
  const { url, requestInit } = await up();
  const endpoint = new URL(`${url}/mcp`);
  const heard = { old: 0, legacy: 0, modern: 0 };
  const old = new OldClient({ name: "old", version: "1" });
  old.setNotificationHandler(ToolListChangedNotificationSchema, () => void (heard.old += 1));
  await old.connect(new OldTransport(endpoint, { requestInit }));
  const [legacy, modern] = await Promise.all(
    (["legacy", "modern"] as const).map(async (era) => {
      const mode = era === "legacy" ? era : ({ pin: "2026-07-28" } as const);
      const client = new NewClient(
        { name: era, version: "2" },
        {
          versionNegotiation: { mode },
          listChanged: { tools: { onChanged: () => void (heard[era] += 1) } },
        },
      );
      await client.connect(new StreamableHTTPClientTransport(endpoint, { requestInit }));
      return client;
    }),
  );
  const clients = [old, legacy, modern].filter((each) => each !== undefined);
  closers.push(() => Promise.all(clients.map((client) => client.close())));
  const namesFor = async (client: (typeof clients)[number]): Promise<string[]> =>
    (await client.listTools()).tools.map(({ name }) => name);
  expect(await namesFor(old)).toContain("gone__echo");
  const before = (await status()).servers;
  const pidOf = (servers: Status["servers"], name: string): number =>
    servers.find((each) => each.name === name)?.pid ?? 0;

  // Each lane makes one call after another on a server that stays and on one that is replaced.
  const over = new AbortController();
  let sent = 0;
  const outcomes: string[] = [];
  const lane = async (client: (typeof clients)[number], name: string): Promise<void> => {
    while (!over.signal.aborted) {
      const text = String((sent += 1));
      const { content, isError } = await client.callTool({ name, arguments: { text } });
      const [first] = content as { text?: string }[];
      outcomes.push(isError ? "error" : first?.text === text ? "ok" : "mixed up");
    }
  };
  const kept = clients.map((client) => lane(client, "kept__echo"));
  const other = clients.map((client) => lane(client, "other__echo"));
  write(HOME, {
    servers: {
      kept: { ...fixture("echo"), timeout: 9000 },
      other: { ...fixture("echo"), env: { LANGUAGE: "en" } },
      fresh: fixture("list-changed"),
    },
    settings: { tools: { deny: ["kept/big"] } },
  });
  await eventually(() => Object.values(heard).every((count) => count > 0));
  for (const client of clients) {
    let names: string[] = [];
    while (!names.includes("fresh__swap")) names = await namesFor(client);
    expect(names).not.toContain("gone__echo");
    expect(names).not.toContain("kept__big");
  }
  over.abort();
  await Promise.all([...kept, ...other]);
  expect(outcomes).toHaveLength(sent);
  expect(outcomes).not.toContain("mixed up");
  const after = (await status()).servers;
  expect(after.map(({ name }) => name)).toEqual(["kept", "other", "fresh"]);
  expect(pidOf(after, "kept")).toBe(pidOf(before, "kept"));
  expect(pidOf(after, "other")).not.toBe(pidOf(before, "other"));
  await eventually(() => !isAlive(pidOf(before, "gone")));
});

it("an edit in a repository that would start something new waits for a person", async () => {
  const marker = join(scratch.directory, "it-ran");
  const evil = { command: process.execPath, args: ["-e", `fs.writeFileSync("${marker}", "")`] };
  const team = { id: "team", mcp: { servers: { evil } } };
  write("board.json", { servers: { echo: fixture("echo") }, list: [{ id: "team" }] });
  const config = ["--config", join(scratch.directory, "board.json")];
  const { stderr, url, requestInit, events } = await up(config);
  const ask = (agent: string): Promise<Response> =>
    fetch(`${url}/agents/${agent}/mcp`, {
      method: "POST",
      headers: { ...requestInit.headers, "content-type": "application/json" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list", params: {} }),
    });
  write("board.json", {
    servers: { echo: fixture("echo"), more: fixture("echo") },
    settings: { tools: { deny: ["echo/add"] } },
    list: [team],
  });
  await stderr.until("waits for you");
  expect(stderr.text).toMatch(/added: server more, server team\/evil/);
  const waiting = await status(...config);
  expect(waiting.gateway.unappliedEdit).toMatchObject({ kind: "waiting" });
  const states = async (): Promise<string[][]> =>
    (await status(...config)).servers.map(({ name, state }) => [name, state.kind]);
  const expected = [
    ["echo", "ready"],
    ["more", "untrusted"],
  ];
  await expect.poll(states).toEqual(expected);
  expect((await scratch.run([...config, "status"])).stdout).toContain("waits for you");
  // None of the servers starts, for an agent that is opened only now either, nor by a signal. The rules apply.
  events.emit("SIGHUP");
  const offered = JSON.stringify(await (await ask("team")).json());
  expect(offered).toContain("echo__echo");
  expect(offered).not.toMatch(/echo__add|more__|evil__/);

  // Without a terminal nobody can be asked.
  const refused = await scratch.run([...config, "reload"]);
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining("reload --yes")]);
  expect(refused.stderr).toContain(marker);
  expect(() => readFileSync(marker)).toThrow("ENOENT");
  const approved = await scratch.run([...config, "reload", "--yes"]);
  expect(approved.code).toBe(0);
  expect(approved.stdout).toMatch(/added: more, team\/more, team\/evil/);
  await eventually(() => isThere(marker));
  const done = await status(...config);
  expect(done.gateway.unappliedEdit).toBeUndefined();
  expect(done.servers.map(({ name }) => name)).toEqual(["echo", "more"]);

  // Agents come and go with their clients; what takes another start is named.
  write("board.json", {
    servers: { echo: fixture("echo"), more: fixture("echo") },
    root: { gateway: { approvalWait: 1000 } },
  });
  await stderr.until("removed: server team/evil");
  const again = await scratch.run([...config, "reload", "--yes", "--json"]);
  expect(JSON.parse(again.stdout)).toMatchObject({
    approved: true,
    report: { unchanged: ["echo", "more"] },
  });
  expect((await ask("team")).status).toBe(404);
  expect((await ask("default")).status).toBe(200);
  expect(stderr.text).toContain(
    "gateway.approvalWait will be used when the gateway is started again",
  );
});

it("an edit that is wrong keeps what runs, and says what is wrong; reload says it too", async () => {
  mkdirSync(join(scratch.directory, "home"), { mode: 0o700 });
  write(HOME, { servers: { echo: fixture("echo") } });
  const { stderr, events } = await up();
  let pid: number | undefined;
  while (pid === undefined) pid = (await status()).servers[0]?.pid;
  writeFileSync(
    join(scratch.directory, HOME),
    "{ agents: { defaults: { mcp: { servers: [] } } } }",
  );
  await stderr.until("is not applied");
  expect((await status()).gateway.unappliedEdit?.kind).toBe("invalid");
  const { code, stderr: said } = await scratch.run(["reload"]);
  expect([code, said]).toEqual([2, expect.stringContaining("servers")]);
  expect((await status()).servers).toMatchObject([{ name: "echo", pid }]);
  write(HOME, { servers: { echo: { ...fixture("echo"), toolTimeout: 5000 } } });
  await stderr.until("was reloaded; no server has changed");
  expect(await status()).toMatchObject({ servers: [{ pid }] });
  // The edit is taken back: the last thing that is said must not be that something is wrong.
  const good = readFileSync(join(scratch.directory, HOME));
  writeFileSync(join(scratch.directory, HOME), "{");
  await eventually(() => stderr.text.split("is not applied").length === 3);
  writeFileSync(join(scratch.directory, HOME), good);
  await eventually(() => stderr.text.split("no server has changed").length === 3);
  // Whoever asks is answered, also if there is nothing to do.
  events.emit("SIGHUP");
  await eventually(() => stderr.text.split("no server has changed").length === 4);

  // The note cannot be written, but the boards have the edit: it is applied, and nothing says otherwise.
  const file = placeOf(join(scratch.directory, HOME));
  const note = gatewayFile(join(scratch.directory, "home"), file, "json");
  renameSync(note, `${note}.kept`);
  mkdirSync(note);
  write(HOME, { servers: { echo: fixture("echo"), more: fixture("echo") } });
  await eventually(() => /was reloaded; added: more|EISDIR/.test(stderr.text));
  rmdirSync(note);
  renameSync(`${note}.kept`, note);
  expect(stderr.text).toContain(
    "the gateway's record, by which other commands find it, could not be written",
  );
  await stderr.until("was reloaded; added: more");
  const applied = await status();
  expect(applied.gateway.unappliedEdit).toBeUndefined();
  expect(applied.servers.map(({ name }) => name)).toEqual(["echo", "more"]);
  expect((await scratch.run(["reload"])).code).toBe(0);
});

function isThere(path: string): boolean {
  try {
    readFileSync(path);
    return true;
  } catch {
    return false;
  }
}
