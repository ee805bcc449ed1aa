// `plugboard up --only`: one worker runs a program, and two gateways with the same configuration reach it.

import { join } from "node:path";
import { readFileSync } from "node:fs";
import { afterEach, expect, it, vi } from "vitest";
import { legacy, post } from "../../serve/endpoint/harness.ts";
import { fixture } from "../../support/boards.ts";
import { freePorts } from "../../support/free-ports.ts";
import { Sink, useScratch } from "../harness.ts";

const scratch = useScratch();
const running: (() => Promise<{ code: number }>)[] = [];
afterEach(async () => {
  for (const stop of running.splice(0)) await stop();
});

const TOKEN = "w".repeat(40);
const SOON = { timeout: 20_000, interval: 50 };

const on = (machine: string) => ({
  env: {
    PLUGBOARD_CONFIG: join(scratch.directory, "board.json"),
    PLUGBOARD_HOME: join(scratch.directory, machine),
    WORKER_TOKEN: TOKEN,
  },
});

async function start(machine: string, ...argv: string[]) {
  const stderr = new Sink();
  const { done, events } = scratch.start(["up", ...argv], { stderr, ...on(machine) });
  await stderr.until("/mcp.");
  const stop = async (): Promise<{ code: number }> => {
    events.emit("SIGTERM");
    return done;
  };
  running.push(stop);
  const url = new URL(/http:\S+\/mcp/.exec(stderr.text)?.[0] ?? "");
  return { stderr, url, stop };
}

async function called(url: URL, token: string, name: string): Promise<string> {
  const params = { name, arguments: { text: "hi", a: 1, b: 2 } };
  const { message, status } = await post(url, legacy("tools/call", params), {
    authorization: `Bearer ${token}`,
  });
  return message?.["result"]?.content[0].text ?? message?.["error"]?.message ?? `HTTP ${status}`;
}

it("two gateways use the one process of a worker, which asks nobody itself", async () => {
  const [port = 0] = await freePorts(1);
  scratch.configure({
    docs: {
      ...fixture("echo"),
      // It would be asked twice if the worker did so too.
      approval: { tools: { add: "ask" } },
      rateLimit: { tools: { echo: 1 } },
      toolPrefix: "papers",
      worker: { url: `http://127.0.0.1:${port}/mcp`, token: "secret://env/WORKER_TOKEN" },
    },
    files: fixture("echo"),
  });
  // On the machine of a gateway with the same configuration, beside it.
  const worker = await start("one", "--only", "docs", "--port", String(port));
  expect(worker.stderr.text).toContain("The worker of docs listens on");
  const gateways = [await start("one", "--port", "0"), await start("two", "--port", "0")] as const;
  const tokenOf = (machine: string): string =>
    readFileSync(join(scratch.directory, machine, "gateway", "token"), "utf8").trim();
  const tokens = [tokenOf("one"), tokenOf("two")] as const;
  const via = (at: 0 | 1, name: string): Promise<string> =>
    called(gateways[at].url, tokens[at], name);

  const pid = await called(worker.url, TOKEN, "pid");
  expect(pid).toMatch(/^\d+$/);
  expect(await via(0, "papers__pid")).toBe(pid);
  expect(await via(1, "papers__pid")).toBe(pid);
  // A server without a worker runs in each.
  expect(await via(0, "files__pid")).not.toBe(await via(1, "files__pid"));

  expect(await called(worker.url, tokens[0], "pid")).toContain("this token is not valid");
  expect(await called(worker.url, TOKEN, "files__pid")).toContain("there is no tool");
  // It has no people.
  for (const path of ["/", "/ui/", "/ui/api/way-in"]) {
    expect((await fetch(new URL(path, worker.url), { redirect: "manual" })).status).toBe(404);
  }

  const waiting = via(0, "papers__add");
  await gateways[0].stderr.until("plugboard approvals allow");
  const { waiting: asked } = JSON.parse(
    (await scratch.run(["approvals", "--json"], on("one"))).stdout,
  );
  expect(asked).toHaveLength(1);
  await scratch.run(["approvals", "allow", asked[0].id], on("one"));
  expect(await waiting).toBe("3");
  expect(await via(0, "papers__echo")).toBe("hi");
  expect(await via(0, "papers__echo")).toContain("too many calls");

  const wrong = { env: { ...on("four").env, WORKER_TOKEN: "v".repeat(40) } };
  const { stdout: examined } = await scratch.run(["doctor", "docs", "--json"], wrong);
  expect(examined).toContain('check the value in \\"worker.token\\": it may be wrong');

  // A new worker, as after a crash of its machine.
  expect((await worker.stop()).code).toBe(0);
  const { stdout: without } = await scratch.run(["doctor", "docs"], on("four"));
  expect(without).toMatch(
    /refused the connection.*\n.*plugboard up --only docs runs it, on the machine of worker\.url/,
  );
  const next = await start("three", "--only", "docs", "--port", String(port));
  const other = await called(next.url, TOKEN, "pid");
  expect(other).not.toBe(pid);
  await vi.waitFor(async () => expect(await via(1, "papers__pid")).toBe(other), SOON);
});

it("a worker takes more than one caller may send: its gateways have given each their share", async () => {
  const [port = 0] = await freePorts(1);
  const worker = { url: `http://127.0.0.1:${port}/mcp`, token: "secret://env/WORKER_TOKEN" };
  scratch.configure({ docs: { ...fixture("echo"), worker } });
  const { url } = await start("one", "--only", "docs", "--port", String(port));
  const text = "x".repeat(15 * 1024 * 1024);
  const params = { name: "sleep", arguments: { ms: 3000, text } };
  const authorization = `Bearer ${TOKEN}`;
  // 75 MiB; one caller of a gateway has 64.
  const answers = await Promise.all(
    Array.from({ length: 5 }, () => post(url, legacy("tools/call", params), { authorization })),
  );
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
});

it.each([
  ["unknown", "has no server 'unknown'"],
  ["plain", `the server 'plain' has no "worker"`],
  ["short", "expected at least 32 characters"],
])("a worker of the server %s does not start, and says why", async (server, why) => {
  const worker = { url: "http://127.0.0.1:1/mcp", token: "short" };
  scratch.configure({ plain: fixture("echo"), short: { ...fixture("echo"), worker } });
  const { code, stderr } = await scratch.run(["up", "--only", server], on("one"));
  expect(code).not.toBe(0);
  expect(stderr).toContain(why);
});
