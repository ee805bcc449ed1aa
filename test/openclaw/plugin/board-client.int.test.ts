// How the plugin reads from the board, over HTTP and from a process.

import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { BoardClient, type BoardProblem } from "../../../src/openclaw/plugin/board-client.ts";
import type { Connection } from "../../../src/openclaw/plugin/settings.ts";
import { closeServed, serve } from "../../serve/endpoint/harness.ts";
import { closeBoards, fixture, open } from "../../support/boards.ts";
import { eventually, isAlive } from "../../support/processes.ts";

closeBoards();
closeServed();

const SOON = { timeoutMs: 20_000 };
const closers: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

function clientOf(connection: Connection, now?: () => number): BoardClient {
  const client = new BoardClient({ connection: () => connection, ...(now && { now }) });
  closers.push(() => client.close());
  return client;
}

const at = (url: string, headers = {}): Connection => ({ kind: "http", url, headers });

/** A process that does this with every line that it reads. */
function program(script: string): Connection {
  const args = ["-e", script];
  return { kind: "stdio", command: process.execPath, args, env: {}, cwd: undefined };
}

/** Answers each request with its own pid and the number of the answer. */
const ANSWERS = `
  let count = 0;
  require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
    const { id } = JSON.parse(line);
    console.log("not JSON");
    const contents = [{ uri: "x", text: process.pid + " " + ++count }];
    console.log(JSON.stringify({ jsonrpc: "2.0", id, result: { contents } }));
  });`;

async function problemOf(reading: Promise<string>): Promise<BoardProblem> {
  const problem = await reading.then(
    (text) => expect.unreachable(`it was read: ${text}`),
    (error: unknown) => error as BoardProblem,
  );
  return problem;
}

async function web(answer: (response: ServerResponse, body: string) => void): Promise<string> {
  const server: Server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (chunk) => (body += chunk));
    request.on("end", () => answer(response, body));
  });
  closers.push(() => server.close());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
}

describe("at a URL", () => {
  it("reads what the board says about itself", async () => {
    const board = await open({ lib: fixture("library") });
    const { url } = await serve(board);
    const client = clientOf(at(url.href));
    const context = await client.read("plugboard://context?maxBytes=4000", SOON);
    expect(context).toContain("Welcome to the library.");
    const { servers } = JSON.parse(await client.read("plugboard://status", SOON));
    expect(servers).toMatchObject([{ name: "lib", state: { kind: "ready" } }]);
    const problem = await problemOf(client.read("plugboard://context?x", SOON));
    expect(problem).toMatchObject({ message: /plugboard answers: .*is not known/i });
    expect(problem.remedy).toMatch(/as new as the plugin/);
  });

  it("reads an answer that comes as a stream of events", async () => {
    const url = await web((response, body) => {
      const { id } = JSON.parse(body);
      const message = {
        jsonrpc: "2.0",
        id,
        result: { contents: [{ uri: "x", text: "streamed" }] },
      };
      response.setHeader("content-type", "text/event-stream");
      response.end(
        `event: message\ndata: {"jsonrpc":"2.0","method":"x"}\n\ndata: ${JSON.stringify(message)}\n\n`,
      );
    });
    expect(await clientOf(at(url)).read("plugboard://status", SOON)).toBe("streamed");
  });

  const faults: [string, (response: ServerResponse) => void, RegExp, RegExp][] = [
    [
      "a wrong token",
      (response) => response.writeHead(401).end(),
      /refuses the token \(401\)/,
      /headers\.Authorization/,
    ],
    [
      "something that is no MCP",
      (response) => response.end("<html>"),
      /status 200 and no MCP message/,
      /with \/mcp at its end/,
    ],
    [
      "a redirect, which would get the token",
      (response) => response.writeHead(302, { location: "http://127.0.0.1:9/" }).end(),
      /cannot be reached/,
      /correct the URL/,
    ],
    [
      "too much",
      (response) => response.end("x".repeat(2_000_000)),
      /larger than 1 MiB/,
      /whether the server is Plugboard/,
    ],
  ];
  it.each(faults)("%s is a problem, with what to do", async (_, answer, message, remedy) => {
    const url = await web(answer);
    const problem = await problemOf(
      clientOf(at(url, { Authorization: "Bearer t" })).read("plugboard://status", SOON),
    );
    expect(problem.message).toMatch(message);
    expect(problem.remedy).toMatch(remedy);
  });

  it("a gateway that is down is a problem, and is not asked again at once", async () => {
    let asked = 0;
    let now = 0;
    const url = await web((response) => {
      asked += 1;
      response.writeHead(401).end();
    });
    const client = clientOf(at(url), () => now);
    await problemOf(client.read("plugboard://status", SOON));
    await problemOf(client.read("plugboard://status", SOON));
    expect(asked).toBe(1);
    await problemOf(client.read("plugboard://status", { ...SOON, again: true }));
    now = 10_001;
    await problemOf(client.read("plugboard://status", SOON));
    expect(asked).toBe(3);
    const gone = await problemOf(
      clientOf(at("http://127.0.0.1:9/mcp")).read("plugboard://status", SOON),
    );
    expect(gone.message).toMatch(/127\.0\.0\.1:9 cannot be reached/);
    expect(gone.remedy).toMatch(/plugboard up/);
  });
});

