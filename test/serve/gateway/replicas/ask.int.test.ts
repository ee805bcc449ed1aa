// What is asked of an address that the shared state lists, whoever answers there.

import { createSecretKey } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { once } from "node:events";
import { describe, expect, it, onTestFinished } from "vitest";
import { askReadiness, askStatus } from "../../../../src/serve/gateway/replicas/ask.ts";
import { FORWARD_HEADER, Signatures } from "../../../../src/serve/gateway/replicas/signature.ts";
import { ManualClock } from "../../../support/manual-clock.ts";

type Answer = (request: IncomingMessage, reply: ServerResponse) => void;

const clock = new ManualClock();
const asking = { clock, signal: new AbortController().signal };
const sealKey = { id: 1, key: createSecretKey(Buffer.alloc(32, 7)) };
const signing = {
  keys: { current: sealKey, find: () => sealKey },
  clock,
  random: (bytes: number): Buffer => Buffer.alloc(bytes, 1),
};
const signatures = new Signatures({ ...signing, url: undefined });

async function listening(answer: Answer): Promise<string> {
  const server = createServer(answer).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const says =
  (status: number, text: string, headers: Record<string, string> = {}): Answer =>
  (_request, reply) =>
    void reply.writeHead(status, headers).end(text);

describe("whether a gateway is ready", () => {
  it.each([
    ["ready", says(200, "ready\nconfiguration 0123456789ab\n"), { state: "ready" }],
    ["degraded", says(200, "ready, degraded\n"), { state: "degraded" }],
    ["stopping", says(503, "stopping\n"), { state: "stopping" }],
    [
      "not known, of another program",
      says(200, "<html>"),
      { state: "unknown", reason: "it answers with HTTP 200, and not as a gateway" },
    ],
    [
      "not known, of one that sends elsewhere",
      says(302, "ready", { location: "/healthz" }),
      { state: "unknown", reason: "it answers with HTTP 302, and not as a gateway" },
    ],
    [
      "not known, if the answer breaks off",
      (_request: IncomingMessage, reply: ServerResponse) => {
        reply.write("ready\n", () => reply.destroy());
      },
      { state: "unknown", reason: "aborted" },
    ],
  ])("is %s", async (_name, answer, expected) => {
    expect(await askReadiness(await listening(answer), asking)).toEqual(expected);
  });

  it("is not waited for longer than 3 seconds", async () => {
    let isAsked = (): void => {};
    const asked = new Promise<void>((resolve) => {
      isAsked = resolve;
    });
    const readiness = askReadiness(await listening(() => isAsked()), asking);
    await asked;
    await clock.advance(3000);
    expect(await readiness).toEqual({ state: "unknown", reason: "it takes too long" });
  });
});

describe("the status of a gateway", () => {
  it("is asked for without a token, by a signature for its owner that is good at that address alone", async () => {
    let seen: IncomingMessage | undefined;
    const url = await listening((request, reply) => {
      seen = request;
      reply.end('{"pid":1,"lines":["\\u001b[2Jdark\\nnext"]}');
    });
    expect(await askStatus(url, signatures, asking)).toEqual({ pid: 1, lines: ["dark\nnext"] });
    const { method = "", url: path = "", headers = {} } = seen ?? {};
    expect(Object.keys(headers).toSorted()).toEqual(["connection", "host", FORWARD_HEADER]);
    const header = String(headers[FORWARD_HEADER]);
    const judged = (at: string): unknown =>
      new Signatures({ ...signing, url: at }).verify(header, { method, path, headers });
    expect(judged(url)).toMatchObject({ kind: "signed", by: { caller: { id: "token:default" } } });
    expect(judged("http://127.0.0.1:1")).toEqual({
      kind: "refused",
      why: "it is for another gateway",
    });
  });

  it.each([
    [
      "a gateway that does not believe it",
      says(403, "no", { [FORWARD_HEADER]: "its key is not known here" }),
      "it answers with HTTP 403: its key is not known here",
    ],
    [
      "one whose default token was revoked, or of an earlier version",
      says(401, "this token is not valid"),
      "it answers with HTTP 401: this token is not valid",
    ],
    ["what is no JSON", says(200, "<html>"), "not valid JSON"],
    ["what has no end", says(200, "x".repeat(33 * 1024 * 1024)), "its answer is too large"],
    ["JSON without a bottom", says(200, "[".repeat(1e6) + "]".repeat(1e6)), "call stack"],
  ])("is not had from %s", async (_name, answer, why) => {
    await expect(askStatus(await listening(answer), signatures, asking)).rejects.toThrow(why);
  });
});