describe("from a process", () => {
  it("starts it once, and ends it", async () => {
    const client = clientOf(program(ANSWERS));
    const both = await Promise.all([client.read("a", SOON), client.read("b", SOON)]);
    const [pid] = (both[0] ?? "").split(" ").map(Number);
    expect(both.toSorted()).toEqual([`${pid} 1`, `${pid} 2`]);
    await client.close();
    expect(isAlive(pid!)).toBe(false);
  });

  it("starts another one after it has died", async () => {
    const client = clientOf(program(ANSWERS));
    const [first] = (await client.read("a", SOON)).split(" ").map(Number);
    process.kill(first!, "SIGKILL");
    await eventually(() => !isAlive(first!));
    const [second] = (await retried(() => client.read("b", { ...SOON, again: true }))).split(" ");
    expect(Number(second)).not.toBe(first);
  });

  it("gives it little of the environment, as OpenClaw does", async () => {
    const script = ANSWERS.replace("process.pid", "Object.keys(process.env).sort().join()");
    const connection = { ...program(script), env: { GIVEN: "1" } } as Connection;
    const client = new BoardClient({
      connection: () => connection,
      env: { PATH: process.env["PATH"], HOME: "/h", SECRET: "s" },
    });
    closers.push(() => client.close());
    expect(await client.read("a", SOON)).toBe("GIVEN,HOME,PATH 1");
  });

  const faults: [string, Connection, number, RegExp, RegExp][] = [
    [
      "a command that is not there",
      { ...(program("") as object), command: "no-such-program" } as Connection,
      20_000,
      /cannot be started \(ENOENT\)/,
      /npm install -g plugboard/,
    ],
    [
      "one that ends",
      program('console.error("first"); console.error("no configuration"); process.exit(3)'),
      20_000,
      /has ended \(3\): no configuration$/,
      /run it in a terminal/,
    ],
    [
      "one that says nothing",
      program(
        "setInterval(() => {}, 1000); process.stdin.resume().on('end', () => process.exit())",
      ),
      200,
      /has not answered within 0\.2 s/,
      /plugboard status/,
    ],
    [
      "one that writes without end",
      program(
        'process.stdout.on("error", () => process.exit()); setInterval(() => process.stdout.write("x".repeat(1e6)), 1)',
      ),
      20_000,
      /has ended/,
      /run it/,
    ],
    [
      "none",
      { kind: "none", why: "it is disabled", remedy: "enable it" },
      20_000,
      /^it is disabled$/,
      /^enable it$/,
    ],
  ];
  it.each(faults)(
    "%s is a problem, with what to do",
    async (_, connection, timeoutMs, message, remedy) => {
      const problem = await problemOf(
        clientOf(connection).read("plugboard://status", { timeoutMs }),
      );
      expect(problem.message).toMatch(message);
      expect(problem.remedy).toMatch(remedy);
    },
  );
});

/** The client hears of the end of a process a moment after the process has gone. */
async function retried(read: () => Promise<string>): Promise<string> {
  return read().catch(read);
}
